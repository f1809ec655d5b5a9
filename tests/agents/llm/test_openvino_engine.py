"""The int8 engine beside the float32 one: what rounding may change and what it must not."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agents.common.deadline import Deadline
from agents.llm import EngineUnavailableError, GenerationRequest, load_language_model
from agents.llm.decoding import Logits
from agents.llm.openvino_engine import AdapterError, OpenvinoModel, read_adapter
from agents.llm.transformers_engine import TransformersModel
from agents.settings import OpenvinoEngine, TransformersEngine
from models.int8 import INT8_FILE, quantised
from models.manifest import WeightsMissingError
from tests.agents.llm.tiny_models import build_adapter

PROMPTS = [[5, 77, 130, 9, 200, 41], [260, 3, 3, 91, 17, 300], [12, 8, 250, 33, 61, 90]]


def settings(model: Path | str, adapters: dict[str, str] | None = None) -> OpenvinoEngine:
    return OpenvinoEngine(engine="openvino", model=str(model), adapters=adapters or {})


def reference(model: Path | str, adapters: dict[str, str] | None = None) -> TransformersModel:
    return TransformersModel(
        TransformersEngine(
            engine="transformers", model=str(model), dtype="float32", device="cpu", adapters=adapters or {}
        )
    )


def logits(model: Any, adapter: str | None, prompts: list[list[int]]) -> Logits:
    """Of the token after each prompt; read in two steps, so that the second needs the cache of the first."""
    tokens = np.array(prompts)
    mask = np.ones_like(tokens)
    positions = mask.cumsum(1) - 1
    with model.adapter(adapter):
        _, cache = model.step(tokens[:, :4], mask[:, :4], positions[:, :4], None)
        last: Logits = model.step(tokens[:, 4:], mask, positions[:, 4:], cache)[0][:, -1]
    return last


def likeness(first: Logits, second: Logits) -> float:
    """The smallest cosine of the rows."""
    norms = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    return float(((first * second).sum(axis=1) / norms).min())


@pytest.fixture(scope="module")
def pair(tiny_llama: Path, tiny_adapters: dict[str, str]) -> tuple[OpenvinoModel, TransformersModel]:
    return OpenvinoModel(settings(tiny_llama, tiny_adapters)), reference(tiny_llama, tiny_adapters)


@pytest.mark.parametrize("adapter", [None, "first", "second"])
def test_logits_are_those_of_transformers_up_to_rounding(
    pair: tuple[OpenvinoModel, TransformersModel], adapter: str | None
) -> None:
    ours, theirs = (logits(model, adapter, PROMPTS) for model in pair)
    assert likeness(ours, theirs) > 0.995
    assert likeness(theirs, logits(pair[1], "second" if adapter != "second" else None, PROMPTS)) < 0.97


def test_a_text_is_continued_alike_whatever_was_read_before_and_beside_it(
    pair: tuple[OpenvinoModel, TransformersModel],
) -> None:
    model = pair[0]
    alone = logits(model, None, PROMPTS[:1])
    np.testing.assert_allclose(logits(model, None, PROMPTS)[:1], alone, atol=0.02, rtol=0.02)
    tokens, mask = np.array([[0, 0, *PROMPTS[0]], [7] * 8]), np.ones((2, 8), np.int64)
    mask[0, :2] = 0
    with model.adapter(None):
        padded, _ = model.step(tokens, mask, (mask.cumsum(1) - 1).clip(min=0), None)
    np.testing.assert_allclose(padded[:1, -1], alone, atol=0.02, rtol=0.02)


def test_what_is_kept_of_a_beginning_continues_as_if_it_were_read_again(
    pair: tuple[OpenvinoModel, TransformersModel],
) -> None:
    tokens = np.array(PROMPTS)
    tokens[:, :4] = tokens[0, :4]
    mask, positions = np.ones_like(tokens), np.tile(np.arange(6), (3, 1))
    for model in pair:
        with model.adapter("first"):
            whole = model.step(tokens, mask, positions, None)[0]
            kept, size = model.keep(model.step(tokens[:1, :4], mask[:1, :4], positions[:1, :4], None)[1])
            assert size > 0
            for rows in (3, 2):
                cache = model.spread(kept, rows)
                rest = model.step(tokens[:rows, 4:], mask[:rows], positions[:rows, 4:], cache)[0]
                np.testing.assert_allclose(rest, whole[:rows], atol=0.02, rtol=0.02)


@pytest.mark.models
def test_a_real_model_begins_its_answers_alike(smollm2: str) -> None:
    tokenizer = load_language_model(settings(smollm2))._tokenizer  # type: ignore[attr-defined]
    ours, theirs = OpenvinoModel(settings(smollm2)), reference(smollm2)
    lines = Path(__file__).parents[3].joinpath("docs", "extending.md").read_text(encoding="utf-8").split("\n\n")
    prompts = [[*tokenizer._encode(line, special=False)] for line in lines]
    prompts = [prompt for prompt in prompts if 8 <= len(prompt) <= 200][:40]
    same = sum(logits(ours, None, [prompt]).argmax() == logits(theirs, None, [prompt]).argmax() for prompt in prompts)
    assert len(prompts) >= 20
    assert same >= 0.85 * len(prompts)


def test_rows_of_a_matrix_are_rounded_each_by_its_own_scale() -> None:
    matrix = np.random.default_rng(0).standard_normal((20, 64)).astype(np.float32) * [
        [10.0 ** (i % 4)] for i in range(20)
    ]
    matrix[3] = 0
    integers, scale = quantised(matrix)
    assert abs(integers).max() == 127
    assert (abs(integers * scale.astype("float32") - matrix) <= 0.51 * scale + 127 * abs(scale) * 2**-11).all()
    assert not integers[3].any()


def rewritten(source: Path, folder: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    """A copy of a model's or an adapter's folder with another configuration."""
    shutil.copytree(source, folder)
    config_file = next(path for name in ("adapter_config.json", "config.json") if (path := folder / name).is_file())
    config = json.loads(config_file.read_text())
    change(config)
    config_file.write_text(json.dumps(config))
    return folder


def test_the_scale_of_an_adapter_is_that_of_peft(tmp_path: Path, tiny_adapters: dict[str, str]) -> None:
    plain = read_adapter(Path(tiny_adapters["first"]))
    stable = read_adapter(rewritten(Path(tiny_adapters["first"]), tmp_path / "s", lambda c: c.update(use_rslora=True)))
    name = "model.layers.0.self_attn.q_proj.lora_"
    assert (plain[f"{name}A"] == stable[f"{name}A"]).all()
    assert stable[f"{name}B"] == pytest.approx(plain[f"{name}B"] * 8**0.5)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda c: c.update(use_dora=True), "use_dora"),
        (lambda c: c.update(rank_pattern={"q_proj": 4}), "rank_pattern"),
        (lambda c: c.update(peft_type="LOHA"), "peft_type"),
    ],
)
def test_an_adapter_that_cannot_be_applied_as_it_was_tuned_is_refused(
    tmp_path: Path, tiny_llama: Path, tiny_adapters: dict[str, str], change: Callable[[Any], object], named: str
) -> None:
    folder = rewritten(Path(tiny_adapters["first"]), tmp_path / "strange", change)
    with pytest.raises(AdapterError, match=rf"strange.*{named}"):
        read_adapter(folder)
    with pytest.raises(EngineUnavailableError, match=named):
        load_language_model(settings(tiny_llama, {"x": str(folder)})).warm_up()


def test_an_adapter_of_a_deeper_model_is_refused_with_the_tensor(tmp_path: Path, tiny_llama: Path) -> None:
    deeper = rewritten(tiny_llama, tmp_path / "deeper", lambda c: c.update(num_hidden_layers=3))
    adapter = rewritten(
        build_adapter(tmp_path / "adapter", deeper, seed=1), tmp_path / "a", lambda c: c.pop("base_model_name_or_path")
    )
    engine = load_language_model(settings(tiny_llama, {"deep": str(adapter)}))
    with pytest.raises(EngineUnavailableError, match=r"deep changes .*model\.layers\.2\.self_attn"):
        engine.warm_up()


def test_weights_that_are_missing_or_broken_are_one_line_with_the_remedy(tmp_path: Path, tiny_llama: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(tiny_llama, folder)
    whole = (folder / INT8_FILE).read_bytes()
    (folder / INT8_FILE).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(EngineUnavailableError, match=rf"int8/model\.safetensors.*python -m models\.int8 {folder}"):
        load_language_model(settings(folder)).warm_up()
    (folder / INT8_FILE).unlink()
    with pytest.raises(WeightsMissingError, match=rf"python -m models\.int8 {folder}"):
        load_language_model(settings(folder)).check_weights()


def test_another_family_of_models_is_refused(tmp_path: Path, tiny_llama: Path) -> None:
    folder = rewritten(tiny_llama, tmp_path / "model", lambda c: c.update(model_type="mamba"))
    with pytest.raises(EngineUnavailableError, match="mamba"):
        load_language_model(settings(folder)).warm_up()


def test_without_openvino_the_model_runs_on_transformers(
    tiny_llama: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("agents.llm.find_spec", lambda name: None)
    engine = load_language_model(settings(tiny_llama))
    assert type(engine).__name__ == "TransformersLanguageModel"
    assert "openvino" in caplog.text
    (generation,) = engine.generate([GenerationRequest(prompt="The quick", max_tokens=3)], Deadline(60))
    assert generation.finish_reason == "length"
