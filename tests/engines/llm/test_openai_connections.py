"""What happens on the way to a server: broken, open and moved connections, keys, certificates."""

import gzip
import json
import re
import shutil
import socketserver
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from crag.core.deadline import Deadline
from crag.engines.llm import (
    EngineUnavailableError,
    GenerationRequest,
    LanguageModelDiedError,
    Message,
    describe_served_model,
)
from crag.engines.llm.openai_engine import OpenAILanguageModel
from crag.settings import OpenAIEngine

ASKED = GenerationRequest(messages=(Message("user", "Who?"),), max_tokens=20)
REPLY = json.dumps({"choices": [{"message": {"content": "Ida Larsen"}}]}).encode()
JSON_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
STREAM_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
EVENTS = b'data: {"choices": [{"delta": {"content": "Ida Larsen"}}]}\n\ndata: [DONE]\n\n'
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def model_at(url: str, **changes: Any) -> OpenAILanguageModel:
    settings = {"model": "m", "base_url_variable": "CRAG_TEST_URL", "api_key_variable": "CRAG_TEST_KEY", **changes}
    return OpenAILanguageModel(OpenAIEngine(engine="openai", base_url=url, **settings))


def read_request(handler: socketserver.StreamRequestHandler) -> bool:
    """Read one request to its end; False: the client has closed the connection."""
    length = 0
    line = handler.rfile.readline()
    if not line:
        return False
    while line.strip():
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
        line = handler.rfile.readline()
    handler.rfile.read(length)
    return True


@contextmanager
def serve_bytes(
    reply: bytes, *, stays_open: bool = False, is_single: bool = False, tls: ssl.SSLContext | None = None
) -> Iterator[str]:
    """A server that sends these bytes; `stays_open`: and then nothing more; `is_single`: with one thread."""
    is_over = threading.Event()

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            while read_request(self):
                self.wfile.write(reply)
                if stays_open:
                    is_over.wait()
                if not is_single:
                    return

    class Server(socketserver.TCPServer if is_single else socketserver.ThreadingTCPServer):  # type: ignore[misc]
        daemon_threads = True

        def get_request(self) -> Any:
            connection, address = super().get_request()
            return (tls.wrap_socket(connection, server_side=True) if tls else connection), address

    with Server(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        yield f"127.0.0.1:{server.server_address[1]}"
        is_over.set()
        server.shutdown()


def ask(url: str) -> str:
    """The answer or what is said in its place."""
    try:
        (generation,) = model_at(url).generate([ASKED], Deadline(600))
    except LanguageModelDiedError as died:
        return str(died)
    return generation.error or generation.text


@pytest.mark.parametrize(
    "reply",
    [
        JSON_HEAD + CHUNKED + chunk(REPLY),  # without the last chunk
        JSON_HEAD + b"Content-Length: %d\r\n\r\n" % (len(REPLY) + 5) + REPLY,
        STREAM_HEAD + CHUNKED + chunk(EVENTS),
        b"HTTP/1.0 200 OK\r\n\r\n" + REPLY,
        b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + JSON_HEAD + b"\r\n" + REPLY,
        JSON_HEAD + b"X-Name: Zo\xeb\r\n\r\n\xef\xbb\xbf" + REPLY,
    ],
)
def test_a_whole_reply_is_used_however_the_connection_ends(reply: bytes) -> None:
    with serve_bytes(reply) as host:
        assert ask(f"http://{host}/v1") == "Ida Larsen"


@pytest.mark.parametrize("head", [STREAM_HEAD + b"\r\n" + EVENTS, STREAM_HEAD + CHUNKED + chunk(EVENTS)])
def test_an_event_stream_ends_with_its_last_event_though_the_connection_stays_open(head: bytes) -> None:
    with serve_bytes(head, stays_open=True) as host:
        assert ask(f"http://{host}/v1") == "Ida Larsen"


ENDED = json.dumps({"choices": [{"message": {"content": "Ida Larsen"}, "finish_reason": "stop"}]}).encode()
BROKEN = json.dumps({"error": {"message": "no such model", "code": 404}}).encode()
LINES = b"".join(
    b'{"choices": [{"delta": {"content": "%s"}, "finish_reason": %s}]}\n' % part
    for part in ((b"Ida ", b"null"), (b"Larsen", b'"stop"'))
)


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (JSON_HEAD + CHUNKED + chunk(ENDED), "Ida Larsen"),  # the chunk without length never comes
        (JSON_HEAD + CHUNKED + chunk(ENDED[:30]) + chunk(ENDED[30:50]) + chunk(ENDED[50:]), "Ida Larsen"),
        (JSON_HEAD + b"\r\n" + ENDED, "Ida Larsen"),  # neither length nor chunks
        (JSON_HEAD + b"Content-Length: 9999\r\n\r\n" + ENDED, "Ida Larsen"),
        (JSON_HEAD + CHUNKED + chunk(REPLY) + chunk(b"\n"), "Ida Larsen"),
        (JSON_HEAD + CHUNKED + chunk(b"\n\n") + chunk(b": busy\n\n") + chunk(ENDED), "Ida Larsen"),
        (JSON_HEAD + CHUNKED + chunk("\ufeff".encode() + ENDED), "Ida Larsen"),
        (JSON_HEAD + b"Content-Encoding: gzip\r\n" + CHUNKED + chunk(gzip.compress(ENDED)), "Ida Larsen"),
        (b"HTTP/1.1 404 Not Found\r\n" + CHUNKED + chunk(BROKEN), "no such model"),
        (JSON_HEAD + CHUNKED + chunk(b'{"detail": "no such model"}'), "no such model"),
    ],
)
def test_a_whole_reply_is_used_though_the_connection_stays_open(reply: bytes, said: str) -> None:
    with serve_bytes(reply, stays_open=True) as host:
        assert said in ask(f"http://{host}/v1")


