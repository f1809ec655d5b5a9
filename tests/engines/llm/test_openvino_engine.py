"""The int8 engine beside the float32 one: what rounding may change and what it must not."""

import json
import mmap
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crag.core.deadline import Deadline
from crag.engines.llm import (
    EngineUnavailableError,
    Generation,
    GenerationRequest,
    Message,
    load_language_model,
)
from crag.engines.llm.decoding import Logits
from crag.engines.llm.openvino_engine import OpenvinoModel, mapped_spans
from crag.engines.llm.transformers_engine import TransformersModel
from crag.settings import OpenvinoEngine, TransformersEngine
from crag.weights.conversion.int8 import INT8_FILES, quantise, write_int8
from crag.weights.manifest import WeightsMissingError, locate

PROMPTS = [[5, 77, 130, 9, 200, 41], [260, 3, 3, 91, 17, 300], [12, 8, 250, 33, 61, 90]]


def settings(model: Path | str, adapters: dict[str, str] | None = None) -> OpenvinoEngine:
    return OpenvinoEngine(engine="openvino", model=str(model), adapters=adapters or {}, max_model_tokens=512)


def reference(model: Path | str) -> TransformersModel:
    return TransformersModel(TransformersEngine(engine="transformers", model=str(model), dtype="float32", device="cpu"))


def logits(model: Any, prompts: list[list[int]]) -> Logits:
    """Of the token after each prompt; read in two steps, so that the second needs the cache of the first."""
    tokens = np.array(prompts)
    mask = np.ones_like(tokens)
    positions = mask.cumsum(1) - 1
    _, cache = model.step(tokens[:, :4], mask[:, :4], positions[:, :4], None)
    last: Logits = model.step(tokens[:, 4:], mask, positions[:, 4:], cache)[0][:, -1]
    return last.copy()  # the next step overwrites them


def likeness(first: Logits, second: Logits) -> float:
    """The smallest cosine of the rows."""
    norms = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    return float(((first * second).sum(axis=1) / norms).min())


@pytest.fixture(scope="module")
def pair(tiny_llama: Path) -> tuple[OpenvinoModel, TransformersModel]:
    return OpenvinoModel(tiny_llama), reference(tiny_llama)


def test_logits_are_those_of_transformers_up_to_rounding(pair: tuple[OpenvinoModel, TransformersModel]) -> None:
    ours, theirs = (logits(model, PROMPTS) for model in pair)
    assert likeness(ours, theirs) > 0.995
    assert likeness(ours, theirs[::-1]) < 0.97


def test_a_text_is_continued_alike_whatever_was_read_before_and_beside_it(
    pair: tuple[OpenvinoModel, TransformersModel],
) -> None:
    model = pair[0]
    alone = logits(model, PROMPTS[:1])
    np.testing.assert_allclose(logits(model, PROMPTS)[:1], alone, atol=0.02, rtol=0.02)
    tokens, mask = np.array([[0, 0, *PROMPTS[0]], [7] * 8]), np.ones((2, 8), np.int64)
    mask[0, :2] = 0
    padded, _ = model.step(tokens, mask, (mask.cumsum(1) - 1).clip(min=0), None)
    np.testing.assert_allclose(padded[:1, -1], alone, atol=0.02, rtol=0.02)


RULES = "the lazy dog jumps over the box. "
OTHERS = "pack my box with five dozen jugs, "


def ask(text: str, adapter: str | None = None, rules: str = RULES) -> GenerationRequest:
    """What follows the rules decides the answer, and the rules do."""
    messages = (Message("system", f"{rules}it is {len(text)}"), Message("user", text))
    return GenerationRequest(messages=messages, adapter=adapter, max_tokens=6, shared_prefix=rules)


def test_answers_after_a_shared_prefix_are_the_same_whatever_was_asked_before(
    tiny_llama: Path, tiny_adapters: dict[str, str]
) -> None:
    """To the last bit: rounding is the same, because the model never reads in another way what it knows already."""
    batches = [
        [ask("the quick fox")],
        [ask("is it?", "first"), ask("brown " * 9), ask("is it?"), ask("is it?", "second"), ask("a box", rules=OTHERS)],
        [ask("fox " * 30), GenerationRequest(prompt="the dog", max_tokens=6), ask("is it?", "first")],
        [ask("is it?")],
    ]

    def answer(order: Sequence[int]) -> list[list[Generation]]:
        engine = load_language_model(settings(tiny_llama, tiny_adapters))
        answers = {number: engine.generate(batches[number], Deadline(600)) for number in order}
        engine.close()
        return [answers[number] for number in sorted(answers)]

    forwards = answer([0, 1, 2, 3])
    assert answer([3, 2, 1, 0, 3, 1]) == forwards
    assert [answer([number]) for number in range(4)] == [[batch] for batch in forwards]
    assert len({generation.text for batch in forwards for generation in batch}) > 5


