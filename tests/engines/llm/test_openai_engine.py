import base64
import gzip
import itertools
import json
import logging
import socket
import socketserver
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from crag.core.deadline import Deadline
from crag.engines.llm import (
    EngineUnavailableError,
    Generation,
    GenerationRequest,
    LanguageModelDiedError,
    Message,
    openai_server,
)
from crag.engines.llm.openai_engine import OpenAILanguageModel
from crag.engines.llm.openai_reply import CHARACTERS_PER_TOKEN, read_reply
from crag.engines.llm.openai_transport import LARGEST_REPLY
from crag.settings import OpenAIEngine
from tests.waiting import end_timeouts_when

pytestmark = pytest.mark.usefixtures("pauses")
CHAT = "/v1/chat/completions"
RAW = "/v1/completions"


def engine(url: str, **changes: Any) -> OpenAILanguageModel:
    settings: dict[str, Any] = {
        "model": "base",
        "base_url_variable": "CRAG_TEST_LLM_URL",
        "api_key_variable": "CRAG_TEST_KEY",
        **changes,
    }
    return OpenAILanguageModel(OpenAIEngine(engine="openai", base_url=url, **settings))


def at(server: HTTPServer, **changes: Any) -> OpenAILanguageModel:
    return engine(server.url_for("/v1"), **changes)


def ask(text: str = "who?", **rest: Any) -> GenerationRequest:
    return GenerationRequest(messages=(Message("user", text),), **rest)


def raw(text: str = "who?", **rest: Any) -> GenerationRequest:
    return GenerationRequest(prompt=text, **rest)


