"""Presets are data: each loads, and each kind of mistake is told with file, key and what is allowed."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from agents.answering.prompts import PROMPTS
from agents.settings import (
    OVERRIDES_VARIABLE,
    PRESET_VARIABLE,
    PRESETS,
    AnsweringSettings,
    ClassGate,
    ParentChildChunks,
    ScoreGate,
    SettingsError,
    TransformersEngine,
    WordChunks,
    active_preset,
    available_presets,
    load_settings,
)

CPU = (PRESETS / "cpu.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", available_presets())
def test_every_shipped_preset_loads_under_its_own_name(name: str) -> None:
    settings = load_settings(name)
    assert settings.name == name
    assert 1 <= settings.batch_size <= 16
    assert settings.deadline.seconds_per_query == 30.0


def test_the_presets_that_the_design_names_are_shipped() -> None:
    assert {"db3_task1", "db3_task23", "nec", "weknow", "submission", "cpu"} <= set(available_presets())


def test_db3_preset_holds_the_numbers_of_its_paper() -> None:
    settings = load_settings("db3_task1")
    assert settings.web.chunk == ParentChildChunks(method="parent_child", parent_characters=700, child_characters=200)
    assert [(stage.method, getattr(stage, "top_k", None)) for stage in settings.web.retrieve] == [("dense", 50)]
    assert settings.web.rerank is not None
    assert settings.web.rerank.top_k == 10
    assert settings.web.context.max_tokens == 4000
    assert settings.web.extract.method == "beautifulsoup"


def test_nec_preset_holds_the_numbers_of_its_paper() -> None:
    settings = load_settings("nec")
    assert settings.web.chunk == WordChunks(method="words", words=150, overlap=25)
    assert settings.web.rerank is not None
    assert settings.web.rerank.top_k == 15
    assert settings.web.extract.max_word_characters == 30
    gates = settings.answering.gates
    assert [gate.minimum for gate in gates if isinstance(gate, ScoreGate)] == [0.8]
    closed = {name for gate in gates if isinstance(gate, ClassGate) for name in gate.classes}
    assert closed == {"finance", "false_premise", "post-processing", "real-time", "fast-changing"}
    assert settings.answering.refine is not None
    assert (settings.answering.temperature, settings.answering.top_p, settings.answering.max_new_tokens) == (
        0,
        0.95,
        50,
    )


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        load_settings("cpu").batch_size = 3


@pytest.mark.parametrize(
    ("found", "replacement", "key", "told"),
    [
        ("snippets = true", "snipets = true", '"web.snipets"', "allowed keys: chunk, context, extract"),
        ("child_characters = 175", "child_chars = 200", '"web.chunk.child_chars"', "child_characters"),
        ("batch_size = 4\n", "batch_size = 17\n", '"batch_size"', "less than or equal to 16 (found 17)"),
        ("batch_size = 4\n", 'batch_size = "four"\n', '"batch_size"', "integer"),
        ("batch_size = 4\n", 'batch_size = "4"\n', '"batch_size"', "valid integer"),
        ("snippets = true", 'snippets = "yes"', '"web.snippets"', "valid boolean"),
        ("top_k = 32", "top_k = 32.0", '"web.retrieve.0.top_k"', "valid integer"),
        ('method = "parent_child"', 'method = "pages"', '"web.chunk"', "'parent_child', 'words', 'tokens'"),
        ('engine = "transformers"', 'engine = "magic"', '"language_model"', "'transformers', 'vllm', 'openai'"),
        ('prompt = "reader"', 'prompt = "rude"', '"answering.prompt"', "'reader', 'graph'"),
        ("max_tokens = 400", "max_tokens = 0", '"web.context.max_tokens"', "greater than or equal to 32"),
        ("child_characters = 175", "child_characters = 900", '"web.chunk"', "must not exceed parent_characters"),
    ],
)
def test_a_mistake_is_told_with_file_key_and_what_is_allowed(
    tmp_path: Path, found: str, replacement: str, key: str, told: str
) -> None:
    assert found in CPU
    path = tmp_path / "mine.toml"
    path.write_text(CPU.replace(found, replacement, 1), encoding="utf-8")
    with pytest.raises(SettingsError) as caught:
        load_settings(path)
    message = str(caught.value)
    assert str(path) in message
    assert key in message
    assert told in message


def test_all_mistakes_of_a_file_are_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(CPU.replace("snippets = true", "snipets = true\nspeed = 3"), encoding="utf-8")
    with pytest.raises(SettingsError) as caught:
        load_settings(path)
    assert len(str(caught.value).splitlines()) == 2


def test_parts_that_are_used_must_be_configured(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    start, end = CPU.index("[cross_encoder]"), CPU.index("[web]")
    path.write_text(CPU[:start] + CPU[end:], encoding="utf-8")
    with pytest.raises(SettingsError, match="cross_encoder is missing"):
        load_settings(path)


def test_an_adapter_must_be_among_those_of_the_engine(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(CPU.replace("[answering]", '[answering]\nadapter = "web_answerer"'), encoding="utf-8")
    with pytest.raises(SettingsError, match="web_answerer"):
        load_settings(path)


def test_unknown_preset_lists_those_that_exist() -> None:
    with pytest.raises(SettingsError, match=r"no preset 'db4'.*db3_task1"):
        load_settings("db4")


def test_broken_toml_names_file_and_place(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("batch_size = = 4", encoding="utf-8")
    with pytest.raises(SettingsError, match=r"mine\.toml: not valid TOML: .*line 1"):
        load_settings(path)


def test_environment_overrides_the_active_preset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(PRESET_VARIABLE, raising=False)
    assert active_preset() in available_presets()
    monkeypatch.setenv(PRESET_VARIABLE, "cpu")
    assert active_preset() == "cpu"
    engine = load_settings().language_model
    assert isinstance(engine, TransformersEngine)
    assert engine.device == "cpu"


def test_prompt_names_in_the_settings_are_the_keys_of_the_table() -> None:
    annotation = AnsweringSettings.model_fields["prompt"].annotation
    assert set(annotation.__args__) == set(PROMPTS)  # type: ignore[union-attr]


def test_an_override_changes_one_key_and_keeps_its_neighbours() -> None:
    plain, changed = load_settings("cpu"), load_settings("cpu", ["answering.word_limit = 7", "knowledge_graph=none"])
    assert (changed.answering.word_limit, changed.knowledge_graph) == (7, None)
    assert changed.answering.model_copy(update={"word_limit": plain.answering.word_limit}) == plain.answering


def test_overrides_come_from_the_environment_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(OVERRIDES_VARIABLE, "answering.refine = {}\n\nanswering.audit = true\n")
    answering = load_settings("scripted").answering
    assert answering.refine is not None
    assert answering.audit


@pytest.mark.parametrize(
    ("line", "told"),
    [("answering.prompt = two words", "KEY=VALUE"), ("answering.promt = 'basic'", "answering.promt")],
)
def test_a_wrong_override_is_told(line: str, told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        load_settings("scripted", [line])


def test_a_gate_on_a_class_that_does_not_exist_is_told_with_those_that_do() -> None:
    gate = "answering.gates = [{gate = 'class', field = 'domain', classes = ['weather']}]"
    with pytest.raises(SettingsError, match="domain has no class weather; allowed: finance"):
        load_settings("nec", [gate])


def test_a_gate_on_classes_needs_a_router() -> None:
    with pytest.raises(SettingsError, match="router is missing"):
        load_settings("nec", ["router = 'none'"])


def test_a_prompt_that_asks_for_an_assessment_needs_a_level_to_accept() -> None:
    with pytest.raises(SettingsError, match="go together"):
        load_settings("weknow", ["answering.self_assessment = 'none'"])