def test_a_shared_prefix_changes_an_answer_by_rounding_only(
    tiny_llama: Path, tiny_adapters: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = [ask("fox"), ask("dog " * 9), ask("fox", "first"), ask("fox", rules=OTHERS), ask("dog " * 30, rules="")]
    requests = [replace(request, max_tokens=1) for request in asked]
    engine = load_language_model(settings(tiny_llama, tiny_adapters))
    continued = engine.generate(requests, Deadline(600))
    monkeypatch.setattr(OpenvinoModel, "keeps_prefixes", False)
    whole = engine.generate(requests, Deadline(600))
    assert [each.text for each in continued] == [each.text for each in whole]
    assert [each.first_entropy for each in continued] == pytest.approx([each.first_entropy for each in whole], abs=0.02)


@pytest.mark.models
def test_a_real_model_begins_its_answers_alike(smollm2: str) -> None:
    tokenizer = load_language_model(settings(smollm2))._tokenizer  # type: ignore[attr-defined]
    ours, theirs = OpenvinoModel(locate(smollm2)), reference(smollm2)
    lines = Path(__file__).parents[3].joinpath("docs", "evaluation.md").read_text(encoding="utf-8").split("\n\n")
    prompts = [list(tokenizer.backend.encode(line, add_special_tokens=False).ids) for line in lines]
    prompts = [prompt for prompt in prompts if 8 <= len(prompt) <= 200][:40]
    same = sum(logits(ours, [prompt]).argmax() == logits(theirs, [prompt]).argmax() for prompt in prompts)
    assert len(prompts) >= 20
    assert same >= 0.85 * len(prompts)


def test_rows_of_a_matrix_are_rounded_each_by_its_own_scale() -> None:
    matrix = np.random.default_rng(0).standard_normal((20, 64)).astype(np.float32) * [
        [10.0 ** (i % 4)] for i in range(20)
    ]
    matrix[3] = 0
    integers, scale = quantise(matrix)
    assert abs(integers).max() == 127
    assert (abs(integers * scale.astype("float32") - matrix) <= 0.51 * scale + 127 * abs(scale) * 2**-11).all()
    assert not integers[3].any()


def test_weights_that_are_missing_or_broken_are_one_line_with_the_remedy(tmp_path: Path, tiny_llama: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(tiny_llama, folder, ignore=shutil.ignore_patterns("*.blob"))
    weights, graph = (folder / name for name in INT8_FILES)
    whole = weights.read_bytes()
    weights.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(EngineUnavailableError, match=rf"{folder}/int8 .*crag models int8 {folder}"):
        load_language_model(settings(folder)).warm_up()
    graph.unlink()
    with pytest.raises(WeightsMissingError, match=rf"crag models int8 {folder}"):
        load_language_model(settings(folder)).check_weights()


def test_what_openvino_has_compiled_is_kept_and_made_again_if_it_is_damaged(tmp_path: Path, tiny_llama: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(tiny_llama, folder, ignore=shutil.ignore_patterns("*.blob"))
    expected = logits(OpenvinoModel(folder), PROMPTS)
    (kept,) = (folder / "int8").glob("*.blob")
    assert (logits(OpenvinoModel(folder), PROMPTS) == expected).all()
    kept.chmod(0o644)
    kept.write_bytes(b"damaged")
    assert (logits(OpenvinoModel(folder), PROMPTS) == expected).all()
    assert kept.stat().st_size > len(b"damaged")


@pytest.mark.skipif(not Path("/proc/self/maps").is_file(), reason="this system does not list a process's mappings")
def test_a_mapped_file_is_found_through_a_symbolic_link(tmp_path: Path) -> None:
    weights = tmp_path / "model.bin"
    weights.write_bytes(bytes(2 * mmap.PAGESIZE))
    (tmp_path / "link").symlink_to(tmp_path, target_is_directory=True)
    assert mapped_spans(weights) == []
    with weights.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ):
        ((start, end),) = mapped_spans(tmp_path / "link" / "model.bin")
    assert end - start == 2 * mmap.PAGESIZE


def test_another_family_of_models_is_refused(tmp_path: Path, tiny_llama: Path) -> None:
    config = json.loads((tiny_llama / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | {"model_type": "mamba"}))
    with pytest.raises(ValueError, match="mamba"):
        write_int8(tmp_path, iter(()))


def test_without_openvino_the_model_runs_on_transformers(
    tiny_llama: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("crag.engines.llm.find_spec", lambda name: None)
    engine = load_language_model(settings(tiny_llama))
    assert type(engine).__name__ == "TransformersLanguageModel"
    assert "openvino" in caplog.text
    (generation,) = engine.generate([GenerationRequest(prompt="The quick", max_tokens=3)], Deadline(600))
    assert generation.finish_reason == "length"
