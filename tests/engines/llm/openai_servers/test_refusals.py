"""Tests of refusals: a request that a server refuses is sent in another form, or the refusal is told in one line."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Response

from crag.core.deadline import Deadline
from tests.engines.llm.openai_servers.fakes import ASKED, ask_one, has_system, model_at, serve


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