def test_a_list_of_models_is_read_though_the_connection_stays_open() -> None:
    listing = b'{"data": [{"id": "m", "max_model_len": 4096}]}'
    with serve_bytes(JSON_HEAD + CHUNKED + chunk(listing), stays_open=True) as host:
        model = model_at(f"http://{host}/v1", model="")
        model.warm_up()
        assert describe_served_model(OpenAIEngine(engine="openai", base_url=f"http://{host}/v1")) == (
            f"m at http://{host}/v1, context 4096"
        )


@pytest.mark.parametrize(
    ("count", "end", "said"),
    [(2, b"0\r\n\r\n", "Ida Larsen"), (2, b"", "breaks off its replies"), (1, b"", "breaks off its replies")],
)
def test_the_first_of_several_lines_is_no_whole_reply(count: int, end: bytes, said: str) -> None:
    chunks = b"".join(map(chunk, LINES.splitlines(keepends=True)[:count]))
    with serve_bytes(JSON_HEAD + CHUNKED + chunks + end) as host:
        assert said in ask(f"http://{host}/v1")


def test_a_server_with_one_thread_gets_each_request_on_a_connection_of_its_own() -> None:
    """It would wait for more on the first, and others for it."""
    reply = JSON_HEAD + b"Content-Length: %d\r\n\r\n" % len(REPLY) + REPLY
    with serve_bytes(reply, is_single=True) as host:
        generations = model_at(f"http://{host}/v1", concurrency=3).generate([ASKED] * 3, Deadline(600))
    assert [generation.text for generation in generations] == ["Ida Larsen"] * 3


@pytest.mark.parametrize("reply", [b"", b"\x15\x03\x01\x00\x02\x02\x46"])
def test_a_server_that_sends_no_http_may_encrypt(reply: bytes) -> None:
    with serve_bytes(reply) as host:
        assert "if the server encrypts, write https:// in CRAG_TEST_URL" in ask(f"http://{host}/v1")


def test_a_certificate_of_its_own_is_refused_and_can_be_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("no openssl, which makes the certificate")
    made = f"{openssl} req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=x -addext subjectAltName=IP:127.0.0.1"
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subprocess.run([*made.split(), "-keyout", key, "-out", certificate], check=True, capture_output=True)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate, key)

    with serve_bytes(JSON_HEAD + b"\r\n" + REPLY, tls=tls) as host:
        monkeypatch.delenv("SSL_CERT_FILE", raising=False)
        assert "SSL_CERT_FILE=FILE names a file with the certificate to trust" in ask(f"https://{host}/v1")
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        assert ask(f"https://{host}/v1") == "Ida Larsen"
        assert "if the server encrypts, write https:// in CRAG_TEST_URL" in ask(f"http://{host}/v1")


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_certificates_that_cannot_be_read_matter_only_where_the_server_encrypts(
    server: HTTPServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str | None
) -> None:
    file = tmp_path / "certificates.pem"
    if content is not None:
        file.write_text(content)
    monkeypatch.setenv("SSL_CERT_FILE", str(file))
    server.expect_request("/v1/chat/completions").respond_with_data(REPLY)
    assert ask(server.url_for("/v1")) == "Ida Larsen"
    with pytest.raises(EngineUnavailableError, match=f"SSL_CERT_FILE={file}: the certificates to trust cannot be read"):
        model_at("https://127.0.0.1:9/v1").warm_up()


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_moved_address_is_asked_with_the_question(server: HTTPServer, status: int) -> None:
    moved = Response(status=status, headers={"Location": "/v1/chat/completions/"})
    server.expect_request("/v1/chat/completions").respond_with_response(moved)
    server.expect_request("/v1/chat/completions/", method="POST").respond_with_handler(
        lambda request: Response(REPLY if request.get_json()["messages"] else b"{}")
    )
    assert ask(server.url_for("/v1")) == "Ida Larsen"


