"""What a preset needs is found by following what it names; the parts of the agent, which load it, are the witnesses."""

import json
from pathlib import Path

import pytest

from agents.user_config import UserAgent
from crag.core.places import REPOSITORY
from crag.engines.encoders import load_cross_encoder, load_dense_encoder
from crag.engines.llm.local_engine import adapter_folder, model_folder
from crag.router import FIELD_CLASSES, open_router
from crag.settings import (
    TRIM_TOKENIZER,
    Settings,
    available_presets,
    load_settings,
    needed_weights,
    require_weights,
)
from crag.weights.manifest import ModelEntry, WeightsMissingError, load_manifest

REAL = REPOSITORY
PRESETS = available_presets()
assert {"cpu", "submission", "nec", "weknow", "db3_task1", "db3_task23"} <= set(PRESETS)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache without any model, and a repository without checked-in weights."""
    monkeypatch.setenv("CRAG_MODELS_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr("crag.weights.manifest.WEIGHTS_FOLDER", tmp_path / "none")
    return tmp_path / "cache"


def place(entry: ModelEntry, cache: Path) -> None:
    """A folder that passes for the model by its files and sizes; holes instead of bytes."""
    folder = cache / entry.name
    for path, size in (entry.expected or {"config.json": None}).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        with (folder / path).open("wb") as file:
            file.truncate(size or 0)


def place_trained(settings: Settings, cache: Path) -> None:
    """Stand-ins for classifiers that the user trains: each knows another field, tuned from its recipe's base."""
    fields = iter(FIELD_CLASSES)
    for folder in needed_weights(settings).folders:
        if folder.kind == "classifier" and folder.problem:
            config = json.loads((REAL / "crag" / "weights" / "routers" / "cpu" / "config.json").read_text())
            config |= {"base": "bert-base-uncased", "fields": {next(fields): config["fields"]["domain"]}}
            (cache / folder.name).mkdir(parents=True)
            (cache / folder.name / "config.json").write_text(json.dumps(config))
            (cache / folder.name / "weights.safetensors").touch()


def check_parts(settings: Settings) -> None:
    """What the agent does at its start, part by part, but for the check of the whole; engines are not imported."""
    model = settings.language_model
    if model.engine in {"openvino", "transformers", "vllm"}:
        model_folder(model.model)
        for location in model.adapters.values():
            adapter_folder(location)
    if settings.dense_encoder:
        load_dense_encoder(settings.dense_encoder).check_weights()
    if settings.cross_encoder:
        load_cross_encoder(settings.cross_encoder).check_weights()
    if settings.router and settings.router.engine == "encoder":
        open_router(settings.router).check_weights()


def shipped(preset: str) -> tuple[Settings, list[str]]:
    """The preset, without adapters where they are still to be trained, and the models that it cannot start without."""
    settings = load_settings(preset, [])
    if any(folder.kind == "adapter" and folder.problem for folder in needed_weights(settings).folders):
        settings = load_settings(preset, ["tuned=false"])
    return settings, [name for name in needed_weights(settings).models if name != TRIM_TOKENIZER]


@pytest.mark.parametrize("preset", PRESETS)
def test_what_is_named_is_exactly_what_the_parts_need(preset: str, cache: Path) -> None:
    """With all of it every part finds its weights; without any one a part misses it, and a line names the command.

    `submission` routes with a classifier whose base no list of models named: its agent did not start.
    """
    settings, names = shipped(preset)
    place_trained(settings, cache)
    for name in names:
        place(load_manifest().model(name), cache)
    check_parts(settings)
    require_weights(settings)
    for missing in names:
        (cache / missing).rename(cache / "away")
        with pytest.raises(WeightsMissingError, match=missing):
            check_parts(settings)
        said = rf"weights of {missing}: .*crag models fetch {preset}$"
        with pytest.raises(WeightsMissingError, match=said):
            require_weights(settings)
        (cache / "away").rename(cache / missing)


