import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from llguidance import LLTokenizer
from peft import PeftModel
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaForCausalLM

from crag.core.deadline import Deadline
from crag.engines.llm import Generation, GenerationRequest, LanguageModelDiedError, Message
from crag.engines.llm.attention import REPEATED, attention_for
from crag.engines.llm.tokenizer import quiet_transformers
from crag.engines.llm.transformers_engine import TransformersLanguageModel
from crag.settings import TransformersEngine
from crag.weights.manifest import WeightsMissingError
from tests.engines.llm.tiny_models import build_adapter

QUESTIONS = ("who?", "Is it a lazy dog? " * 6, "five dozen", "The quick brown fox " * 3)


def ask(text: str, *, adapter: str | None = None, max_tokens: int = 12, **rest: Any) -> GenerationRequest:
    return GenerationRequest(messages=(Message("user", text),), adapter=adapter, max_tokens=max_tokens, **rest)


def load(folder: Path, adapters: dict[str, str] | None = None, **changes: Any) -> TransformersLanguageModel:
    settings = {"dtype": "float32", "device": "cpu", **changes}
    return TransformersLanguageModel(
        TransformersEngine(engine="transformers", model=str(folder), adapters=adapters or {}, **settings)
    )


@pytest.fixture(scope="module")
def tiny(tiny_llama: Path, tiny_adapters: dict[str, str]) -> Iterator[TransformersLanguageModel]:
    model = load(tiny_llama, tiny_adapters)
    model.warm_up()
    yield model
    model.close()


def reference(model: Any, folder: Path, question: str, max_tokens: int) -> tuple[str, float]:
    """Text by transformers' own greedy `generate`, and its mean log-probability by one pass over prompt and text."""
    tokenizer = AutoTokenizer.from_pretrained(str(folder))
    chat = [{"role": "user", "content": question}]
    rendered = tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
    prompt = tokenizer(rendered, add_special_tokens=False, return_tensors="pt").input_ids
    with torch.no_grad():
        whole = model.generate(prompt, do_sample=False, max_new_tokens=max_tokens, pad_token_id=0)
        log_probabilities = torch.log_softmax(model(whole).logits[0, :-1], dim=-1)
    chosen = whole[0, 1:]
    each = log_probabilities[torch.arange(len(chosen)), chosen][prompt.shape[1] - 1 :]
    return tokenizer.decode(whole[0, prompt.shape[1] :], skip_special_tokens=True), each.mean().item()


def check_against_reference(engine: TransformersLanguageModel, model: Any, folder: Path, adapter: str | None) -> None:
    """Texts of different lengths: some end while others of their batch go on."""
    lengths = (12, 5, 9, 12)
    requests = [ask(text, adapter=adapter, max_tokens=length) for text, length in zip(QUESTIONS, lengths, strict=True)]
    generations = engine.generate(requests, Deadline(600))
    for question, length, generation in zip(QUESTIONS, lengths, generations, strict=True):
        text, mean = reference(model, folder, question, length)
        assert generation.text == text
        assert generation.mean_log_probability == pytest.approx(mean, abs=1e-3)


def test_text_and_log_probability_equal_transformers_own(tiny: TransformersLanguageModel, tiny_llama: Path) -> None:
    check_against_reference(tiny, AutoModelForCausalLM.from_pretrained(str(tiny_llama)), tiny_llama, None)


@pytest.mark.parametrize("adapter", ["first", "second"])
def test_an_adapter_answers_as_if_it_were_merged_into_the_weights(
    tiny: TransformersLanguageModel, tiny_llama: Path, tiny_adapters: dict[str, str], adapter: str
) -> None:
    with quiet_transformers():
        base = AutoModelForCausalLM.from_pretrained(str(tiny_llama))
        merged = PeftModel.from_pretrained(base, tiny_adapters[adapter]).merge_and_unload()
    check_against_reference(tiny, merged, tiny_llama, adapter)


def test_an_adapter_may_have_the_name_of_a_method_of_torchs_modules(
    tiny: TransformersLanguageModel, tiny_llama: Path, tiny_adapters: dict[str, str]
) -> None:
    other = load(tiny_llama, {"train": tiny_adapters["first"], "items": tiny_adapters["second"]})
    names = {"first": "train", "second": "items"}
    for name, same in names.items():
        expected = tiny.generate([ask("who?", adapter=name)], Deadline(600))
        assert other.generate([ask("who?", adapter=same)], Deadline(600)) == expected


def test_an_adapter_that_peft_refuses_is_one_line(tiny_llama: Path, tmp_path: Path) -> None:
    adapter = build_adapter(tmp_path / "adapter", tiny_llama, seed=1, config={"modules_to_save": ["lm_head"]})
    with pytest.raises(
        WeightsMissingError, match=rf"^the adapter mine cannot be used: PEFT refuses {adapter}: .*lm_head"
    ):
        load(tiny_llama, {"mine": str(adapter)}).warm_up()


