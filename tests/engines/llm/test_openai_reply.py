"""The forms in which servers send one reply."""

import json
from typing import Any

import pytest

from crag.engines.llm.openai_reply import read_reply


def body_of(message: dict[str, Any], **choice: Any) -> str:
    return json.dumps({"choices": [{"message": message, **choice}]})


@pytest.mark.parametrize(
    "content",
    [
        "Ida Larsen",
        [{"type": "text", "text": "Ida Larsen"}],
        [{"type": "text", "text": "Ida "}, {"type": "text", "text": "Larsen"}],
        [{"type": "output_text", "text": "Ida Larsen", "annotations": []}],
        [{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}, {"type": "text", "text": "Ida Larsen"}],
        [{"type": "reasoning", "text": "Hm."}, {"type": "text", "text": "Ida Larsen"}],
        [{"type": "text", "text": {"value": "Ida Larsen"}}],
        [{"text": "Ida Larsen"}, {"type": "image_url", "image_url": {}}, None],
        ["Ida ", "Larsen"],
        {"type": "text", "text": "Ida Larsen"},
        [{"type": "text_delta", "text": "Ida "}, {"type": "markdown", "text": "Larsen"}],
        [{"type": None, "text": "Ida Larsen"}],
        [{"type": "text", "content": "Ida Larsen"}],
        [{"type": "tool_use", "input": {}, "text": "x"}, {"type": "text", "text": "Ida Larsen"}],
        [{"type": "message", "content": [{"type": "output_text", "text": "Ida Larsen"}]}],
        [{"type": "summary_text", "text": "Hm."}, {"type": "text", "text": "Ida Larsen"}],
        [{"type": "text", "text": "Ida Larsen"}, {"type": "citation", "text": " [1]"}],
        {"role": "model", "parts": [{"thought": True, "text": "Hm."}, {"text": "Ida Larsen"}]},
    ],
)
def test_the_text_parts_of_a_content_are_joined(content: object) -> None:
    assert read_reply(body_of({"content": content}), 20).text == "Ida Larsen"


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        *((reason, "stop") for reason in ("eos_token", "stop_sequence", "end_turn", "STOP", "COMPLETE", "", None, 3)),
        *((reason, "stop") for reason in ("tool_calls", "error", "abort", {"type": "stop"}, "insufficient_resource")),
        *((reason, "length") for reason in ("length", "max_tokens", "MAX_TOKENS", "model_length")),
        *((reason, "length") for reason in ("max_new_tokens", "FinishReason.MAX_TOKENS", "max-tokens", "maxTokens")),
        *((reason, "length") for reason in ("length_limit", "model_context_window_exceeded")),
        *(
            (reason, "error")
            for reason in ("content_filter", "SAFETY", "RECITATION", "guardrail_intervened", "refusal")
        ),
    ],
)
def test_a_text_is_used_whatever_its_end_is_called_unless_a_filter_ended_it(reason: object, finish: str) -> None:
    generation = read_reply(body_of({"content": "Ida Larsen"}, finish_reason=reason), 20)
    assert (generation.text, generation.finish_reason) == ("" if finish == "error" else "Ida Larsen", finish)
    assert (generation.error is None) == (finish != "error")


@pytest.mark.parametrize(
    "message",
    [
        {"content": None, "refusal": "I cannot help."},
        {"content": None, "refusal": "I cannot help.", "reasoning_content": "She did, I think."},
        {"content": []},
        {"content": [{"type": "thinking", "thinking": "She did."}]},
    ],
)
def test_a_reply_without_a_text_is_empty_and_no_fault(message: dict[str, Any]) -> None:
    generation = read_reply(body_of(message, finish_reason="stop"), 20)
    assert (generation.text, generation.finish_reason) == ("", "stop")