def test_bases_of_routers_are_needed_too_and_one_that_is_not_trained_is_reported_with_its_command(cache: Path) -> None:
    submission, nec = (needed_weights(load_settings(name, [])) for name in ("submission", "nec"))
    assert submission.models["all-minilm-l6-v2"] == "router.classifiers.cpu, base model"
    assert TRIM_TOKENIZER in submission.models, "what is pushed cannot fetch it later"
    assert needed_weights(load_settings("cpu", [])).optional == {TRIM_TOKENIZER: "the cut to 75 tokens"}
    assert "bert-base-uncased" in nec.models
    problems = [folder.problem or "" for folder in nec.folders]
    assert len(problems) == 3
    assert "crag train router --config nec_domain --out models/routers/nec_domain" in problems[0]


def test_the_agent_names_all_that_is_missing_at_once(cache: Path) -> None:
    with pytest.raises(WeightsMissingError) as caught:
        UserAgent(preset="cpu")
    assert all(name in str(caught.value) for name in needed_weights(load_settings("cpu", [])).models)
    assert "crag models fetch cpu" in str(caught.value)
    users = ["answering.adapter", "knowledge_graph.answer_adapter", "knowledge_graph.writer.adapter"]
    lines = ["language_model.model=smollm2-135m-instruct", "language_model.adapters={}", *(f"{k}=none" for k in users)]
    with pytest.raises(WeightsMissingError, match=r"crag models fetch smollm2-135m-instruct bge-small"):
        require_weights(load_settings("cpu", lines))  # the preset's own command would not bring this model


THREE = ("web_answerer", "kg_writer", "kg_answerer")


def with_adapters(tmp_path: Path) -> Path:
    """A preset like db3's: three stages whose work adapters of a language model do."""
    preset = tmp_path / "mine.toml"
    locations = "".join(f'{name} = "models/adapters/db3/{name}"\n' for name in THREE)
    preset.write_text(
        'extends = "scripted"\n[language_model]\nengine = "transformers"\nmodel = "smollm2-135m-instruct"\n'
        f'[language_model.adapters]\n{locations}[knowledge_graph]\nanswer_adapter = "kg_answerer"\n'
        '[knowledge_graph.writer]\nadapter = "kg_writer"\n[answering]\nadapter = "web_answerer"\n'
    )
    return preset


def test_missing_adapters_are_reported_in_one_line_with_training_and_the_way_without(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crag.settings.needed.REPOSITORY", tmp_path)
    place(load_manifest().model("smollm2-135m-instruct"), cache)
    preset = with_adapters(tmp_path)
    with pytest.raises(WeightsMissingError) as caught:
        require_weights(load_settings(preset, []))
    message = str(caught.value)
    assert "\n" not in message
    assert all(f"adapter {name}: " in message for name in THREE)
    assert "docs/training.md" in message
    assert message.endswith("Or run without adapters: --set tuned=false")
    require_weights(load_settings(preset, ["tuned=false"]))


def test_the_base_that_an_adapter_was_tuned_from_is_followed(tmp_path: Path) -> None:
    folder = tmp_path / "models" / "adapters" / "db3" / "kg_writer"
    folder.mkdir(parents=True)
    (folder / "adapter_config.json").write_text('{"base_model_name_or_path": "llama-3-8b-instruct"}')
    settings = load_settings(with_adapters(tmp_path), [])
    needed = needed_weights(settings, repository=tmp_path)
    assert needed.models["llama-3-8b-instruct"] == "language_model.adapters.kg_writer, base model"
    (folder / "adapter_config.json").write_text("{broken")
    assert "llama-3-8b-instruct" not in needed_weights(settings, repository=tmp_path).models


def test_a_checked_in_folder_that_is_broken_is_fetched_anew_to_its_place(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crag.weights.manifest.WEIGHTS_FOLDER", tmp_path / "weights")
    settings, names = shipped("cpu")
    (tmp_path / "weights" / names[0]).mkdir(parents=True)
    with pytest.raises(WeightsMissingError, match=r"crag models fetch cpu --to models/weights"):
        require_weights(settings)
