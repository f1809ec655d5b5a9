"""Servers with manners of their own, each a real one on this machine: refusals, forms of replies, patience, proxies."""

import asyncio
import gzip
import json
import logging
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
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
    openai_engine,
    openai_server,
)
from crag.engines.llm.openai_address import parse_address
from crag.engines.llm.openai_engine import OpenAILanguageModel
from crag.engines.llm.openai_transport import find_proxy
from crag.settings import OpenAIEngine

ASKED = GenerationRequest(
    messages=(Message("system", "Be brief."), Message("user", "Who?")), max_tokens=20, stop=("", "\n\n", "")
)
PROXY_VARIABLES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@pytest.fixture
def server() -> Iterator[HTTPServer]:
    with HTTPServer(threaded=True) as server:
        yield server


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that the engine would have waited."""
    seconds: list[float] = []

    async def pause(asked: float) -> None:
        seconds.append(asked)
        await asyncio.sleep(0)

    monkeypatch.setattr(openai_server, "pause", pause)
    for name in PROXY_VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    return seconds


def model_at(url: str, **changes: Any) -> OpenAILanguageModel:
    settings = {"model": "m", "base_url_variable": "CRAG_TEST_URL", "api_key_variable": "CRAG_TEST_KEY", **changes}
    return OpenAILanguageModel(OpenAIEngine(engine="openai", base_url=url, concurrency=1, **settings))


def reply_of(text: object, reason: object = "stop", **rest: Any) -> Response:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": reason}
    return Response(json.dumps({"choices": [choice], **rest}), content_type="application/json")


Manner = Callable[[dict[str, Any], int], Response | None]
"""A reply to a body and its number; None: the usual answer."""


def serve(server: HTTPServer, manner: Manner, path: str = "/v1/chat/completions") -> list[dict[str, Any]]:
    """Serve an endpoint; gives the list of the bodies that came."""
    bodies: list[dict[str, Any]] = []

    def handle(request: Request) -> Response:
        bodies.append(request.get_json())
        return manner(bodies[-1], len(bodies)) or reply_of("Ida Larsen")

    server.expect_request(path, method="POST").respond_with_handler(handle)
    return bodies


def ask_one(server: HTTPServer, request: GenerationRequest = ASKED, path: str = "/v1", **changes: Any) -> Generation:
    (generation,) = model_at(server.url_for(path), **changes).generate([request], Deadline(600))
    return generation


# --- refusals ---------------------------------------------------------------------------------------------------------


def has_system(body: dict[str, Any]) -> bool:
    return any(message["role"] == "system" for message in body.get("messages", ()))


def has_limit(body: dict[str, Any]) -> bool:
    return "max_tokens" in body


RENAMED = "max_completion_tokens is sent"
REFUSALS: list[tuple[int, str, Callable[[dict[str, Any]], bool], str]] = [
    (400, '{"error": {"message": "Unsupported: max_tokens. Use max_completion_tokens", "param": "max_tokens"}}',
     has_limit, RENAMED),
    (422, '{"detail": [{"type": "extra_forbidden", "loc": ["body", "max_tokens"], "msg": "Extra inputs"}]}',
     has_limit, RENAMED),
    (500, "unexpected keyword argument 'max_tokens'", has_limit, RENAMED),
    (400, "unknown field `max_completion_tokens` or `max_tokens`, expected one of `model`, `messages`, `temperature`",
     lambda body: has_limit(body) or "max_completion_tokens" in body, "a limit of tokens"),
    (400, '{"error": {"message": "temperature: only the default 1 is allowed here"}}',
     lambda body: "temperature" in body, "refuses temperature:"),
    (422, '{"error": "`temperature` must be strictly positive"}',
     lambda body: body.get("temperature") == 0, "0.01 is sent"),
    (400, '{"message": "temperature and top_p cannot both be given"}',
     lambda body: "top_p" in body, "refuses top_p"),
    (400, '{"error": {"message": "stop is not available", "param": "stop"}}',
     lambda body: "stop" in body, "stop strings"),
    (400, '{"object": "error", "message": "System role not supported", "code": 400}', has_system, "role system"),
    (500, '{"error": {"message": "Conversation roles must alternate user/assistant"}}', has_system, "role system"),
    (422, '{"detail": [{"loc": ["body", "messages", 0, "role"], "msg": "Input should be \'user\' or \'assistant\'"}]}',
     has_system, "role system"),
    (400, '{"error": {"message": "\'messages[0].role\' does not take \'system\'", "param": "messages[0].role"}}',
     has_system, "role system"),
    (400, "Jinja Exception: unexpected first turn", has_system, "role system"),
    (200, '{"error": {"message": "invalid role: system", "code": 400}}', has_system, "role system"),
    (200, '{"code": 400, "message": "unknown: max_tokens, use max_completion_tokens", "data": null}',
     has_limit, RENAMED),
    (200, '{"success": false, "message": "temperature has to lie in (0, 1]"}',
     lambda body: body.get("temperature") == 0, "0.01 is sent"),
    (400, '{"error": {"message": "A conversation begins with a message of the user"}}', has_system, "role system"),
    (400, '{"error": {"message": "Non-streaming requests are not served"}}',
     lambda body: not body.get("stream"), "only streams"),
    (400, '{"detail": "stream must be set to true"}', lambda body: not body.get("stream"), "only streams"),
    (400, '{"error": "This model requires streaming"}', lambda body: not body.get("stream"), "only streams"),
    (400, '{"error": "Set `stream`: true"}', lambda body: not body.get("stream"), "only streams"),
    (400, '{"error": {"message": "enable_thinking must be false for calls without a stream"}}',
     lambda body: body.get("enable_thinking") is not False, "switched off"),
]  # fmt: skip


@pytest.mark.parametrize(("status", "words", "refuses", "told"), REFUSALS)
def test_what_a_server_refuses_is_written_otherwise_from_then_on(
    server: HTTPServer,
    caplog: pytest.LogCaptureFixture,
    status: int,
    words: str,
    refuses: Callable[[dict[str, Any]], bool],
    told: str,
) -> None:
    bodies = serve(server, lambda body, _: Response(words, status) if refuses(body) else None)
    model = model_at(server.url_for("/v1"))
    texts = [generation.text for generation in model.generate([ASKED] * 3, Deadline(600))]
    assert texts == ["Ida Larsen"] * 3
    refused = [refuses(body) for body in bodies]
    assert refused[-3:] == [False] * 3, "only the first question meets the refusal"
    (warning,) = [line for line in caplog.messages if "for the rest of this run" in line]
    assert told in warning
    assert "\n" not in warning
    assert all("Be brief." in json.dumps(body) for body in bodies)


def test_instructions_move_into_the_users_turn(server: HTTPServer) -> None:
    bodies = serve(server, lambda body, _: Response("system role?", 400) if has_system(body) else None)
    ask_one(server)
    assert bodies[-1]["messages"] == [{"role": "user", "content": "Be brief.\n\nWho?"}]


def test_a_server_that_refuses_some_parameters_without_a_name_loses_the_rare_one(server: HTTPServer) -> None:
    words = '{"error": {"message": "No endpoints found that can handle the requested parameters.", "code": 404}}'
    bodies = serve(server, lambda body, _: Response(words, 404) if "logprobs" in body else None)
    assert ask_one(server, replace(ASKED, with_log_probability=True)).text == "Ida Larsen"
    assert len(bodies) == 2


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (404, "This is not a chat model. Did you mean to use v1/completions?"),
        (422, '{"error": "Template error: template not found", "error_type": "template_error"}'),
    ],
)
def test_a_model_without_a_chat_is_asked_in_plain_text(server: HTTPServer, status: int, words: str) -> None:
    serve(server, lambda *_: Response(words, status))
    plain = serve(server, lambda *_: Response('{"choices": [{"text": "Ida Larsen"}]}'), "/v1/completions")
    assert ask_one(server).text == "Ida Larsen"
    assert plain[0]["prompt"] == "Be brief.\n\nWho?"


REMAINING = [
    (401, '{"error": {"message": "Invalid\\nkey"}}', "status 401: Invalid key (the key is that of CRAG_TEST_KEY)", 1),
    (403, "forbidden", "status 403: forbidden", 1),
    (403, "", "status 403: no word why (the key is that of CRAG_TEST_KEY)", 1),
    (200, "", "the server's reply is empty", 1),
    (400, "context length is 2048 tokens; reduce the length of the messages or max_tokens", "status 400: context", 1),
    (404, '{"error": "model \\"m\\" not found"}', 'status 404: model "m" not found', 1),
    (501, "not here", "status 501: not here", 1),
    (429, "your quota is used up: see billing", "status 429", 1),
    (502, "<html><title>Bad gateway</title></html>", "status 502: a web page: Bad gateway", 3),
    (200, '{"error": {"message": "no memory", "code": 500}}', "status 500: no memory", 3),
]


@pytest.mark.parametrize(("status", "words", "said", "attempts"), REMAINING)
def test_other_refusals_are_told_with_status_and_cause_in_one_line(
    server: HTTPServer, status: int, words: str, said: str, attempts: int
) -> None:
    bodies = serve(server, lambda *_: Response(words, status))
    generation = ask_one(server)
    assert generation.finish_reason == "error"
    assert said in (generation.error or "")
    assert "\n" not in (generation.error or "")
    assert len(bodies) == attempts


# --- patience ---------------------------------------------------------------------------------------------------------

LOADING = [
    (503, {}, '{"error": {"message": "Loading model"}}', [1.0, 2.0, 4.0, 8.0, 8.0]),
    (503, {}, '{"error": "Model m is currently loading", "estimated_time": 20.0}', [20.0] * 5),
    (200, {}, '{"error": {"message": "the model is not ready", "code": 503}}', [1.0, 2.0, 4.0, 8.0, 8.0]),
    (429, {"Retry-After": "3"}, "slow down", [3.0] * 5),
    (429, {"retry-after-ms": "250"}, "slow down", [0.25] * 5),
    (429, {}, '{"error": {"details": [{"retryDelay": "34s"}]}}', [34.0] * 5),
    (429, {}, "Please try again in 1.5s", [1.5] * 5),
    (503, {"Retry-After": "2"}, "busy", [2.0] * 5),
    (429, {"Retry-After": "0"}, "slow down", [0.5, 1.0, 2.0, 4.0, 8.0]),
    (529, {}, "overloaded", [0.5, 1.0, 2.0, 4.0, 8.0]),
]


@pytest.mark.parametrize(("status", "headers", "words", "waited"), LOADING)
def test_a_server_that_asks_for_patience_is_waited_for(
    server: HTTPServer, pauses: list[float], status: int, headers: dict[str, str], words: str, waited: list[float]
) -> None:
    serve(server, lambda _, number: Response(words, status, headers) if number <= 5 else None)
    assert ask_one(server).text == "Ida Larsen"
    assert pauses == waited


def test_the_start_waits_for_a_server_that_loads_its_model_and_says_so(
    server: HTTPServer, pauses: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    listings = iter([Response("Loading model", 503)] * 3)
    names = Response('{"data": [{"id": "one"}]}')
    server.expect_request("/v1/models").respond_with_handler(lambda _: next(listings, names))
    serve(server, lambda _, number: Response("Loading model", 503) if number <= 2 else None)
    model = model_at(server.url_for("/v1"), model="")
    model.warm_up()
    model.rehearse(ASKED)
    assert len(pauses) == 5
    assert [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING] == [
        f"waiting for the server at {server.url_for('/v1')} to load its model (status 503: Loading model)"
    ]


def test_the_start_waits_for_a_busy_server_and_does_not_call_it_loading(
    server: HTTPServer, caplog: pytest.LogCaptureFixture
) -> None:
    serve(server, lambda _, number: Response("slow down", 429) if number <= 5 else None)
    model_at(server.url_for("/v1")).rehearse(ASKED)
    (warning,) = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert warning == f"waiting for the server at {server.url_for('/v1')} (status 429: slow down)"


@pytest.mark.parametrize("is_busy_for_ever", [False, True])
def test_the_start_waits_for_a_server_that_is_busy_and_does_not_take_it_for_a_dead_one(
    server: HTTPServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, is_busy_for_ever: bool
) -> None:
    is_over = threading.Event()
    requests = iter(range(1000))

    def list_models(_: Request) -> Response:
        if next(requests) == 0 or is_busy_for_ever:
            is_over.wait(60)
        return Response('{"data": [{"id": "one"}]}')

    server.expect_request("/v1/models").respond_with_handler(list_models)
    monkeypatch.setattr(openai_engine, "_WARM_UP_SECONDS", 0.5)
    monkeypatch.setattr(openai_server, "MOST_SILENT_SECONDS", 1.0 if is_busy_for_ever else 300.0)
    model = model_at(server.url_for("/v1"), model="")
    try:
        if is_busy_for_ever:
            with pytest.raises(EngineUnavailableError, match="accepts connections and does not reply: it may be busy"):
                model.warm_up()
        else:
            model.warm_up()
    finally:
        is_over.set()
    [line] = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert line.startswith(f"the server at {server.url_for('/v1')} accepts connections and does not reply yet")


def test_the_start_has_patience_with_a_gateway_whose_server_is_not_there_yet(
    server: HTTPServer, pauses: list[float]
) -> None:
    bodies = serve(server, lambda _, number: Response("Service Unavailable", 503) if number <= 9 else None)
    model_at(server.url_for("/v1")).rehearse(ASKED)
    assert (len(bodies), sum(pauses) > 30) == (10, True)


def test_a_model_that_cannot_be_loaded_is_not_waited_for(server: HTTPServer, pauses: list[float]) -> None:
    serve(server, lambda *_: Response("error loading model: no such file", 500))
    assert "no such file" in (ask_one(server).error or "")
    assert len(pauses) == 2


def test_a_server_without_room_for_thoughts_costs_no_fault(server: HTTPServer) -> None:
    def think(body: dict[str, Any], _: int) -> Response:
        is_short = body["max_tokens"] < 1000
        return reply_of("<think>Let me see", "length") if is_short else Response("context length exceeded", 400)

    serve(server, think)
    generation = ask_one(server)
    assert (generation.text, generation.finish_reason) == ("", "length")


def test_a_key_with_a_wrong_character_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRAG_TEST_KEY", "“key”")
    with pytest.raises(EngineUnavailableError, match="the key in CRAG_TEST_KEY has a character"):
        model_at("http://127.0.0.1:9/v1")


def test_a_pause_beyond_the_deadline_is_told_at_once(server: HTTPServer, pauses: list[float]) -> None:
    serve(server, lambda *_: Response("slow down", 429, {"Retry-After": "9000"}))
    assert "status 429: slow down" in (ask_one(server).error or "")
    assert pauses == []


@pytest.mark.parametrize("status", [401, 402, 404])
def test_a_key_or_model_that_a_server_never_takes_ends_the_start(server: HTTPServer, status: int) -> None:
    serve(server, lambda *_: Response("no such model or key", status))
    with pytest.raises(EngineUnavailableError, match=rf"the server at http.* answered with status {status}: no such"):
        model_at(server.url_for("/v1")).rehearse(ASKED)


def test_a_refused_key_is_told_where_the_list_of_models_is_asked_for(server: HTTPServer) -> None:
    server.expect_request("/v1/models").respond_with_json({"error": {"message": "Invalid API key"}}, status=401)
    with pytest.raises(EngineUnavailableError, match=r"status 401: Invalid API key \(the key is that of CRAG_TEST_KEY"):
        model_at(server.url_for("/v1"), model="").warm_up()


# --- addresses and models ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/", "/v1/", "/v1/chat/completions", "/wrong", "/api/v1"])
@pytest.mark.parametrize("has_list", [True, False])
def test_an_address_is_completed(server: HTTPServer, path: str, has_list: bool) -> None:
    if has_list:
        server.expect_request("/v1/models").respond_with_json({"data": [{"id": "one"}]})
    serve(server, lambda *_: None)
    server.expect_request("/").respond_with_data("<!DOCTYPE html><title>A page</title>")
    server.expect_request("/models").respond_with_data("<!DOCTYPE html><title>A page</title>")
    for other in ("/wrong", "/wrong/v1", "/api/v1", "/api/v1/openai"):
        for end in ("/models", "/chat/completions"):
            server.expect_request(other + end).respond_with_json({"detail": "Not Found"}, status=404)
    model = model_at(server.url_for(path), model="" if has_list else "m")
    if has_list:
        model.warm_up()
    assert model.generate([ASKED], Deadline(600))[0].text == "Ida Larsen"


def test_a_refusal_at_the_right_address_is_heeded(server: HTTPServer) -> None:
    for path in ("/wrong/chat/completions", "/wrong/v1/chat/completions"):
        server.expect_request(path).respond_with_json({"detail": "Not Found"}, status=404)
    serve(server, lambda body, _: Response("system role?", 400) if has_system(body) else None)
    assert ask_one(server, path="/wrong").text == "Ida Larsen"


def test_an_address_where_nothing_is_served_is_told(server: HTTPServer) -> None:
    nothing = Response("<!DOCTYPE html><title>No model of that name</title>", 404)
    server.expect_request(re.compile(".*")).respond_with_response(nothing)
    error = ask_one(server, path="/v1").error or ""
    assert "status 404" in error
    assert "set CRAG_TEST_URL to the address that ends before /chat/completions" in error


@pytest.mark.parametrize(
    ("listing", "chosen"),
    [
        ({"data": [{"id": "chat"}, {"id": "text-embedding-small"}, {"id": "bge-reranker"}]}, "chat"),
        ({"data": [{"id": "base"}, {"id": "tuned", "parent": "base"}]}, "base"),
        ({"data": [{"id": "a", "state": "not-loaded"}, {"id": "b", "state": "loaded"}]}, "b"),
        ({"data": [{"id": "a", "status": {"value": "loaded"}}, {"id": "b", "status": {"value": "unloaded"}}]}, "a"),
        ({"models": [{"name": "llama3:8b"}]}, "llama3:8b"),
        ([{"id": "only"}], "only"),
    ],
)
def test_the_model_that_can_be_asked_is_chosen(server: HTTPServer, listing: object, chosen: str) -> None:
    server.expect_request("/v1/models").respond_with_data(json.dumps(listing))
    bodies = serve(server, lambda *_: None)
    model = model_at(server.url_for("/v1"), model="")
    model.warm_up()
    model.generate([ASKED], Deadline(600))
    assert bodies[0]["model"] == chosen


def test_a_deployment_is_asked_with_its_key_and_version(server: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRAG_TEST_KEY", "k-123456")
    server.expect_request(
        "/openai/deployments/mini/chat/completions",
        query_string={"api-version": "7"},
        headers={"api-key": "k-123456"},
    ).respond_with_response(reply_of("Ida Larsen"))
    assert ask_one(server, path="/openai/deployments/mini?api-version=7", model="").text == "Ida Larsen"


# --- replies ----------------------------------------------------------------------------------------------------------


def chunk(delta: dict[str, Any], reason: str | None = None) -> str:
    return json.dumps({"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})


PARTS = [chunk({"role": "assistant", "content": ""}), chunk({"content": "Ida"}), chunk({"content": " Larsen"})]
END = chunk({}, "stop")
START = '{"choices": ['
STREAMS = {
    "usual": "".join(f"data: {part}\n\n" for part in [*PARTS, END, "[DONE]"]),
    "CRLF, comments, events": ": hello\r\n\r\n"
    + "".join(f"event: x\r\nid: 1\r\ndata: {part}\r\n: keep-alive\r\n\r\n" for part in [*PARTS, END]),
    "no blank after the colon, no [DONE]": "".join(f"data:{part}\n\n" for part in [*PARTS, END]),
    "no last line end": "".join(f"data: {part}\n\n" for part in PARTS) + f"data: {END}",
    "single line ends": "".join(f"data: {part}\n" for part in [*PARTS, END, "[DONE]"]),
    "a chunk without choices first": 'data: {"choices": []}\n\n' + "".join(f"data: {part}\n\n" for part in PARTS),
    "thoughts in a field of their own": f"data: {chunk({'reasoning_content': 'Hm.'})}\n\n"
    + "".join(f"data: {part}\n\n" for part in [*PARTS, END]),
    "thoughts in the text": "".join(
        f"data: {chunk({'content': part})}\n\n" for part in ("<thi", "nk>Hm", ".</think>", "Ida Larsen")
    ),
    "of completions": "".join(f'data: {{"choices": [{{"text": "{text}"}}]}}\n\n' for text in ("Ida", " Larsen")),
    "the whole message at last": 'data: {"choices": [{"message": {"content": "Ida Larsen"}}]}\n\n',
    "lines of JSON": "\n".join([*PARTS, END]),
    "words that keep it alive": "data: \n\ndata: ping\n\ndata: [HEARTBEAT]\n\n: busy\n\n"
    + "".join(f"data: {part}\r\n\r\n" for part in [*PARTS, END]),
    "the mark twice": "".join(f"data: data: {part}\n\n" for part in [*PARTS, END, "[DONE]"]),
    "blanks around the end": "".join(f"data:{part}\n\n" for part in PARTS) + "data:  [DONE] \n\n",
    "an error after the end": "".join(f"data: {part}\n\n" for part in [*PARTS, END]) + 'data: {"error": "late"}\n\n',
    "another choice first": "".join(
        f'data: {{"choices": [{{"index": 1, "delta": {{"content": "Bo"}}}}, {part[len(START) :]}\n\n' for part in PARTS
    ),
    "a mark of order": "\ufeff" + "".join(f"data: {part}\n\n" for part in PARTS),
}


@pytest.mark.parametrize("stream", STREAMS.values(), ids=STREAMS)
@pytest.mark.parametrize("content_type", ["text/event-stream", "application/json"])
def test_a_stream_that_nobody_asked_for_is_read(server: HTTPServer, stream: str, content_type: str) -> None:
    bodies = serve(server, lambda *_: Response(stream, content_type=content_type))
    generation = ask_one(server)
    assert (generation.text, generation.finish_reason) == ("Ida Larsen", "stop")
    assert bodies[0]["stream"] is False


@pytest.mark.parametrize(
    ("stream", "said"),
    [
        ('data: {"error": {"message": "out of memory", "code": 500}}\n\n', "status 500: out of memory"),
        (f'data: {PARTS[1]}\n\ndata: {{"error": {{"message": "cut", "code": 502}}}}\n\n', "status 502: cut"),
        (f'data: {PARTS[1]}\n\nevent: error\ndata: {{"message": "cut"}}\n\n', "cut"),
        (f'data: {PARTS[1]}\n\ndata: {{"object": "error", "message": "cut", "code": 500}}\n\n', "status 500: cut"),
        (f'data: {PARTS[1]}\n\ndata: {{"choices": [{{"delta": {{}}, "error": {{"message": "cut"}}}}]}}\n\n', "cut"),
        (f"data: {PARTS[1]}\n\nerror: cut\n\n", "cut"),
        (STREAMS["usual"][:-120], "an event stream, cannot be read"),
        (": only comments\n\n", "cannot be read"),
    ],
)
def test_a_stream_that_fails_is_no_answer(server: HTTPServer, stream: str, said: str) -> None:
    serve(server, lambda *_: Response(stream, content_type="text/event-stream"))
    generation = ask_one(server)
    assert generation.finish_reason == "error"
    assert said in (generation.error or "")


@pytest.mark.parametrize("packed", [gzip.compress, bytes])
def test_a_packed_reply_is_read(server: HTTPServer, packed: Callable[[bytes], bytes]) -> None:
    body = packed(reply_of("Ida Larsen").get_data())
    serve(server, lambda *_: Response(body, headers={"Content-Encoding": "gzip"}))
    assert ask_one(server).text == "Ida Larsen"


def test_empty_stop_strings_are_not_sent_and_ignored_ones_cut_here(server: HTTPServer) -> None:
    bodies = serve(server, lambda *_: reply_of("Ida Larsen\n\nShe taught."))
    assert ask_one(server).text == "Ida Larsen"
    assert bodies[0]["stop"] == ["\n\n"]
    serve(server, lambda *_: None)
    ask_one(server, GenerationRequest(prompt="Who?", stop=("",)), "/v1")
    assert all("" not in body.get("stop", []) for body in bodies)


def test_a_model_that_thinks_gets_room_for_it(server: HTTPServer) -> None:
    def think(body: dict[str, Any], _: int) -> Response:
        return (
            reply_of("<think>Let me see", "length")
            if body["max_tokens"] < 1000
            else reply_of("<think>…</think>Ida Larsen")
        )

    bodies = serve(server, think)
    model = model_at(server.url_for("/v1"))
    assert [one.text for one in model.generate([ASKED] * 2, Deadline(600))] == ["Ida Larsen"] * 2
    assert [body["max_tokens"] for body in bodies] == [20, 2068, 2068]


@pytest.mark.parametrize("listing", [{"data": [{"id": "NAME"}]}, {"models": [{"model": "NAME"}]}, ["NAME"]])
def test_a_server_that_comes_back_with_another_model_is_not_asked(listing: object) -> None:
    """No run mixes two models; the one of before is asked again."""

    def serve_model(name: str) -> HTTPServer:
        server = HTTPServer(port=port, threaded=True)
        server.expect_request("/v1/models").respond_with_data(json.dumps(listing).replace("NAME", name))
        serve(server, lambda *_: None)
        server.start()
        return server

    port = 0
    server = serve_model("small")
    port = server.port
    model = model_at(server.url_for("/v1"), model="")
    model.warm_up()
    server.stop()
    with pytest.raises(LanguageModelDiedError, match="no language model server"):
        model.generate([ASKED], Deadline(600))

    server = serve_model("large")
    with pytest.raises(LanguageModelDiedError, match="has come back with another model: large, before small"):
        model.generate([ASKED], Deadline(600))
    server.stop()

    server = serve_model("small")
    assert model.generate([ASKED], Deadline(600))[0].text == "Ida Larsen"
    server.stop()


# --- proxies ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:9", "socks://127.0.0.1:9", "http://127.0.0.1:9"])
@pytest.mark.parametrize("variable", ["all_proxy", "HTTP_PROXY"])
def test_a_server_on_this_machine_is_asked_directly(
    server: HTTPServer, monkeypatch: pytest.MonkeyPatch, proxy: str, variable: str
) -> None:
    monkeypatch.setenv(variable, proxy)
    serve(server, lambda *_: None)
    assert ask_one(server).text == "Ida Larsen"


@pytest.mark.parametrize(
    ("proxy", "said"),
    [
        ("socks4://me:pass-word@127.0.0.1:9", r"the proxy socks4://127\.0\.0\.1:9 of HTTP_PROXY cannot be used"),
        (
            "http://me:pass-word@127.0.0.1:9",
            r"asked through the proxy http://127\.0\.0\.1:9 of HTTP_PROXY; NO_PROXY=10\.",
        ),
    ],
)
def test_a_proxy_that_fails_is_named(monkeypatch: pytest.MonkeyPatch, proxy: str, said: str) -> None:
    monkeypatch.setenv("HTTP_PROXY", proxy)
    with pytest.raises(EngineUnavailableError, match=said) as raised:
        model_at("http://10.255.0.1:9/v1").warm_up()
    assert "pass-word" not in str(raised.value)
    assert "\n" not in str(raised.value)
    with pytest.raises(LanguageModelDiedError, match="the proxy"):
        model_at("http://10.255.0.1:9/v1").generate([ASKED], Deadline(600))


@pytest.mark.parametrize("exempt", ["host.example", ".example", "10.0.0.0/8", "10.255.0.1", "*"])
def test_hosts_that_the_environment_exempts_are_asked_directly(monkeypatch: pytest.MonkeyPatch, exempt: str) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.example:3128")
    monkeypatch.setenv("NO_PROXY", f"other, {exempt}")
    hosts = ["10.255.0.1"] if exempt.startswith("10") else ["host.example"]
    assert [find_proxy(parse_address(f"http://{host}:8000/v1")) for host in hosts] == [None]
    proxied = find_proxy(parse_address("http://192.0.2.1/v1"))
    assert (proxied is None) == (exempt == "*")


def test_a_server_behind_a_proxy_is_reached(server: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The proxy answers in its place."""
    monkeypatch.setenv("HTTP_PROXY", server.url_for("/"))
    serve(server, lambda *_: None)
    (generation,) = model_at("http://model.example:8000/v1").generate([ASKED], Deadline(600))
    assert generation.text == "Ida Larsen"