@pytest.mark.parametrize(
    "message",
    [
        {"content": None, "reasoning_content": "Ida Larsen"},
        {"content": "", "reasoning": "Ida Larsen"},
        {"reasoning_content": "Ida Larsen"},
    ],
)
@pytest.mark.parametrize(
    ("reason", "tokens", "text"),
    [("stop", 2, "Ida Larsen"), ("stop", 0, "Ida Larsen"), ("stop", 21, ""), ("length", 20, ""), ("abort", 2, "")],
)
def test_an_answer_that_a_server_files_as_a_thought_counts_if_it_is_whole_and_as_short_as_one(
    message: dict[str, Any], reason: str, tokens: int, text: str
) -> None:
    choice = {"message": message, "finish_reason": reason}
    body = json.dumps({"choices": [choice], "usage": {"completion_tokens": tokens}})
    assert read_reply(body, 20).text == text


def test_a_text_behind_a_mark_that_the_server_overlooked_is_found() -> None:
    message = {"content": None, "reasoning_content": "She did.</think>\n\nIda Larsen"}
    assert read_reply(body_of(message), 20).text == "Ida Larsen"


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        ({"finish_reason": "error", "error": {"message": "provider failed"}}, "provider failed"),
        ({"finish_reason": "tool_calls"}, "tool_calls"),
        ({"finish_reason": "abort"}, "abort"),
        *(
            ({"finish_reason": reason}, reason)
            for reason in ("network_error", "insufficient_system_resource", "canceled", "MALFORMED_FUNCTION_CALL")
        ),
        ({"finish_reason": "timeout", "message": {"content": None, "reasoning": "Hm"}}, "timeout"),
        ({"finish_reason": "stop", "message": {"content": None, "tool_calls": [{"id": "1"}]}}, "called a tool"),
        ({"finish_reason": "stop", "message": {"content": "", "function_call": {"name": "f"}}}, "called a tool"),
    ],
)
def test_no_text_and_a_fault_say_which(choice: dict[str, Any], said: str) -> None:
    generation = read_reply(json.dumps({"choices": [{"message": {"content": None}, **choice}]}), 20)
    assert generation.finish_reason == "error"
    assert said in (generation.error or "")


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ('{"choices": [{"message": {"content": 1987}}]}', "1987"),
        ('{"choices": [{"message": "Ida Larsen"}]}', "Ida Larsen"),
        ('{"choices": [{"message": [{"role": "assistant", "content": "Ida Larsen"}]}]}', "Ida Larsen"),
        ('{"choices": [{"message": {"content": "Ida\nLarsen"}}]}', "Ida\nLarsen"),
        ('{"choices": [{"message": {"content": "Ida \\ud83dLarsen"}}]}', "Ida \ufffdLarsen"),
        ('{"choices": [{"message": {"content": "Ida Larsen"}}]}\ndata: [DONE]\n\n', "Ida Larsen"),
        ('[{"choices": [{"message": {"content": "Ida Larsen"}}]}]', "Ida Larsen"),
        ('{"choices": {"message": {"content": "Ida Larsen"}}}', "Ida Larsen"),
        ('{"choices": [null, {"message": {"content": "Ida Larsen"}}]}', "Ida Larsen"),
        ('{"code": 0, "data": {"choices": [{"message": {"content": "Ida Larsen"}}]}}', "Ida Larsen"),
        ('{"data": [{"choices": [{"message": {"content": "Ida Larsen"}}]}]}', "Ida Larsen"),
        ('{"success": true, "result": {"choices": [{"text": "Ida Larsen"}]}}', "Ida Larsen"),
        (json.dumps('{"choices": [{"message": {"content": "Ida Larsen"}}]}'), "Ida Larsen"),
    ],
)
def test_a_body_that_is_not_quite_right_costs_no_answer(body: str, text: str) -> None:
    assert read_reply(body, 20).text == text


