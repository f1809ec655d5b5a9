"""Servers with manners of their own, each a real one on this machine: refusals, forms of replies, patience, proxies."""

import asyncio
import gzip
import json
import logging
import re
import threading
import zlib
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
    (422, '{"detail": [{"loc": ["body", "messages", 0, "content"], "msg": "Input should be a valid list"}]}',
     lambda body: isinstance(body["messages"][0]["content"], str), "sent in parts"),
    (400, "Input should be 'user', 'assistant' or 'tool'", has_system, "role system"),
    (400, '{"error": {"message": "Could not finish because max_tokens or model output limit was reached."}}',
     lambda body: body["max_tokens"] < 1000, "spends its tokens on thoughts"),
    (400, '{"error": {"message": "UnsupportedParamsError: x does not support parameters: {\'top_p\': 1.0}, for m"}}',
     lambda body: "top_p" in body, "refuses top_p"),
    (400, '{"error": {"message": "does not support parameters: {\'max_tokens\': 20}; to drop: drop_params: true"}}',
     has_limit, RENAMED),
    (400, '{"error": {"message": "enable_thinking must be false for calls without a stream"}}',
     lambda body: body.get("enable_thinking") is not False, "switched off"),
    (400, '{"error": "Unrecognized argument: stop. Did you mean `stream`?"}', lambda body: "stop" in body,
     "stop strings"),
    (400, '{"message": "\\u0027stop\\u0027 is not taken \\u2013 leave it out"}', lambda body: "stop" in body,
     "stop strings"),
    (200, '{"error_code": 3, "error_msg": "the role of first message must be user"}', has_system, "role system"),
    (500, "Value is not callable: null at row 1, column 72: {% for message in messages %}", has_system, "role system"),
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


GRAMMAR = 'start: "stop" | "temperature" | "top_p" | "roles must alternate"'


@pytest.mark.parametrize(
    "words",
    [
        json.dumps(
            {"detail": [{"loc": ["body", "structured_outputs"], "msg": "Extra", "input": {"grammar": GRAMMAR}}]}
        ),
        json.dumps({"message": f"[{{'loc': 'structured_outputs', 'input': {{'grammar': {GRAMMAR!r}}}, 'ctx': {{}}}}]"}),
        json.dumps({"error": {"message": f"no field 'structured_outputs', value: {{'grammar': {GRAMMAR!r}"}}),  # cut
    ],
)
def test_the_parts_of_a_request_that_a_server_quotes_are_no_complaint(server: HTTPServer, words: str) -> None:
    bodies = serve(server, lambda body, _: Response(words, 400) if "structured_outputs" in body else None)
    assert ask_one(server, replace(ASKED, grammar=GRAMMAR)).text == "Ida Larsen"
    assert bodies[0].keys() - bodies[1].keys() == {"structured_outputs"}
    assert bodies[1]["messages"] == bodies[0]["messages"]


def test_a_server_that_only_says_what_it_takes_gets_nothing_else(server: HTTPServer) -> None:
    known = {"model", "messages", "stream"}
    words = '{"error": {"message": "Only these fields are allowed: model, messages, stream"}}'
    bodies = serve(server, lambda body, _: Response(words, 400) if body.keys() - known else None)
    assert ask_one(server, replace(ASKED, with_log_probability=True)).text == "Ida Larsen"
    assert bodies[-1].keys() == known


TOO_LONG = [
    (400, "This model's maximum context length is 2048 tokens. However, you requested 3000 tokens."),
    (400, "the request exceeds the available context size, try increasing it"),
    (400, "Trying to keep the first 3000 tokens when context the overflows."),
    (422, "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 2048. Given: 3000 `inputs` tokens"),
    (422, "Input validation error: `inputs` must have less than 2047 tokens. Given: 3000"),
    (400, "Prompt contains 40000 tokens and 0 draft tokens, too large for model"),
    (400, "Input is too long for requested model."),
    (400, "Too many input tokens."),
    (400, "input token count 3000 plus max_tokens 20 is more than 2048"),
    (400, "inputs tokens + max_tokens should not be greater than 4096"),
    (400, "max_tokens must be at least 1, got -952."),
    (400, "Prompt length 5000 is greater than max_seq_len 4096"),
    (400, "Range of input length should be [1, 2048]"),
    (413, "Request too large for model `m` on tokens per minute: code rate_limit_exceeded, please try again."),
    (413, "<html><title>413 Request Entity Too Large</title>"),
]


