"""LoRA adapters beside int8 weights: as PEFT computes them, row by row, and kept compiled only as long as they fit."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM

from crag.engines.llm.decoding import Logits, StepModel
from crag.engines.llm.openvino_engine import OpenvinoLanguageModel, OpenvinoModel
from crag.engines.llm.tokenizer import quiet_transformers
from crag.settings import OpenvinoEngine
from crag.weights.adapter_files import MATRICES_OF_LAYER
from crag.weights.manifest import WeightsMissingError, locate
from tests.engines.llm.tiny_models import build_adapter

PROMPTS = [[5, 77, 130, 9, 200, 41], [260, 3, 3, 91, 17, 300], [12, 8, 250, 33, 61, 90], [1, 2, 3, 4, 5, 6]]
ROWS = ("all", None, "rank-stabilised", "all")


@pytest.fixture(scope="module")
def adapters(tmp_path_factory: pytest.TempPathFactory, tiny_llama: Path) -> dict[str, str]:
    """Of different ranks, matrices and scales."""
    folder = tmp_path_factory.mktemp("tuned")
    build_adapter(folder / "all", tiny_llama, seed=1, size=0.2, modules=MATRICES_OF_LAYER)
    some = ("self_attn.k_proj", "mlp.up_proj", "mlp.down_proj")
    build_adapter(folder / "rank-stabilised", tiny_llama, seed=2, rank=4, modules=some, config={"use_rslora": True})
    return {name: str(folder / name) for name in ("all", "rank-stabilised")}


def read(model: StepModel, names: Sequence[str | None], prompts: Sequence[Sequence[int]] = PROMPTS) -> Logits:
    """The logits after each prompt, read in two steps with these adapters."""
    tokens = np.array(prompts)
    mask = np.ones_like(tokens)
    positions = mask.cumsum(1) - 1
    with model.adapters(names):
        _, cache = model.step(tokens[:, :4], mask[:, :4], positions[:, :4], None)
        logits: Logits = model.step(tokens[:, 4:], mask, positions[:, 4:], cache)[0][:, -1]
    return logits.copy()  # the next step overwrites them


def read_with_peft(model: Path, adapter: str | None, prompts: Sequence[Sequence[int]] = PROMPTS) -> Logits:
    with quiet_transformers():
        whole = AutoModelForCausalLM.from_pretrained(str(model), dtype="float32")
        if adapter is not None:
            whole = PeftModel.from_pretrained(whole, adapter).merge_and_unload()
    with torch.inference_mode():
        logits: Logits = whole(torch.tensor(prompts)).logits[:, -1].numpy()
    return logits


def cosine(first: Logits, second: Logits) -> float:
    first, second = first - first.mean(), second - second.mean()  # a constant changes no probability
    return float(first @ second / np.linalg.norm(first) / np.linalg.norm(second))


def copy_model(source: Path, target: Path) -> Path:
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("*.blob", "*.compiled"))
    return target


def compiled_files(folder: Path) -> list[Path]:
    return sorted((folder / "int8").glob("adapters-*"))


def test_each_row_of_a_batch_is_what_peft_computes_with_its_adapter(tiny_llama: Path, adapters: dict[str, str]) -> None:
    ours = read(OpenvinoModel(tiny_llama, adapters), ROWS)
    untuned = read_with_peft(tiny_llama, None)
    expected = {name: read_with_peft(tiny_llama, folder) for name, folder in adapters.items()}
    for row, name in enumerate(ROWS):
        if name is None:
            assert cosine(ours[row], untuned[row]) > 0.995
        else:
            assert cosine(ours[row], expected[name][row]) > 0.995
            assert cosine(ours[row], untuned[row]) < 0.97


def test_rows_without_an_adapter_are_those_of_the_plain_model_whatever_ran_before(
    tiny_llama: Path, adapters: dict[str, str]
) -> None:
    model, plain = OpenvinoModel(tiny_llama, adapters), OpenvinoModel(tiny_llama)
    tuned = read(model, ["all"], PROMPTS[:1])
    for names, count in (([None], 1), (ROWS, 4), ([None] * 3, 3), (["all", None], 2)):
        logits, expected = read(model, names, PROMPTS[:count]), read(plain, [None] * count, PROMPTS[:count])
        untuned = [row for row, name in enumerate(names) if name is None]
        np.testing.assert_allclose(logits[untuned], expected[untuned], atol=0.02, rtol=0.02)
        if names[0] == "all":
            np.testing.assert_allclose(logits[:1], tuned, atol=0.02, rtol=0.02)


def test_rows_go_on_as_before_when_others_have_ended(tiny_llama: Path, adapters: dict[str, str]) -> None:
    model = OpenvinoModel(tiny_llama, adapters)
    expected = read(model, ROWS)
    tokens, remaining = np.array(PROMPTS), [2, 0]
    mask = np.ones_like(tokens)
    positions = mask.cumsum(1) - 1
    with model.adapters(ROWS):
        _, cache = model.step(tokens[:, :4], mask[:, :4], positions[:, :4], None)
        cache = model.select_rows(cache, remaining)
        logits, _ = model.step(tokens[remaining, 4:], mask[remaining], positions[remaining, 4:], cache)
    np.testing.assert_allclose(logits[:, -1], expected[remaining], atol=0.02, rtol=0.02)


def test_another_adapter_under_the_same_name_replaces_what_was_compiled(tmp_path: Path, tiny_llama: Path) -> None:
    model = copy_model(tiny_llama, tmp_path / "model")
    answers = []
    for seed in (1, 2, 1):
        folder = tmp_path / "adapter"
        shutil.rmtree(folder, ignore_errors=True)
        build_adapter(folder, model, seed=seed)
        answers.append(read(OpenvinoModel(model, {"mine": str(folder)}), ["mine"] * 4))
        assert len(compiled_files(model)) == 1
    np.testing.assert_array_equal(answers[0], answers[2])
    assert not np.allclose(answers[0], answers[1], atol=0.1)


def test_a_damaged_compiled_file_is_made_again(
    tmp_path: Path, tiny_llama: Path, tiny_adapters: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    model = copy_model(tiny_llama, tmp_path / "model")
    expected = read(OpenvinoModel(model, tiny_adapters), ["first"] * 4)
    (kept,) = compiled_files(model)
    written = kept.stat().st_mtime_ns
    np.testing.assert_array_equal(read(OpenvinoModel(model, tiny_adapters), ["first"] * 4), expected)
    assert kept.stat().st_mtime_ns == written, "the second start reads what the first has compiled"

    kept.write_bytes(kept.read_bytes()[:1000])
    np.testing.assert_array_equal(read(OpenvinoModel(model, tiny_adapters), ["first"] * 4), expected)
    assert "damaged" in caplog.text
    assert kept.stat().st_size > 1000


def test_where_openvino_cannot_read_what_it_has_compiled_nothing_is_kept(
    tmp_path: Path,
    tiny_llama: Path,
    tiny_adapters: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    expected = read(OpenvinoModel(copy_model(tiny_llama, tmp_path / "other"), tiny_adapters), ["first"] * 4)

    def refuse(*_: object) -> None:
        raise RuntimeError("Cannot create ScaledDotProductAttentionWithKVCache")

    monkeypatch.setattr("crag.engines.llm.openvino_cache._read_compiled", refuse)
    model = copy_model(tiny_llama, tmp_path / "model")
    np.testing.assert_allclose(read(OpenvinoModel(model, tiny_adapters), ["first"] * 4), expected, atol=0.02)
    assert compiled_files(model) == []
    assert "each start compiles the adapters again" in caplog.text


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ({"use_dora": True}, "use_dora"),
        ({"rank_pattern": {"q_proj": 4}}, "rank_pattern"),
        ({"alpha_pattern": {"q_proj": 4}}, "alpha_pattern"),
        ({"modules_to_save": ["lm_head"]}, "modules_to_save"),
        ({"lora_bias": True}, "lora_bias is set"),
        ({"peft_type": "LOHA"}, "peft_type is LOHA"),
    ],
)
def test_what_the_engine_does_not_compute_is_refused_before_anything_loads(
    tmp_path: Path, tiny_llama: Path, config: dict[str, object], named: str
) -> None:
    adapter = build_adapter(tmp_path / "adapter", tiny_llama, seed=1, config=config)
    settings = OpenvinoEngine(engine="openvino", model=str(tiny_llama), adapters={"mine": str(adapter)})
    with pytest.raises(
        WeightsMissingError, match=f'adapter_config.json: {named}.*mine.*engine = "transformers"'
    ) as caught:
        OpenvinoLanguageModel(settings).check_weights()
    assert "\n" not in str(caught.value)


@pytest.mark.models
def test_a_real_model_with_an_adapter_begins_its_answers_as_peft_does(smollm2: str, tmp_path: Path) -> None:
    folder = locate(smollm2)
    adapter = build_adapter(tmp_path / "adapter", folder, seed=1, size=0.06, modules=MATRICES_OF_LAYER)
    model = OpenvinoModel(copy_model(folder, tmp_path / "model"), {"mine": str(adapter)})
    prompts = [[1, 4093, 198, *range(start, start + 9)] for start in range(1000, 9000, 400)]
    ours = read(model, ["mine"] * len(prompts), prompts)
    expected = read_with_peft(folder, str(adapter), prompts)
    untuned = read_with_peft(folder, None, prompts)
    assert min(map(cosine, ours, expected)) > 0.98
    assert max(map(cosine, ours, untuned)) < 0.95
