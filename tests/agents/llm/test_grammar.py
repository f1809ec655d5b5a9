import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.deadline import Deadline
from agents.llm import GenerationRequest
from agents.llm.transformers_engine import TransformersLanguageModel
from agents.settings import TransformersEngine

CALLS = """
start: statement ("\\n" statement)?
statement: name "(" NUMBER ")"
name: "get_film" | "get_song"
NUMBER: /[0-9]{1,4}/
"""


@pytest.fixture(scope="module")
def tiny(tiny_llama: Path) -> Iterator[TransformersLanguageModel]:
    settings = TransformersEngine(engine="transformers", model=str(tiny_llama), dtype="float32", device="cpu")
    model = TransformersLanguageModel(settings)
    yield model
    model.close()


def test_whatever_the_model_prefers_the_grammar_holds(tiny: TransformersLanguageModel) -> None:
    pytest.importorskip("llguidance", reason="pip install llguidance==1.9.1")
    requests = [GenerationRequest(prompt="x " * n, grammar=CALLS, max_tokens=60, temperature=1.5) for n in range(1, 9)]
    free = GenerationRequest(prompt="x x", max_tokens=10)
    *bound, unbound = tiny.generate([*requests, free], Deadline(60))
    pattern = re.compile(r"get_(film|song)\([0-9]{1,4}\)(\nget_(film|song)\([0-9]{1,4}\))?")
    for generation in bound:
        assert pattern.fullmatch(generation.text)
        assert generation.finish_reason == "stop"
    assert len({generation.text for generation in bound}) > 1
    assert not pattern.fullmatch(unbound.text)


def test_a_wrong_grammar_fails_its_own_request_with_its_place(tiny: TransformersLanguageModel) -> None:
    pytest.importorskip("llguidance", reason="pip install llguidance==1.9.1")
    wrong, right = tiny.generate(
        [GenerationRequest(prompt="x", grammar="start: missing"), GenerationRequest(prompt="x")], Deadline(60)
    )
    assert wrong.finish_reason == "error"
    assert "missing" in (wrong.error or "")
    assert right.finish_reason in {"stop", "length"}


def test_without_llguidance_the_request_fails_and_says_what_to_install(
    tiny_llama: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "llguidance.hf", None)
    settings = TransformersEngine(engine="transformers", model=str(tiny_llama), dtype="float32", device="cpu")
    (generation,) = TransformersLanguageModel(settings).generate(
        [GenerationRequest(prompt="x", grammar=CALLS)], Deadline(60)
    )
    assert generation.finish_reason == "error"
    assert "pip install llguidance" in (generation.error or "")
