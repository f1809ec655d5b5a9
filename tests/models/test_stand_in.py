"""Stand-ins are made, load in the libraries that load the models, and are never taken for them."""

import json
from pathlib import Path

import pytest

from agents.settings import EncoderRouter, Settings, load_settings, needed_weights
from crag.preflight import run_check
from evaluation.preflight.subject import Subject
from models import fetch
from models.manifest import WeightsMissingError, is_stand_in, load_manifest, locate
from models.sources import FetchError
from models.stand_in import main, make_stand_ins, reply_of

pytestmark = pytest.mark.models

ROOT = Path(__file__).parents[2]


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
    folders = [folder.places[0].relative_to(ROOT).as_posix() for folder in needed.folders if folder.problem]
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
    from agents.questions.classifier import Classifier

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


def test_adapters_fit_the_base_and_its_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    from agents.common.deadline import Deadline
    from agents.llm import GenerationRequest, Message, load_language_model

    path = "models/adapters/elsewhere/tuned"
    described = {"engine": "transformers", "model": "llama-3-8b-instruct", "device": "cpu", "dtype": "float32"}
    data = load_settings("scripted", []).model_dump() | {"language_model": described | {"adapters": {"tuned": path}}}
    settings = Settings.model_validate(data)
    make_stand_ins(data, tmp_path)
    monkeypatch.setenv("CRAG_MODELS_DIR", str(tmp_path))
    engine = settings.language_model.model_copy(update={"adapters": {"tuned": str(tmp_path / path)}})
    model = load_language_model(engine)
    hi = GenerationRequest(messages=(Message("user", "hi"),), max_tokens=16)
    ask = [replace(hi, adapter=name) for name in (None, "tuned")]
    base, tuned = model.generate(ask, Deadline(100))
    model.close()
    assert (base.error, tuned.error) == (None, None)
    assert base.text != tuned.text == reply_of("tuned")


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
    recipes = [f"training/router/configs/nec_{name}.toml" for name in ("domain", "question_type", "dynamism")]
    for file in ("agents/presets/nec.toml", "models/manifest.toml", *recipes):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_bytes((ROOT / file).read_bytes())
    (tmp_path / "models" / "weights").symlink_to(to)
    report = run_check("weights", Subject(tmp_path, None, "nec"))
    said = [finding.problem for finding in report.findings]
    for name in made:
        if made[name] and name in load_manifest().models:
            assert any("stand-in" in problem and name in problem for problem in said), name
