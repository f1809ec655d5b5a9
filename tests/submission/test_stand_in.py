"""Stand-ins are made, load in the libraries that load the models, and are never taken for them."""

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from crag.commands.models.stand_in import main
from crag.core.deadline import Deadline
from crag.engines.llm import GenerationRequest, Message, load_language_model
from crag.settings import EncoderRouter, Settings, load_settings, needed_weights
from crag.submission.preflight.checks import run_check
from crag.submission.preflight.subject import Subject
from crag.submission.stand_in import make_stand_ins
from crag.submission.stand_in_adapters import reply_of
from crag.weights import fetch
from crag.weights.manifest import WeightsMissingError, is_stand_in, load_manifest, locate
from crag.weights.sources import FetchError
from tests.engines.llm.conftest import NO_VLLM

pytestmark = pytest.mark.models

ROOT = Path(__file__).parents[2]
ALONE = {"tensor_parallel_size": 1, "attention_backend": None}
NEEDS_VLLM = pytest.mark.skipif(find_spec("vllm") is None, reason=NO_VLLM)


@pytest.fixture(scope="module", autouse=True)
def sources() -> None:
    for name in ("llama-2-tokenizer", "llama-3-tokenizer", "all-minilm-l6-v2"):
        try:
            locate(name)
        except WeightsMissingError as error:
            pytest.skip(str(error))


@pytest.fixture(scope="module")
def nec(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, bool]]:
    to = tmp_path_factory.mktemp("nec")
    return to, make_stand_ins(load_settings("nec", []).model_dump(), to)


def test_every_folder_that_a_preset_needs_is_made(nec: tuple[Path, dict[str, bool]]) -> None:
    to, made = nec
    needed = needed_weights(load_settings("nec", []))
    folders = [folder.paths[0].relative_to(ROOT).as_posix() for folder in needed.folders if folder.problem]
    assert made.keys() == {*needed.models, *needed.optional, *folders}
    for name, marked in made.items():
        assert is_stand_in(to / name) is marked
        real = bool(load_manifest().models[name].files) if name in load_manifest().models else False
        assert marked is not real


def test_a_quantised_language_model_has_its_architecture_and_tokenizer(
    nec: tuple[Path, dict[str, bool]],
) -> None:
    to, _ = nec
    name = load_settings("nec", []).language_model.model  # type: ignore[union-attr]
    config = json.loads((to / name / "config.json").read_text())
    assert config["architectures"] == ["LlamaForCausalLM"]
    assert config["quantization_config"]["quant_method"] == "awq"
    assert config["vocab_size"] == 32_000
    index = json.loads((to / name / "model.safetensors.index.json").read_text())
    files = set(index["weight_map"].values())
    assert len(files) > 1
    assert all((to / name / file).is_file() for file in files)
    assert "model.layers.0.self_attn.q_proj.qweight" in index["weight_map"]


def test_a_classifier_says_a_class_that_no_gate_stops(
    nec: tuple[Path, dict[str, bool]], monkeypatch: pytest.MonkeyPatch
) -> None:
    from crag.router.classifier import Classifier

    to, _ = nec
    settings = load_settings("nec", [])
    assert isinstance(settings.router, EncoderRouter)
    monkeypatch.setenv("CRAG_MODELS_DIR", str(to))
    for name in settings.router.classifiers:
        classifier = Classifier(to / "models" / "routers" / name)
        for field, rows in classifier.probabilities(["who won the race?", "what is it?"]).items():
            said = {classifier.config.fields[field].labels[row.argmax()] for row in rows}
            gates = [gate for gate in settings.answering.gates if gate.gate == "class" and gate.field == field]
            assert not said & {label for gate in gates for label in gate.classes}


@pytest.mark.parametrize(
    ("preset", "changes"),
    [
        ("db3_task23", {"device": "cpu", "dtype": "float32"}),
        pytest.param("submission", {"gpu_memory_utilization": 0.1, **ALONE}, marks=[pytest.mark.vllm, NEEDS_VLLM]),
    ],
)
def test_in_one_batch_each_request_gets_the_text_of_its_own_adapter(
    preset: str, changes: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = load_settings("scripted", []).model_dump()
    data["language_model"] = load_settings(preset, []).language_model.model_dump() | changes
    engine = Settings.model_validate(data).language_model
    make_stand_ins(data, tmp_path)
    monkeypatch.setenv("CRAG_MODELS_DIR", str(tmp_path))
    places = {name: str(tmp_path / place) for name, place in engine.adapters.items()}
    model = load_language_model(engine.model_copy(update={"adapters": places}))
    asked = [None, "kg_writer", "web_answerer", None, "kg_answerer", "kg_writer"]
    hi = (Message("user", "hi"),)
    requests = [GenerationRequest(hi, adapter=each, max_tokens=16) for each in asked]
    texts = [generation.text for generation in model.generate(requests, Deadline(600))]
    model.close()

    assert [t for t, a in zip(texts, asked, strict=True) if a] == [reply_of(a) for a in asked if a]
    assert texts[0] == texts[3]
    assert texts[0] not in map(reply_of, engine.adapters)


def test_a_stand_in_is_never_taken_for_the_model_and_what_is_none_is_left_alone(
    nec: tuple[Path, dict[str, bool]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    to, made = nec
    name = next(name for name in made if name in load_manifest().models and made[name])
    with pytest.raises(FetchError, match="stand-in"):
        fetch.fetch_model(name, to)
    theirs = tmp_path / name / "config.json"
    theirs.parent.mkdir()
    theirs.write_text("{}")
    assert main(["nec", "--to", str(tmp_path)]) == 1
    assert "not a stand-in: it is kept" in capsys.readouterr().err
    assert theirs.read_text() == "{}"


def test_preflight_refuses_to_push_stand_ins(nec: tuple[Path, dict[str, bool]], tmp_path: Path) -> None:
    to, made = nec
    recipes = [f"crag/training/router/configs/nec_{name}.toml" for name in ("domain", "question_type", "dynamism")]
    for file in ("crag/presets/nec.toml", "crag/weights/manifest.toml", *recipes):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_bytes((ROOT / file).read_bytes())

    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "weights").symlink_to(to)
    report = run_check("weights", Subject(tmp_path, None, "nec"))
    said = [finding.problem for finding in report.findings]
    for name in made:
        if made[name] and name in load_manifest().models:
            assert any("stand-in" in problem and name in problem for problem in said), name