@pytest.mark.parametrize(("status", "words"), TOO_LONG)
def test_a_prompt_that_is_too_long_is_told_at_once_and_changes_nothing(
    server: HTTPServer, pauses: list[float], status: int, words: str
) -> None:
    bodies = serve(server, lambda *_: Response(words, status))
    error = ask_one(server).error or ""
    assert f"status {status}: " in error
    assert "--set web.context.max_tokens=" in error
    assert (len(bodies), pauses) == (1, [])


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (404, '{"object": "error", "message": "The model `m` does not exist.", "code": 404}'),
        (404, '{"error": {"message": "model \'m\' not found"}}'),
        (400, '{"error": {"message": "m is not a valid model ID"}}'),
        (404, '{"error": {"message": "No models loaded.", "param": "model", "code": "model_not_found"}}'),
        (400, '{"error": "could not find real modelID for m"}'),
        (404, '{"error": "no router for requested model"}'),
        (404, '{"error": {"message": "Unable to access model m.", "code": "model_not_available"}}'),
        (404, '{"error": {"message": "No endpoints found for m.", "code": 404}}'),
        (400, '{"error": {"message": "\'m\' is not served by any provider", "code": "model_not_supported"}}'),
    ],
)
def test_an_unknown_model_is_told_with_those_that_there_are(server: HTTPServer, status: int, words: str) -> None:
    server.expect_request("/v1/models").respond_with_json({"data": [{"id": "small"}, {"id": "large"}]})
    serve(server, lambda *_: Response(words, status))
    model = model_at(server.url_for("/v1"))
    model.warm_up()
    error = model.generate([ASKED], Deadline(600))[0].error or ""
    assert "it offers small, large: name one of its models, with CRAG_LLM_MODEL=NAME" in error


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ('{"Message": "User is not authorized"}', "status 400: User is not authorized"),
        ('{"detail": {"error": {"message": "deep"}}}', "status 400: deep"),
        (json.dumps({"error": {"message": '{"error": {"message": "quoted"}}'}}), "status 400: quoted"),
        (
            '{"error": {"message": "Provider returned error", "metadata": {"raw": "{\\"error\\": \\"one image\\"}"}}}',
            "status 400: one image",
        ),
        ('{"error": {"message": "no", "metadata": {"raw": ""}}}', "status 400: no"),
        ("Client sent an HTTP request to an HTTPS server.", "(write https:// in CRAG_TEST_URL)"),
    ],
)
def test_the_words_of_a_refusal_are_found(server: HTTPServer, words: str, said: str) -> None:
    serve(server, lambda *_: Response(words, 400))
    assert said in (ask_one(server).error or "")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('{"choices": null, "base_resp": {"status_code": 1004, "status_msg": "login fail"}}', "login fail"),
        ('{"errors": [{"message": "nope"}]}', "nope"),
        ('{"Response": {"Error": {"Message": "nope"}}}', "no choices"),
        (": BUSY\n\n" + '{"error": {"message": "nope"}}', "nope"),
        ("\n" * 500 + "<html><title>Sign in</title>", "a web page: Sign in"),
    ],
)
def test_an_error_under_a_status_that_says_that_all_is_well(server: HTTPServer, body: str, said: str) -> None:
    serve(server, lambda *_: Response(body))
    assert said in (ask_one(server).error or "")


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
    (401, '{"error": {"message": "Invalid\\nkey"}}', "status 401: Invalid key (CRAG_TEST_KEY is not set)", 1),
    (403, "forbidden", "status 403: forbidden", 1),
    (403, "", "status 403: no word why (CRAG_TEST_KEY is not set)", 1),
    (200, "", "the server's reply is empty", 1),
    (400, "context length is 2048 tokens; reduce the length of the messages or max_tokens", "status 400: context", 1),
    (404, '{"error": "model \\"m\\" not found"}', 'status 404: model "m" not found', 1),
    (501, "not here", "status 501: not here", 1),
    (429, "your quota is used up: see billing", "status 429", 1),
    (429, '{"message": "Please retry in 7s", "quotaId": "GenerateRequestsPerDayPerProject"}', "status 429", 1),
    (429, '{"error": {"message": "Rate limit exceeded: free-models-per-day.", "code": 429}}', "status 429: Rate", 1),
    (429, "you have used up your daily allocation", "status 429: you have", 1),
    (429, json.dumps({"error": {"message": "余额不足"}}), "status 429: 余额不足", 1),
    (502, "<html><title>Bad gateway</title></html>", "status 502: a web page: Bad gateway", 3),
    (200, '{"error": {"message": "no memory", "code": 500}}', "status 500: no memory", 3),
    (500, '{"error": {"message": "more system memory is needed"}}', "status 500: more system memory", 3),
    (424, '{"error": "Request failed during generation"}', "status 424: Request failed", 3),
    (400, '{"error": "Model is unloaded."}', "status 400: Model is unloaded.", 3),
    (400, '{"error": "The model has crashed without additional information."}', "status 400: The model has", 3),
    (400, '{"error": {"message": "Failed to load model. Error: Operation canceled."}}', "status 400: Failed", 3),
    (400, '{"error": {"message": "Failed to load model. Error: no such file."}}', "status 400: Failed", 1),
    (400, '{"error": {"message": "model is not loaded", "code": 400}}', "status 400: model is not loaded", 1),
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
    (429, {}, "quota exceeded, check your plan and billing details. Please retry in 7s", [7.0] * 5),
    (503, {"Retry-After": "2"}, "busy", [2.0] * 5),
    (429, {"Retry-After": "0"}, "slow down", [0.5, 1.0, 2.0, 4.0, 8.0]),
    (529, {}, "overloaded", [0.5, 1.0, 2.0, 4.0, 8.0]),
    (429, {}, "Please try again in 0m5.5s. Need more?", [5.5] * 5),
    (429, {}, "try again in 1m2s", [62.0] * 5),
    (429, {"Retry-After": "5s"}, "slow down", [5.0] * 5),
    (429, {"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}, "slow down", [0.5, 1.0, 2.0, 4.0, 8.0]),
    (429, {"Retry-After": "soon"}, "slow down", [0.5, 1.0, 2.0, 4.0, 8.0]),
    *((503, {}, words, [0.5, 1.0, 2.0, 4.0, 8.0]) for words in (
        "Model too busy", "no slot available", "Queue is full", "ThrottlingException", "Too many concurrent requests",
    )),
    *((503, {}, words, [1.0, 2.0, 4.0, 8.0, 8.0]) for words in (
        "The model is being loaded", "Model weights are downloading", "Model initialization in progress",
        "currently being deployed", "Pulling model", "Scaling up from zero", "cold start",
    )),
]  # fmt: skip


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


@pytest.mark.parametrize(
    ("words", "headers"),
    [
        ("slow down", {"Retry-After": "9000"}),
        ("slow down", {"Retry-After": "99999999999"}),
        ("slow down", {"Retry-After": "Wed, 21 Oct 2099 07:28:00 GMT"}),
        ("slow down", {"Retry-After": "Wed Oct 21 07:28:00 2099"}),
        ("slow down: try again in 47m12.345s. Need more?", {}),
        ("slow down: try again in 1h2m3s", {}),
        ("slow down: try again in 2 hours", {}),
    ],
)
def test_a_pause_beyond_the_deadline_is_told_at_once(
    server: HTTPServer, pauses: list[float], words: str, headers: dict[str, str]
) -> None:
    serve(server, lambda *_: Response(words, 429, headers))
    assert "status 429: slow down" in (ask_one(server).error or "")
    assert pauses == []


def test_a_long_pause_at_the_start_is_told(
    server: HTTPServer, pauses: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    serve(server, lambda _, number: Response("slow down", 429, {"Retry-After": "300"}) if number == 1 else None)
    model_at(server.url_for("/v1")).rehearse(ASKED)
    assert pauses == [300.0]
    assert [line for line in caplog.messages if line.startswith("waiting for the server at")]


@pytest.mark.parametrize("status", [401, 402, 404])
def test_a_key_or_model_that_a_server_never_takes_ends_the_start(server: HTTPServer, status: int) -> None:
    serve(server, lambda *_: Response("no such model or key", status))
    with pytest.raises(EngineUnavailableError, match=rf"the server at http.* answered with status {status}: no such"):
        model_at(server.url_for("/v1")).rehearse(ASKED)


def test_a_first_request_that_fails_is_told_at_the_start(server: HTTPServer, caplog: pytest.LogCaptureFixture) -> None:
    serve(server, lambda *_: Response('{"error": {"message": "model is not loaded"}}', 400))
    model_at(server.url_for("/v1")).rehearse(ASKED)
    [line] = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert line.startswith("the first request failed: the server at http")
    assert line.endswith("answered with status 400: model is not loaded")


def test_a_server_without_a_model_is_told_from_one_that_does_not_say(server: HTTPServer) -> None:
    server.expect_request("/v1/models").respond_with_json({"object": "list", "data": []})
    with pytest.raises(EngineUnavailableError, match="has no model: load one there"):
        model_at(server.url_for("/v1"), model="").warm_up()


@pytest.mark.parametrize(
    ("body", "said"),
    [("", "status 200: an empty reply"), ("<html><title>Home</title></html>", "status 200: a web page: Home")],
)
def test_an_address_that_lists_no_models_may_be_the_wrong_one(server: HTTPServer, body: str, said: str) -> None:
    server.expect_request("/v1/models").respond_with_data(body, content_type="text/html")
    with pytest.raises(EngineUnavailableError, match=rf"\({said}\): check the address, or name one, with"):
        model_at(server.url_for("/v1"), model="").warm_up()


def test_a_refused_key_is_told_where_the_list_of_models_is_asked_for(server: HTTPServer) -> None:
    server.expect_request("/v1/models").respond_with_json({"error": {"message": "Invalid API key"}}, status=401)
    with pytest.raises(EngineUnavailableError, match=r"status 401: Invalid API key \(CRAG_TEST_KEY is not set\)"):
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
        ({"data": [], "models": [{"name": "a:1"}]}, "a:1"),
        ({"data": {"models": [{"id": "a"}]}}, "a"),
        ({"result": [{"name": "a"}]}, "a"),
        ({"models": {"a": {"size": 1}}}, "a"),
        ({"data": {"id": "a", "object": "model"}}, "a"),
        ({"id": "a", "object": "model"}, "a"),
        ({"data": [{"model_name": "a"}]}, "a"),
        ({"data": [{"id": "org/my  model:q4"}]}, "org/my  model:q4"),
        ({"data": [{"id": "/x/" + "p" * 300}]}, "/x/" + "p" * 300),
        (
            {
                "models": [
                    {"name": "models/g", "supportedGenerationMethods": ["generateContent"]},
                    {"name": "models/v", "supportedGenerationMethods": ["predict"]},
                ]
            },
            "models/g",
        ),
        ({"models": [{"name": "c", "endpoints": ["chat"]}, {"name": "r", "endpoints": ["rank"]}]}, "c"),
        (
            {
                "data": [
                    {"id": "c", "capabilities": {"completion_chat": True}},
                    {"id": "o", "capabilities": {"completion_chat": False}},
                ]
            },
            "c",
        ),
        ({"data": [{"id": "c", "task": "image-text-to-text"}, {"id": "x", "task": "speech-recognition"}]}, "c"),
        (
            {
                "data": [
                    {"id": "a", "state": "loaded"},
                    {"id": "b"},
                    {"id": "e", "type": "embeddings", "state": "loaded"},
                ]
            },
            "a",
        ),
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
    "data over several lines": "event: message\r\n"
    + "\r\n".join(f"data: {line}" for line in ('{"choices": [{"delta":', '{"content": "Ida Larsen"}}]}'))
    + "\r\n\r\n",
    "chunks in lists": "".join(f"data: [{part}]\n\n" for part in [*PARTS, END]),
    "chunks in objects": "".join(f'data: {{"data": {part}}}\n\n' for part in [*PARTS, END]),
    "events that keep it alive": 'event: ping\ndata: {"message": "ping"}\n\n'
    + "".join(f"data: {part}\n\n" for part in [*PARTS, END]),
    "plain texts as deltas": "".join(
        f'data: {{"choices": [{{"delta": "{text}"}}]}}\n\n' for text in ("Ida", " Larsen")
    ),
    "messages as parts": "".join(
        f'data: {{"choices": [{{"message": {{"content": "{text}"}}}}]}}\n\n' for text in ("Ida", " Larsen")
    ),
    "messages that grow": "".join(
        f'data: {{"choices": [{{"message": {{"content": "{text}"}}}}]}}\n\n' for text in ("Ida", "Ida Larsen")
    ),
    "a message that is no text first": 'data: {"choices": [{"message": {"content": true}}]}\n\n'
    + "".join(f"data: {part}\n\n" for part in [*PARTS, END]),
    "an index as text": 'data: {"choices": [{"index": "0", "delta": {"content": "Ida Larsen"}}]}\n\n',
    "an index that is none": 'data: {"choices": [{"index": [], "delta": {}}]}\n\n'
    + "".join(f"data: {part}\n\n" for part in [*PARTS, END]),
    "a choice without a list": 'data: {"choices": {"delta": {"content": "Ida Larsen"}}}\n\n',
    "comments before a reply in one piece": ": BUSY\n\n: BUSY\n\n" + reply_of("Ida Larsen").get_data(as_text=True),
    "blank lines first": "\n" * 500 + "".join(f"data: {part}\n\n" for part in [*PARTS, END]),
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
        ("\n" * 500 + f'data: {PARTS[1]}\n\ndata: {{"error": {{"message": "cut"}}}}\n\n', "cut"),
        (f"data: {chunk({'tool_calls': [{'index': 0}]})}\n\ndata: {END}\n\n", "called a tool"),
        (STREAMS["usual"][:-120], "an event stream, cannot be read"),
        (": only comments\n\n", "no choices"),
    ],
)
def test_a_stream_that_fails_is_no_answer(server: HTTPServer, stream: str, said: str) -> None:
    serve(server, lambda *_: Response(stream, content_type="text/event-stream"))
    generation = ask_one(server)
    assert generation.finish_reason == "error"
    assert said in (generation.error or "")


