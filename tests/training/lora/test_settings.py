"""The shipped configurations, and the faults that are found before anything is loaded."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from crag.engines.llm import EngineUnavailableError
from crag.settings import SettingsError
from crag.training.lora.model import check_tunable
from crag.training.lora.settings import LoraTraining


def test_db3_is_table_1_of_the_paper() -> None:
    found = LoraTraining.load("db3")
    targets = ("k_proj", "q_proj", "v_proj", "up_proj", "down_proj", "gate_proj")
    shape = {"rank": 8, "alpha": 16, "dropout": 0.1, "targets": targets}
    assert found.adapter.model_dump() == shape
    assert (found.quantise, found.max_tokens, found.batch_size, found.accumulation) == ("4bit", 4096, 1, 4)
    assert (found.learning_rate, found.schedule, found.warm_up_share) == (2e-4, "cosine", 0.1)
    assert found.max_gradient_norm == 0.3
    assert found.epochs in {2, 3}


def test_a_laptops_writer_has_the_settings_that_the_folds_chose() -> None:
    cpu = LoraTraining.load("cpu")
    attention, others = ("q_proj", "k_proj", "v_proj", "o_proj"), ("gate_proj", "up_proj", "down_proj")
    shape = {"rank": 8, "alpha": 32, "dropout": 0.0, "targets": (*attention, *others)}
    assert cpu.adapter.model_dump() == shape
    assert (cpu.learning_rate, cpu.schedule, cpu.warm_up_steps, cpu.epochs) == (4e-4, "linear", 10, 3)
    assert cpu.batch_size * cpu.accumulation == 16


def folder_of(path: Path, name: str, **content: object) -> Path:
    path.mkdir()
    (path / name).write_text(json.dumps(content), encoding="utf-8")
    (path / "tokenizer.json").write_text("{}", encoding="utf-8")
    return path


def test_db3s_settings_are_for_a_llama(tmp_path: Path) -> None:
    settings = LoraTraining.load("db3", ["quantise=none", "base=mine"])
    check_tunable(settings, folder_of(tmp_path / "llama", "config.json", model_type="llama"), "cpu")
    other = folder_of(tmp_path / "bert", "config.json", model_type="bert")
    with pytest.raises(SettingsError, match=r'key "base": mine is a bert .*these settings are for a llama: its layers'):
        check_tunable(settings, other, "cpu")


@pytest.fixture
def llama(tmp_path: Path) -> Path:
    return folder_of(tmp_path / "llama", "config.json", model_type="llama")


def test_four_bits_need_a_gpu(llama: Path) -> None:
    with pytest.raises(EngineUnavailableError, match="needs a GPU: pass --device cuda, or --set quantise=none"):
        check_tunable(LoraTraining.load("db3"), llama, "cpu")


def test_a_gpu_that_torch_does_not_find_is_told(llama: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(EngineUnavailableError, match=r"torch finds none: .*requirements/train-cuda\.txt"):
        check_tunable(LoraTraining.load("db3"), llama, "cuda")


def test_four_bits_need_a_package(llama: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("crag.training.lora.model.find_spec", lambda name: None)
    with pytest.raises(EngineUnavailableError, match=r"bitsandbytes: pip install -r requirements/train-cuda\.txt"):
        check_tunable(LoraTraining.load("db3"), llama, "cuda")


LLAMA_3_8B = {
    "model_type": "llama", "num_hidden_layers": 32, "hidden_size": 4096, "intermediate_size": 14336,
    "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256, "max_position_embeddings": 8192,
}  # fmt: skip


def test_a_t4_takes_db3s_tuning_and_refuses_what_does_not_fit_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = folder_of(tmp_path / "llama", "config.json", **LLAMA_3_8B)
    card = SimpleNamespace(total_memory=15 * 2**30)
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 4)
    monkeypatch.setattr("torch.cuda.get_device_properties", lambda number: card)
    monkeypatch.setattr("crag.training.lora.model.find_spec", lambda name: object())
    check_tunable(LoraTraining.load("db3"), base, "cuda")
    for change, remedy in (("quantise=none", "4bit"), ("gradient_checkpointing=false", "max_tokens")):
        with pytest.raises(EngineUnavailableError, match=rf"tuning needs [\d.]+ GiB of 15\.0: .*{remedy}"):
            check_tunable(LoraTraining.load("db3", [change]), base, "cuda")