@pytest.mark.parametrize(
    "body",
    [
        '{"choices": null, "usage": {}}',
        '{"choices": []}',
        '{"object": "response", "output": [{"type": "message", "content": [{"text": "Ida Larsen"}]}]}',
        '{"type": "message", "content": [{"type": "text", "text": "Ida Larsen"}], "stop_reason": "end_turn"}',
        '{"message": {"role": "assistant", "content": "Ida Larsen"}, "done": true}',
        '{"candidates": [{"content": {"parts": [{"text": "Ida Larsen"}]}}]}',
        '[{"generated_text": "Ida Larsen"}]',
    ],
)
def test_a_reply_of_another_protocol_is_told_as_one(body: str) -> None:
    error = read_reply(body, 20).error or ""
    assert "no choices, so it is none of OpenAI's protocol" in error
    assert "\n" not in error


TOOL_CALL = {"message": {"content": None, "tool_calls": [{"id": "1"}]}, "finish_reason": "tool_calls"}
ANSWER = {"message": {"content": "Ida Larsen"}, "finish_reason": "stop"}
OTHER = {"message": {"content": "Bo"}, "finish_reason": "stop"}


@pytest.mark.parametrize(
    "choices",
    [
        [{"index": 0, **ANSWER}, {"index": 1, **OTHER}],
        [{"index": 1, **OTHER}, {"index": 0, **ANSWER}],
        [{"index": 0, **TOOL_CALL}, {"index": 1, **ANSWER}],
        [ANSWER, OTHER],
        [{"index": 0, "message": {"content": [{"type": "text", "text": "Ida Larsen"}]}}, {"index": 1, **OTHER}],
        [{"index": 0, "text": "Ida Larsen"}, {"index": 1, "text": "Bo"}],
    ],
)
def test_of_several_choices_the_first_with_a_text_counts(choices: list[dict[str, Any]]) -> None:
    assert read_reply(json.dumps({"choices": choices}), 20).text == "Ida Larsen"


def tokens_of(*pairs: tuple[str, float | None]) -> dict[str, Any]:
    return {"content": [{"token": token, "logprob": value, "top_logprobs": []} for token, value in pairs]}


MEANS: dict[str, tuple[dict[str, Any], int, str, float | None]] = {
    "all tokens": (tokens_of(("Ida", -0.2), (" Larsen", -0.4)), 2, "Ida Larsen", -0.3),
    "the end is counted and not listed": (tokens_of(("Ida", -0.2), (" Larsen", -0.4)), 3, "Ida Larsen", -0.3),
    "a null is not a value": (tokens_of(("Ida", None), (" Larsen", -0.4)), 3, "Ida Larsen", -0.4),
    "a null in the older form": (
        {"tokens": ["Ida", " Larsen"], "token_logprobs": [None, -0.4]}, 2, "Ida Larsen", -0.4,
    ),
    "only nulls": (tokens_of(("Ida", None), (" Larsen", None)), 2, "Ida Larsen", None),
    "tokens are left out": (tokens_of((" Larsen", -0.1)), 9, "Ida Amalia Larsen", None),
    "tokens are left out and not counted": (tokens_of(("a", -0.1)), 0, "Ida Amalia Larsen", None),
    "not counted and complete": (tokens_of(("Ida", -0.2), (" Larsen", -0.4)), 0, "Ida Larsen", -0.3),
    "those of the thoughts do not count": (
        tokens_of(("<think>", -9.0), ("Hm", -9.0), ("</think>", -9.0), ("Ida", -0.2), (" Larsen", -0.4)),
        5, "<think>Hm</think>Ida Larsen", -0.3,
    ),
    "numbers as text": (
        {"tokens": ["Ida", " Larsen"], "token_logprobs": ["-0.2", "n/a"]}, 2, "Ida Larsen", -0.2,
    ),
    "a token is missing": ({"content": [None, {"token": " Larsen", "logprob": -0.4}]}, 2, "Ida Larsen", -0.4),
    "not a number": (tokens_of(("Ida", float("nan")), (" Larsen", -0.4)), 2, "Ida Larsen", None),
    "the number that stands for very unlikely": (tokens_of(("Ida", -9999.0), (" Larsen", -0.4)), 2, "Ida Larsen", None),
    "bare numbers": ({"content": [-0.2, -0.4]}, 2, "Ida Larsen", None),
    "a text where a list should be": ({"content": "none", "tokens": "Ida Larsen"}, 2, "Ida Larsen", None),
    "none where an object should be": ({"content": None}, 2, "Ida Larsen", None),
}  # fmt: skip