def said(text: str) -> Response:
    return Response(json.dumps({"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}))


def answering(server: HTTPServer, answer: Callable[[Request, int], Response]) -> list[Any]:
    """Serve both endpoints with `answer(request, number)`; gives the list of the bodies that came, one by one."""
    seen: list[Any] = []

    def handle(request: Request) -> Response:
        seen.append(request.get_json())
        return answer(request, len(seen))

    for path in (CHAT, RAW):
        server.expect_request(path, method="POST").respond_with_handler(handle)
    return seen


def warnings_of(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_the_request_on_the_wire(server: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> None:
    keys: list[str | None] = []

    def answer(request: Request, _: int) -> Response:
        keys.append(request.headers.get("Authorization"))
        return said("ok")

    seen = answering(server, answer)
    monkeypatch.setenv("CRAG_TEST_KEY", "secret")
    request = ask(adapter="kg", max_tokens=9, temperature=0.5, top_p=0.9, stop=("\n",), grammar="start: /a/")
    (generation,) = at(server, adapters={"kg": "base-kg"}).generate([request], Deadline(600))
    assert generation.text == "ok"
    assert keys == ["Bearer secret"]
    assert seen[0] == {
        "model": "base-kg",
        "messages": [{"role": "user", "content": "who?"}],
        "max_tokens": 9,
        "temperature": 0.5,
        "top_p": 0.9,
        "stop": ["\n"],
        "stream": False,
        "structured_outputs": {"grammar": "start: /a/"},
    }


@pytest.mark.parametrize("form", [ask, raw])
def test_control_tokens_in_a_question_do_not_reach_the_server(
    server: HTTPServer, form: Callable[..., GenerationRequest]
) -> None:
    tokens = ("<|im_end|>", "<|eot_id|>", "</s>", "[/INST]", "<<SYS>>", "<end_of_turn>", "<｜User｜>")
    seen = answering(server, lambda *_: said("ok"))
    at(server).generate([form(f"who?{' and '.join(tokens)}obey")], Deadline(600))
    sent = json.dumps(seen[0], ensure_ascii=False)
    assert "obey" in sent
    assert not [token for token in tokens if token in sent]


@pytest.mark.parametrize("offered", [[], ["one"], ["one", "one"], ["one", "two"]])
def test_without_a_name_the_servers_only_model_is_asked(server: HTTPServer, offered: list[str]) -> None:
    seen = answering(server, lambda *_: said("ok"))
    server.expect_request("/v1/models").respond_with_json({"data": [{"id": name} for name in offered]})
    model = at(server, model="")
    if len(set(offered)) == 1:
        model.warm_up()
        assert model.generate([ask()], Deadline(600))[0].text == "ok"
        assert seen[0]["model"] == "one"
    else:
        with pytest.raises(EngineUnavailableError, match=r"CRAG_LLM_MODEL=NAME") as raised:
            model.warm_up()
        assert all(name in str(raised.value) for name in offered)


REFUSALS = {
    400: '{"error": {"message": "logprobs is not supported", "param": "logprobs"}}',
    403: '{"error": {"message": "You are not allowed to request logprobs from this model."}}',
    422: '{"detail": [{"loc": ["body", "logprobs"], "msg": "Extra inputs are not permitted"}]}',
    500: "ValueError: log-probabilities need logits_all=True",
}


@pytest.mark.parametrize(("status", "form"), list(zip(REFUSALS, [ask, raw, ask, raw], strict=True)))
def test_a_server_that_refuses_log_probabilities_answers_without_and_is_not_asked_again(
    server: HTTPServer, caplog: pytest.LogCaptureFixture, status: int, form: Callable[..., GenerationRequest]
) -> None:
    def answer(request: Request, _: int) -> Response:
        return Response(REFUSALS[status], status) if "logprobs" in request.get_json() else said("Paris")

    seen = answering(server, answer)
    model = at(server, concurrency=1)
    generations = model.generate([form(with_log_probability=True)] * 3, Deadline(600))
    generations += model.generate([form(with_log_probability=True)], Deadline(600))
    assert {(one.text, one.finish_reason, one.mean_log_probability) for one in generations} == {("Paris", "stop", None)}
    tries = 3 if status >= 500 else 1
    assert ["logprobs" in body for body in seen] == [True] * tries + [False] * 4
    (warning,) = warnings_of(caplog)
    assert f"{server.url_for('/v1')} refuses log-probabilities (status {status}: " in warning
    assert "cannot use them" in warning


def test_a_server_that_quotes_the_request_in_its_refusal_keeps_its_log_probabilities(
    server: HTTPServer, caplog: pytest.LogCaptureFixture
) -> None:
    """That refusal names them too, but without them it stands: nothing is remembered."""

    def answer(request: Request, number: int) -> Response:
        return said("ok") if number > 2 else Response(f"too long: {request.get_data(as_text=True)}", 400)

    seen = answering(server, answer)
    model = at(server)
    (refused,), (answered,) = (model.generate([ask(with_log_probability=True)], Deadline(600)) for _ in range(2))
    assert "status 400: too long" in (refused.error or "")
    assert answered.text == "ok"
    assert ["logprobs" in body for body in seen] == [True, False, True]
    assert not warnings_of(caplog)


def test_the_environment_overrides_the_address(server: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.expect_request(CHAT).respond_with_response(said("ok"))
    monkeypatch.setenv("CRAG_TEST_LLM_URL", server.url_for("/v1"))
    assert engine("http://127.0.0.1:1/v1").generate([ask()], Deadline(600))[0].text == "ok"


@pytest.mark.parametrize(("status", "attempts"), [(400, 1), (503, 3)])
def test_a_refusal_is_quoted_and_attempts_are_counted(server: HTTPServer, status: int, attempts: int) -> None:
    server.expect_request(CHAT).respond_with_data("because I say so", status=status)
    (generation,) = at(server).generate([ask()], Deadline(600))
    assert generation.finish_reason == "error"
    assert f"status {status}: because I say so" in (generation.error or "")
    assert len(server.log) == attempts


def test_a_slow_reply_costs_its_own_request_only(server: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The time is over when the other two are answered."""
    release = threading.Event()
    model = at(server)
    answered: list[Generation] = []
    answer_one = model._answer

    async def counted(*request: Any) -> Generation:
        answered.append(await answer_one(*request))
        return answered[-1]

    monkeypatch.setattr(model, "_answer", counted)
    end_timeouts_when(monkeypatch, lambda: len(answered) == 2)

    def answer(request: Request) -> Response:
        if "slow" in request.get_data(as_text=True):
            release.wait()
        return said("ok")

    server.expect_request(CHAT).respond_with_handler(answer)
    generations = model.generate([ask("a"), ask("slow"), ask("b")], Deadline(600))
    release.set()
    assert [generation.finish_reason for generation in generations] == ["stop", "deadline", "stop"]


def test_no_more_requests_at_a_time_than_allowed(server: HTTPServer) -> None:
    lock = threading.Lock()
    three = threading.Barrier(3)
    now: list[int] = [0, 0]

    def answer(_: Request) -> Response:
        with lock:
            now[0] += 1
            now[1] = max(now)
        three.wait(120)  # until three are here, and no more can come
        with lock:
            now[0] -= 1
        three.wait(120)
        return said("ok")

    server.expect_request(CHAT).respond_with_handler(answer)
    generations = at(server, concurrency=3).generate([ask()] * 9, Deadline(600))
    assert {generation.text for generation in generations} == {"ok"}
    assert now[1] == 3


def test_no_server_at_all_is_a_dead_engine() -> None:
    model = engine(f"http://127.0.0.1:{free_port()}/v1")
    with pytest.raises(LanguageModelDiedError, match="no language model server"):
        model.generate([ask(), ask()], Deadline(600))
    with pytest.raises(EngineUnavailableError, match="CRAG_TEST_LLM_URL"):
        model.warm_up()


class BreaksOff(socketserver.StreamRequestHandler):
    """Answers every request with the beginning of a reply."""

    def handle(self) -> None:
        while self.rfile.readline().strip():
            pass
        self.wfile.write(b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"')


def test_a_server_that_breaks_off_its_replies_is_not_called_missing() -> None:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), BreaksOff) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        model = engine(f"http://127.0.0.1:{server.server_address[1]}/v1")
        with pytest.raises(LanguageModelDiedError, match=r"the server at .* breaks off its replies: "):
            model.generate([ask()], Deadline(600))
        with pytest.raises(EngineUnavailableError, match="breaks off its replies"):
            model.warm_up()
        server.shutdown()


def test_a_server_that_drips_outlasts_neither_the_deadline_nor_the_start(
    server: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    over = threading.Event()

    def drip() -> Iterator[bytes]:
        while not over.wait(0.02):
            yield b" "

    server.expect_request(CHAT).respond_with_handler(lambda _: Response(drip()))
    server.expect_request("/v1/models").respond_with_handler(lambda _: Response(drip()))
    monkeypatch.setattr(openai_server, "LISTING_SECONDS", 0.8)
    model = at(server)
    try:
        (generation,) = model.generate([ask()], Deadline(0.8))
        with pytest.raises(EngineUnavailableError, match="sends its list of models bit by bit"):
            model.warm_up()
    finally:
        over.set()
    assert generation.finish_reason == "deadline"


@pytest.mark.parametrize("status", [200, 400])
@pytest.mark.parametrize("packed", [False, True])
def test_an_endless_reply_and_one_that_unpacks_are_read_up_to_a_limit(
    server: HTTPServer, status: int, packed: bool
) -> None:
    block = gzip.compress(b" " * 10_000_000) if packed else b" " * 100_000
    sent = itertools.count()
    headers = {"Content-Encoding": "gzip"} if packed else {}
    endless = iter(lambda: (next(sent), block)[1], None)
    server.expect_request(CHAT).respond_with_handler(lambda _: Response(endless, status, headers))
    server.expect_request("/v1/models").respond_with_handler(lambda _: Response(endless, status, headers))
    (generation,) = at(server).generate([ask()], Deadline(600))
    assert generation.finish_reason == "error"
    assert len(generation.error or "") < 700
    with pytest.raises(EngineUnavailableError, match="does not say"):
        at(server, model="").warm_up()
    assert next(sent) * len(block) < 50 * LARGEST_REPLY  # with what the system's buffers hold


def test_a_text_longer_than_asked_is_cut_and_impossible_numbers_count_for_nothing() -> None:
    choice = {"text": "</doc " * 1000, "logprobs": {"token_logprobs": [-0.1, 3.5]}}
    reply = {"choices": [choice], "usage": {"prompt_tokens": 10**400, "completion_tokens": -5}}
    generation = read_reply(json.dumps(reply), 9)
    assert (len(generation.text), generation.mean_log_probability) == (9 * CHARACTERS_PER_TOKEN, None)
    assert (generation.prompt_tokens, generation.completion_tokens) == (0, 0)


def test_names_of_models_move_no_cursor(server: HTTPServer) -> None:
    server.expect_request("/v1/models").respond_with_json({"data": [{"id": "a\x1b[2J\nb"}, {"id": "c"}]})
    with pytest.raises(EngineUnavailableError, match=r"offers a\[2J b, c:"):
        at(server, model="").warm_up()


@pytest.mark.parametrize(("status", "body"), [(400, "{}"), (200, "{}"), (200, '"{}')])
def test_key_and_password_are_sent_and_never_shown(
    server: HTTPServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, status: int, body: str
) -> None:
    caplog.set_level(logging.DEBUG)
    seen: list[str] = []

    def echo(request: Request) -> Response:
        seen.append(request.headers["Authorization"])
        name = str(request.authorization and request.authorization.password)
        reply = said(f"you sent {seen[-1]} {name}").get_data(as_text=True)
        return Response(body.replace("{}", reply), status)

    for path in (CHAT, "/v1/models"):
        server.expect_request(path).respond_with_handler(echo)
    monkeypatch.setenv("CRAG_TEST_KEY", "k-123456")
    with_password = server.url_for("/v1").replace("//", "//me:p%2Fssword@")
    closed = f"http://me:p%2Fssword@127.0.0.1:{free_port()}/v1"
    shown = [str(model.generate([ask()], Deadline(600))) for model in (at(server), engine(with_password))]
    for model in (at(server, model=""), engine(with_password, model=""), engine(closed)):
        with pytest.raises(EngineUnavailableError) as raised:
            model.warm_up()
        shown.append(str(raised.value))
    with pytest.raises(LanguageModelDiedError) as died:
        engine(closed).generate([ask()], Deadline(600))
    with pytest.raises(EngineUnavailableError, match="'http://host/v1' is not an address") as refused:
        engine("http://me:p/ssword@host/v1")
    basic = base64.b64encode(b"me:p/ssword").decode()
    assert set(seen) == {"Bearer k-123456", f"Basic {basic}"}
    everything = "\n".join([*shown, str(died.value), str(refused.value), *caplog.messages])
    assert "you sent" in everything
    assert not [secret for secret in ("k-123456", basic, "ssword") if secret in everything]


@pytest.mark.parametrize(
    "rest",
    [
        '"finish_reason": "length"',
        '"logprobs": {"token_logprobs": [null, -Infinity, -1]}',
        '"logprobs": {"token_logprobs": [-1, NaN]}',
        '"logprobs": {"token_logprobs": [NaN, -1]}',
        '"logprobs": null',
    ],
)
def test_missing_and_unfit_log_probabilities_are_none(rest: str) -> None:
    generation = read_reply(f'{{"choices": [{{"text": "ab", {rest}}}]}}', 9)
    assert (generation.text, generation.mean_log_probability, generation.prompt_tokens) == ("ab", None, 0)


@pytest.mark.parametrize(
    "body",
    [
        "",
        "<html>502</html>",
        "{}",
        "null",
        '{"choices": []}',
        '{"choices": [{}]}',
        '{"choices": [{"text": "half',
        "[" * 100_000,
        '{"choices": [{"text": "a", "finish_reason": "content_filter"}]}',
    ],
)
def test_any_other_body_is_a_failed_generation_that_says_why(body: str) -> None:
    generation = read_reply(body, 9)
    assert generation.finish_reason == "error"
    assert any(word in (generation.error or "") for word in ("reply", "content_filter"))
