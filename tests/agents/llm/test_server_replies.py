import json

import pytest

from agents.llm.openai_engine import read_reply


def test_a_chat_reply_is_read() -> None:
    body = {
        "choices": [
            {
                "message": {"role": "assistant", "content": "Paris", "refusal": None},
                "finish_reason": "stop",
                "logprobs": {"content": [{"token": "Par", "logprob": -0.5}, {"token": "is", "logprob": -0.1}]},
            }
        ],
        "usage": {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9},
    }
    generation = read_reply(json.dumps(body))
    assert (generation.text, generation.prompt_tokens, generation.completion_tokens) == ("Paris", 7, 2)
    assert generation.mean_log_probability == pytest.approx(-0.3)
    assert generation.finish_reason == "stop"


def test_what_a_server_leaves_out_is_none_or_zero() -> None:
    generation = read_reply('{"choices": [{"text": "Paris", "finish_reason": "length"}]}')
    assert (generation.text, generation.mean_log_probability, generation.prompt_tokens) == ("Paris", None, 0)
    assert generation.finish_reason == "length"


def test_unfit_log_probabilities_are_no_number() -> None:
    body = '{"choices": [{"text": "x", "logprobs": {"token_logprobs": [null, -Infinity, -1]}}]}'
    assert read_reply(body).mean_log_probability is None


@pytest.mark.parametrize(
    "body",
    [
        "",
        "<html>502</html>",
        "{}",
        "[]",
        "null",
        '{"choices": []}',
        '{"choices": [{}]}',
        '{"choices": [{"message": "Paris"}]}',
        '{"choices": [{"message": {"content": 5}}]}',
        '{"choices": [{"text": "a", "logprobs": {"content": "b"}}]}',
        '{"choices": [{"text": "half',
        "[" * 100_000,
    ],
)
def test_any_other_body_is_a_failed_generation_that_says_why(body: str) -> None:
    generation = read_reply(body)
    assert generation.finish_reason == "error"
    assert "reply" in (generation.error or "")


def test_lone_surrogates_do_not_get_through() -> None:
    generation = read_reply('{"choices": [{"text": "a\\ud83db"}]}')
    generation.text.encode("utf-8")


def test_an_unknown_end_is_an_error_with_its_name() -> None:
    generation = read_reply('{"choices": [{"text": "a", "finish_reason": "content_filter"}]}')
    assert generation.finish_reason == "error"
    assert "content_filter" in (generation.error or "")