def test_a_key_does_not_follow_to_another_host(server: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRAG_TEST_KEY", "k-123456")
    seen: list[str] = []

    def answer(request: Request) -> Response:
        seen.append(str(request.headers))
        return Response(REPLY)

    elsewhere = f"http://127.0.0.1:{server.port}/elsewhere"
    moved = Response(status=307, headers={"Location": elsewhere})
    path = "/openai/deployments/mini"
    server.expect_request(f"{path}/chat/completions").respond_with_response(moved)
    server.expect_request("/elsewhere").respond_with_handler(answer)
    assert ask(f"http://localhost:{server.port}{path}") == "Ida Larsen"
    assert "k-123456" not in seen[0]


def test_a_path_of_which_a_server_knows_nothing_is_not_the_interface(server: HTTPServer) -> None:
    """LM Studio says so with status 200."""
    server.expect_request("/v1/chat/completions").respond_with_data(REPLY)
    server.expect_request(re.compile("/llm/.*")).respond_with_json({"error": "Unexpected endpoint or method. (POST /)"})
    assert ask(server.url_for("/llm")) == "Ida Larsen"


@pytest.mark.parametrize(
    "written",
    [
        "Bearer k-123456",
        '"k-123456"',
        "Authorization: Bearer k-123456",
        " k-123456\n",
        "x-api-key: k-123456",
        "'Bearer k-123456'",
    ],
)
def test_a_key_is_read_as_people_write_it(server: HTTPServer, monkeypatch: pytest.MonkeyPatch, written: str) -> None:
    monkeypatch.setenv("CRAG_TEST_KEY", written)
    server.expect_request("/v1/chat/completions", headers={"Authorization": "Bearer k-123456"}).respond_with_data(REPLY)
    assert ask(server.url_for("/v1")) == "Ida Larsen"


@pytest.mark.parametrize(
    ("key", "said"), [("", "CRAG_TEST_KEY is not set"), ("k-1", "the key is that of CRAG_TEST_KEY")]
)
def test_a_refused_key_is_told_from_one_that_is_missing(
    server: HTTPServer, monkeypatch: pytest.MonkeyPatch, key: str, said: str
) -> None:
    monkeypatch.setenv("CRAG_TEST_KEY", key)
    server.expect_request("/v1/chat/completions").respond_with_data("no", status=401)
    assert said in ask(server.url_for("/v1"))


@pytest.mark.parametrize(
    "written", ["http://HOST/v1?key=a%2Fsecret-1", "http://a%2Fsecret-1@HOST/v1", "http://me:a%2Fsecret-1@HOST/v1"]
)
def test_secrets_in_an_address_are_not_shown(server: HTTPServer, monkeypatch: pytest.MonkeyPatch, written: str) -> None:
    monkeypatch.setenv("CRAG_TEST_KEY", 'k"secret-2')

    def echo(request: Request) -> Response:
        user = request.authorization and (request.authorization.username, request.authorization.password)
        words = f"you sent {request.url} {request.full_path} {user} {request.headers.get('Authorization')}"
        return Response(json.dumps({"error": {"message": words}}), 400)

    server.expect_request("/v1/chat/completions").respond_with_handler(echo)
    said = ask(written.replace("HOST", f"127.0.0.1:{server.port}"))
    assert "you sent" in said
    assert "secret" not in said


def test_without_a_variable_the_address_itself_is_named(server: HTTPServer) -> None:
    server.expect_request(re.compile(".*")).respond_with_data("<html><title>A page</title>", status=404)
    (generation,) = model_at(server.url_for("/v1"), base_url_variable="").generate([ASKED], Deadline(600))
    assert ": name the address that ends before" in (generation.error or "")
    with pytest.raises(EngineUnavailableError, match="start it, or name its address"):
        model_at("http://127.0.0.1:9/v1", base_url_variable="").warm_up()


@pytest.mark.parametrize("account", ["org-of-another-service", "“org”", "org\n"])
def test_an_account_of_openai_is_told_to_nobody_else(
    server: HTTPServer, monkeypatch: pytest.MonkeyPatch, account: str
) -> None:
    seen: list[str] = []

    def answer(request: Request) -> Response:
        seen.append(str(request.headers))
        return Response(REPLY)

    server.expect_request("/v1/chat/completions").respond_with_handler(answer)
    for name in ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, account)
    assert ask(server.url_for("/v1")) == "Ida Larsen"
    assert "openai-" not in seen[0].lower()

    if not account.startswith("org-"):
        with pytest.raises(EngineUnavailableError, match="OPENAI_ORG_ID has a character that no header has"):
            model_at("https://api.openai.com/v1")


def test_quotes_that_a_container_engine_keeps_are_no_part_of_address_and_model(
    server: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    names: list[str] = []

    def answer(request: Request) -> Response:
        names.append(request.get_json()["model"])
        return Response(REPLY)

    server.expect_request("/v1/chat/completions").respond_with_handler(answer)
    monkeypatch.setenv("CRAG_TEST_URL", f'"{server.url_for("/v1")}"')
    monkeypatch.setenv("CRAG_LLM_MODEL", "'small'")
    settings = OpenAIEngine(engine="openai", base_url_variable="CRAG_TEST_URL")
    (generation,) = OpenAILanguageModel(settings).generate([ASKED], Deadline(600))
    assert (generation.text, names) == ("Ida Larsen", ["small"])