def test_a_prompt_that_does_not_fit_fails_alone(tiny: TransformersLanguageModel) -> None:
    long, short = tiny.generate([ask("fox " * 2000), ask("fox")], Deadline(600))
    assert long.finish_reason == "error"
    assert "512" in (long.error or "")
    assert short.finish_reason in {"stop", "length"}


def test_a_batch_that_fails_is_tried_request_by_request(
    tiny: TransformersLanguageModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoder = tiny._decoder
    assert decoder is not None
    run = decoder.run

    def fragile(rows: Any, deadline: Deadline) -> list[Generation]:
        if any(row.request.messages[0].content == "bad" for row in rows):
            raise torch.cuda.OutOfMemoryError("no memory for this one")
        return run(rows, deadline)

    monkeypatch.setattr(decoder, "run", fragile)
    first, bad, last = tiny.generate([ask("one"), ask("bad"), ask("two")], Deadline(600))
    assert bad.finish_reason == "error"
    assert "OutOfMemoryError: no memory for this one" in (bad.error or "")
    assert {first.finish_reason, last.finish_reason} <= {"stop", "length"}


def test_a_broken_gpu_is_a_dead_engine(tiny: TransformersLanguageModel, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: Any, **more: Any) -> None:
        raise torch.AcceleratorError("CUDA error: an illegal memory access was encountered")

    monkeypatch.setattr(LlamaForCausalLM, "forward", broken)
    with pytest.raises(LanguageModelDiedError, match="illegal memory access"):
        tiny.generate([ask("one")], Deadline(600))


CALLS = """
start: statement ("\\n" statement)?
statement: name "(" NUMBER ")"
name: "get_film" | "get_song"
NUMBER: /[0-9]{1,4}/
"""


def test_whatever_the_model_prefers_the_grammar_holds(tiny: TransformersLanguageModel) -> None:
    requests = [GenerationRequest(prompt="x " * n, grammar=CALLS, max_tokens=60, temperature=1.5) for n in range(1, 9)]
    free = GenerationRequest(prompt="x x", max_tokens=10)
    *bound, unbound = tiny.generate([*requests, free], Deadline(600))
    pattern = re.compile(r"get_(film|song)\([0-9]{1,4}\)(\nget_(film|song)\([0-9]{1,4}\))?")
    for generation in bound:
        assert pattern.fullmatch(generation.text)
        assert generation.finish_reason == "stop"
    assert len({generation.text for generation in bound}) > 1
    assert not pattern.fullmatch(unbound.text)


def test_a_grammar_with_an_llguidance_that_takes_one_end_token(
    tiny_llama: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As 1.3.0 does, the version that vLLM 0.19.1 wants."""

    def build(backend: str, *, n_vocab: int, eos_token: int, slices: list[str]) -> LLTokenizer:
        if not isinstance(eos_token, int):
            raise TypeError("argument 'eos_token': 'list' object cannot be interpreted as an integer")
        return LLTokenizer(backend, n_vocab=n_vocab, eos_token=eos_token, slices=slices)

    monkeypatch.setattr("crag.engines.llm.grammar.LLTokenizer", build)
    request = GenerationRequest(prompt="Colour:", grammar='start: "blue" | "green"')
    (generation,) = load(tiny_llama).generate([request], Deadline(600))
    assert generation.text in {"blue", "green"}


def test_a_wrong_grammar_fails_its_own_request_with_its_place(tiny: TransformersLanguageModel) -> None:
    wrong, right = tiny.generate(
        [GenerationRequest(prompt="x", grammar="start: missing"), GenerationRequest(prompt="x")], Deadline(600)
    )
    assert wrong.finish_reason == "error"
    assert "missing" in (wrong.error or "")
    assert right.finish_reason in {"stop", "length"}


def test_on_a_card_without_flash_attention_no_scores_are_kept_and_the_text_is_the_same(
    tiny: TransformersLanguageModel, tiny_llama: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A prompt alone has no mask: transformers would let torch share keys among heads, which takes all scores."""
    shared: list[bool] = []
    attend = torch.nn.functional.scaled_dot_product_attention

    def watched(*tensors: Any, **more: Any) -> Any:
        shared.append(more.get("enable_gqa", False))
        return attend(*tensors, **more)

    monkeypatch.setattr("torch.nn.functional.scaled_dot_product_attention", watched)
    question = [ask(QUESTIONS[1])]
    (usual,) = tiny.generate(question, Deadline(600))
    assert any(shared)
    shared.clear()
    with monkeypatch.context() as turing:
        turing.setattr("torch.cuda.is_available", lambda: True)
        turing.setattr("torch.cuda.device_count", lambda: 4)
        turing.setattr("torch.cuda.get_device_capability", lambda card: (7, 5))
        assert [attention_for(device) for device in ("auto", "cuda:1", "cpu")] == [REPEATED, REPEATED, "sdpa"]
    monkeypatch.setattr("crag.engines.llm.transformers_engine.attention_for", lambda device: REPEATED)
    other = load(tiny_llama)
    (found,) = other.generate(question, Deadline(600))
    other.close()
    assert set(shared) == {False}
    assert found.text == usual.text
