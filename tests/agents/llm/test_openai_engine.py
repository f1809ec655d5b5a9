import asyncio
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from agents.deadline import Deadline
from agents.llm import EngineUnavailableError, GenerationRequest, LanguageModelDiedError, Message
from agents.llm.openai_engine import OpenAILanguageModel
from agents.settings import OpenAIEngine

CHAT = "/v1/chat/completions"


@pytest.fixture
def server() -> Iterator[HTTPServer]:
    with HTTPServer(threaded=True) as server:
        yield server


def engine(url: str, **changes: Any) -> OpenAILanguageModel:
    settings: dict[str, Any] = {
        "base_url_variable": "CRAG_TEST_LLM_URL",
        "api_key_variable": "CRAG_TEST_KEY",
        **changes,
    }
    return OpenAILanguageModel(OpenAIEngine(engine="openai", model="base", base_url=url, **settings))


def at(server: HTTPServer, **changes: Any) -> OpenAILanguageModel:
    return engine(server.url_for("/v1"), **changes)


def ask(text: str = "who?", **rest: Any) -> GenerationRequest:
    return GenerationRequest(messages=(Message("user", text),), **rest)


def said(text: str) -> Response:
    return Response(json.dumps({"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_the_request_on_the_wire(server: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[Any, str | None]] = []

    def answer(request: Request) -> Response:
        seen.append((request.get_json(), request.headers.get("Authorization")))
        return said("ok")

    server.expect_request(CHAT, method="POST").respond_with_handler(answer)
    monkeypatch.setenv("CRAG_TEST_KEY", "secret")
    request = ask(adapter="kg", max_tokens=9, temperature=0.5, top_p=0.9, stop=("\n",), grammar="start: /a/")
    (generation,) = at(server, adapters={"kg": "base-kg"}).generate([request], Deadline(5))
    assert generation.text == "ok"
    body, key = seen[0]
    assert key == "Bearer secret"
    assert body == {
        "model": "base-kg",
        "messages": [{"role": "user", "content": "who?"}],
        "max_tokens": 9,
        "temperature": 0.5,
        "top_p": 0.9,
        "stop": ["\n"],
        "logprobs": True,
        "structured_outputs": {"grammar": "start: /a/"},
    }


def test_the_environment_overrides_the_address(server: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.expect_request(CHAT).respond_with_response(said("ok"))
    monkeypatch.setenv("CRAG_TEST_LLM_URL", server.url_for("/v1"))
    assert engine("http://127.0.0.1:1/v1").generate([ask()], Deadline(5))[0].text == "ok"


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_busy_server_is_asked_again(server: HTTPServer, status: int) -> None:
    server.expect_ordered_request(CHAT).respond_with_data("busy", status=status)
    server.expect_ordered_request(CHAT).respond_with_response(said("at last"))
    assert at(server).generate([ask()], Deadline(10))[0].text == "at last"


@pytest.mark.parametrize("status", [400, 401, 404, 500])
def test_other_refusals_are_final_and_quoted(server: HTTPServer, status: int) -> None:
    server.expect_ordered_request(CHAT).respond_with_data("because I say so", status=status)
    (generation,) = at(server).generate([ask()], Deadline(10))
    assert generation.finish_reason == "error"
    assert f"status {status}: because I say so" in (generation.error or "")
    assert len(server.log) == 1


def test_attempts_are_counted(server: HTTPServer) -> None:
    server.expect_request(CHAT).respond_with_data("busy", status=503)
    (generation,) = at(server, max_attempts=2).generate([ask()], Deadline(10))
    assert "503" in (generation.error or "")
    assert len(server.log) == 2


def test_a_pause_that_outlasts_the_deadline_is_not_begun(server: HTTPServer) -> None:
    server.expect_request(CHAT).respond_with_data("busy", status=429, headers={"Retry-After": "30"})
    started = time.monotonic()
    (generation,) = at(server).generate([ask()], Deadline(5))
    assert "429" in (generation.error or "")
    assert time.monotonic() - started < 2


def test_a_slow_reply_costs_its_own_request_only(server: HTTPServer) -> None:
    def answer(request: Request) -> Response:
        if "slow" in request.get_data(as_text=True):
            time.sleep(2.0)
        return said("ok")

    server.expect_request(CHAT).respond_with_handler(answer)
    started = time.monotonic()
    generations = at(server).generate([ask("a"), ask("slow"), ask("b")], Deadline(1.0))
    assert time.monotonic() - started < 1.5
    assert [generation.finish_reason for generation in generations] == ["stop", "deadline", "stop"]


def test_no_more_requests_at_a_time_than_allowed(server: HTTPServer) -> None:
    lock = threading.Lock()
    now: list[int] = [0, 0]

    def answer(_: Request) -> Response:
        with lock:
            now[0] += 1
            now[1] = max(now)
        time.sleep(0.1)
        with lock:
            now[0] -= 1
        return said("ok")

    server.expect_request(CHAT).respond_with_handler(answer)
    generations = at(server, concurrency=3).generate([ask()] * 9, Deadline(20))
    assert {generation.text for generation in generations} == {"ok"}
    assert now[1] == 3


def test_a_malformed_body_is_a_failed_generation(server: HTTPServer) -> None:
    server.expect_request(CHAT).respond_with_data("<html>proxy</html>", content_type="text/html")
    (generation,) = at(server).generate([ask()], Deadline(5))
    assert generation.finish_reason == "error"
    assert "<html>proxy" in (generation.error or "")


def test_no_server_at_all_is_a_dead_engine() -> None:
    model = engine(f"http://127.0.0.1:{free_port()}/v1")
    with pytest.raises(LanguageModelDiedError, match="no language model server"):
        model.generate([ask(), ask()], Deadline(10))
    with pytest.raises(EngineUnavailableError, match="CRAG_TEST_LLM_URL"):
        model.warm_up()


def test_warm_up_takes_any_answer_for_a_server(server: HTTPServer) -> None:
    server.expect_request("/v1/models").respond_with_data("no list here", status=404)
    at(server).warm_up()


@pytest.fixture
def raw_server() -> Iterator[Callable[[bytes, float], str]]:
    """A server that answers every connection with the same bytes, one at a time, and then keeps silent."""
    listeners: list[socket.socket] = []

    def start(data: bytes, pause: float) -> str:
        listener = socket.create_server(("127.0.0.1", 0))
        listeners.append(listener)

        def talk(connection: socket.socket) -> None:
            with connection:
                connection.recv(65536)
                for index in range(len(data)):
                    try:
                        connection.sendall(data[index : index + 1])
                    except OSError:
                        return
                    time.sleep(pause)

        def accept() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                threading.Thread(target=talk, args=(connection,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        return f"http://127.0.0.1:{listener.getsockname()[1]}/v1"

    yield start
    for listener in listeners:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def test_a_server_that_drips_does_not_outlast_the_deadline(raw_server: Callable[[bytes, float], str]) -> None:
    url = raw_server(b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n" + b" " * 5000, 0.02)
    started = time.monotonic()
    (generation,) = engine(url).generate([ask()], Deadline(0.8))
    assert generation.finish_reason == "deadline"
    assert time.monotonic() - started < 1.3


def test_a_connection_that_breaks_off_is_tried_again_and_then_dead(raw_server: Callable[[bytes, float], str]) -> None:
    url = raw_server(b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhalf", 0.0)
    with pytest.raises(LanguageModelDiedError):
        engine(url, max_attempts=2).generate([ask()], Deadline(5))


def test_it_works_inside_a_running_event_loop(server: HTTPServer) -> None:
    server.expect_request(CHAT).respond_with_response(said("ok"))

    async def notebook() -> str:
        return at(server).generate([ask()], Deadline(5))[0].text

    assert asyncio.run(notebook()) == "ok"