def in_two_members(body: bytes) -> bytes:
    return gzip.compress(body[:30]) + gzip.compress(body[30:])


def deflate_without_header(body: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(body) + packer.flush()


def pack_twice(body: bytes) -> bytes:
    return gzip.compress(gzip.compress(body))


@pytest.mark.parametrize(
    ("packed", "encoding"),
    [
        (gzip.compress, "gzip"),
        (bytes, "gzip"),
        (gzip.compress, "identity, GZIP"),
        (gzip.compress, ""),
        (in_two_members, "gzip"),
        (pack_twice, "gzip, gzip"),
        (zlib.compress, "deflate"),
        (deflate_without_header, "deflate"),
        (bytes, "utf-8"),
    ],
)
def test_a_packed_reply_is_read(server: HTTPServer, packed: Callable[[bytes], bytes], encoding: str) -> None:
    body = packed(reply_of("Ida Larsen").get_data())
    serve(server, lambda *_: Response(body, headers={"Content-Encoding": encoding} if encoding else {}))
    assert ask_one(server).text == "Ida Larsen"


@pytest.mark.parametrize("encoding", ["br", "zstd"])
def test_a_packing_that_cannot_be_read_is_named(server: HTTPServer, encoding: str) -> None:
    serve(server, lambda *_: Response(b"\x1b/\x00\xf8", headers={"Content-Encoding": encoding}))
    assert f"its reply is packed as '{encoding}'" in (ask_one(server).error or "")


@pytest.mark.parametrize("declared", ["iso-8859-1", "utf-16", "utf8mb4", "hex"])
@pytest.mark.parametrize("written", ["utf-8", "utf-16"])
def test_json_is_read_as_such_whatever_is_declared(server: HTTPServer, declared: str, written: str) -> None:
    body = json.dumps({"choices": [{"message": {"content": "Zoë"}}]}, ensure_ascii=False).encode(written)
    serve(server, lambda *_: Response(body, headers={"Content-Type": f"application/json; charset={declared}"}))
    assert ask_one(server).text == "Zoë"


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
            "http://me:pass-word@proxy:port",
            r"the proxy http://proxy:port of HTTP_PROXY cannot be used: it is not an ad",
        ),
        ("http://[::1", r"the proxy http://\[::1 of HTTP_PROXY cannot be used: it is not an address"),
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