@pytest.mark.parametrize(("log_probabilities", "count", "text", "mean"), MEANS.values(), ids=MEANS)
def test_the_mean_is_over_the_tokens_of_the_text_or_unknown(
    log_probabilities: dict[str, Any], count: int, text: str, mean: float | None
) -> None:
    choice = {"message": {"content": text}, "logprobs": log_probabilities}
    body = json.dumps({"choices": [choice], "usage": {"prompt_tokens": 9, "completion_tokens": count}})
    generation = read_reply(body, 20)
    assert generation.mean_log_probability == (None if mean is None else pytest.approx(mean))
    assert generation.completion_tokens == count


@pytest.mark.parametrize(
    ("tokens", "mean"),
    [
        ([("Hm", -9.0), ("</think>", -9.0), ("\n\n", -9.0), ("Ida", -0.2), (" Larsen", -0.4)], -0.3),
        ([("Hm", -9.0), ("</think>", -9.0), ("Ida", -0.2), (" Larsen", -0.4), ("<|im_end|>", -0.6)], -0.4),
        ([("Ida", -0.2), (" Larsen", -0.4)], -0.3),
        ([("token_id:7", -9.0), ("token_id:8", -9.0), ("token_id:9", -0.2)], None),
    ],
)
@pytest.mark.parametrize(
    "message",
    [{"content": "Ida Larsen", "reasoning_content": "Hm"}, {"content": "Ida Larsen", "reasoning": "Hm"}],
)
def test_thoughts_that_are_kept_apart_do_not_count(
    message: dict[str, Any], tokens: list[tuple[str, float | None]], mean: float | None
) -> None:
    choice = {"message": message, "logprobs": tokens_of(*tokens)}
    generation = read_reply(json.dumps({"choices": [choice], "usage": {"completion_tokens": len(tokens)}}), 20)
    assert generation.mean_log_probability == (None if mean is None else pytest.approx(mean))


@pytest.mark.parametrize("usage", [None, {}, [1], "none", {"prompt_tokens": "many"}, {"completion_tokens": -2}])
def test_strange_counts_cost_no_answer(usage: object) -> None:
    body = json.dumps({"choices": [{"message": {"content": "Ida Larsen"}, "logprobs": []}], "usage": usage})
    assert read_reply(body, 20).text == "Ida Larsen"


def test_counts_may_be_floats() -> None:
    usage = {"prompt_tokens": 90.0, "completion_tokens": 2.0}
    body = json.dumps({"choices": [{"message": {"content": "Ida Larsen"}}], "usage": usage})
    generation = read_reply(body, 20)
    assert (generation.prompt_tokens, generation.completion_tokens) == (90, 2)


def test_blanks_and_a_mark_of_order_before_the_body_are_skipped() -> None:
    assert read_reply("\ufeff\n\n  " + body_of({"content": "Ida Larsen"}), 20).text == "Ida Larsen"


@pytest.mark.parametrize(
    ("choice", "text"), [({"message": {"content": "\n\nIda\n\nShe"}}, "Ida"), ({"text": "\n\nIda\n\nShe"}, "")]
)
def test_blanks_before_a_turn_are_no_stop_string_and_those_behind_a_prompt_are(
    choice: dict[str, Any], text: str
) -> None:
    assert read_reply(json.dumps({"choices": [choice]}), 20, ("\n\n",)).text == text


def test_an_ignored_stop_string_cuts_here() -> None:
    body = body_of({"content": "<think>a\n\nb</think>Ida Larsen\n\nShe taught."})
    assert read_reply(body, 20, ("\n\n", "")).text == "Ida Larsen"
