"""How the vllm engine ends and scores a text under a grammar, with a fake of vLLM's process.

The numbers of the real one: `test_contract.py`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from crag.core.deadline import Deadline
from crag.engines.llm import GenerationRequest
from crag.engines.llm.local_engine import LocalEngine, TokenizedRequest
from crag.engines.llm.tokenizer import ChatTokenizer
from crag.engines.llm.vllm_engine import VllmLanguageModel
from tests.engines.llm.conftest import vllm

PROMPT = [5, 6, 7]
MASKED = -0.01
"""vLLM's log-probability among what the grammar allows."""
OWN = -4.0
"""The model's own."""


class FakeProcess(VllmLanguageModel):
    """The engine whose process writes these tokens, and scores at most so many."""

    def __init__(self, model: Path, tokens: list[int], reason: str | None, most_scores: int = 100) -> None:
        LocalEngine.__init__(self, vllm(model, {}))
        self._tokens = tokens
        self._reason = reason
        self._most_scores = most_scores
        self.scored: list[tuple[list[int], int]] = []

    def _call(self, message: Mapping[str, Any], deadline: Deadline) -> dict[str, Any]:
        texts: list[dict[str, Any]] = []
        for request in message["requests"]:
            token = request.get("only_token")
            if token is None:
                tokens, score, reason = self._tokens, MASKED * len(self._tokens), self._reason
            else:
                assert (request["grammar"], request["max_tokens"], request["stop"]) == (None, 1, [])
                self.scored.append((request["prompt"], token))
                if len(self.scored) > self._most_scores:
                    continue
                tokens, score, reason = [token], OWN, "length"
            text = {"index": request["index"], "text": "?", "tokens": tokens, "log_probability": score}
            texts.append(text | {"prompt_tokens": len(request["prompt"]), "reason": reason})
        return {"texts": texts, "refusals": []}

    def write(self, grammar: str, **changes: Any) -> Any:
        """The generation of a request with this grammar."""
        request = GenerationRequest(prompt="?", grammar=grammar, **{"with_log_probability": True, **changes})
        generations: dict[int, Any] = {}
        self._answer([TokenizedRequest(0, request, PROMPT)], generations, Deadline(600))
        return generations[0]


@pytest.fixture(scope="module")
def blue(tiny_llama: Path) -> list[int]:
    return ChatTokenizer(tiny_llama).backend.encode("blue", add_special_tokens=False).ids


@pytest.fixture(scope="module")
def end(tiny_llama: Path) -> int:
    token = ChatTokenizer(tiny_llama).end_token
    assert token is not None
    return token


def test_a_forced_end_does_not_count_and_the_beginnings_come_longest_first(
    tiny_llama: Path, blue: list[int], end: int
) -> None:
    engine = FakeProcess(tiny_llama, [*blue, end], "stop")
    generation = engine.write('start: "blue"')
    assert (generation.completion_tokens, generation.finish_reason) == (len(blue), "stop")
    assert generation.mean_log_probability == pytest.approx(OWN)
    assert engine.scored == [(PROMPT + blue[:position], blue[position]) for position in reversed(range(len(blue)))]


def test_an_end_that_the_model_chose_counts(tiny_llama: Path, blue: list[int], end: int) -> None:
    engine = FakeProcess(tiny_llama, [*blue, end], "stop")
    assert engine.write('start: "blue" "r"?').completion_tokens == len(blue) + 1
    assert (PROMPT + blue, end) in engine.scored


def test_a_text_that_is_whole_at_its_limit_has_stopped(tiny_llama: Path, blue: list[int]) -> None:
    assert FakeProcess(tiny_llama, blue, "length").write('start: "blue"').finish_reason == "stop"
    assert FakeProcess(tiny_llama, blue, "length").write('start: "blue" "r"').finish_reason == "length"


@pytest.mark.parametrize(
    ("reason", "most_scores", "changes"),
    [
        (None, 100, {}),  # cut off by the deadline
        ("stop", 2, {}),  # the deadline comes while tokens are scored
        ("stop", 100, {"with_log_probability": False}),
    ],
)
def test_what_was_not_scored_whole_has_no_log_probability(
    tiny_llama: Path, blue: list[int], reason: str | None, most_scores: int, changes: dict[str, Any]
) -> None:
    generation = FakeProcess(tiny_llama, blue, reason, most_scores).write('start: "blue"', **changes)
    assert generation.mean_log_probability is None
    assert generation.text == "?"
