"""Files in, files out: what a row gets, how a run goes on, and how a bad row is named."""

import bz2
import json
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

import pytest

from agents.common.deadline import Deadline
from agents.kg.__main__ import main
from agents.kg.writing.cli import choose_adapter, chosen_settings
from agents.llm import Generation, GenerationRequest, scripted_engine
from agents.llm.scripted_engine import ScriptedLanguageModel
from agents.settings import OVERRIDES_VARIABLE, ScriptedEngine

NO_NAMES = "knowledge_graph.writer.names_from_question=[]"
PRESET = """
description = "answers from a script"
batch_size = 2
[language_model]
engine = "scripted"
default_reply = "None"
[language_model.replies]
"film jaws premiere" = 'get_movie("jaws")["release_date"]'
"hello there" = "Hello! How can I help?"
[web]
pages = { method = "bm25" }
retrieve = [{ method = "bm25", top_k = 4 }]
[web.chunk]
method = "words"
"""
ROWS: list[dict[str, object]] = [
    {
        "query": "when did the film jaws premiere?",
        "query_time": "03/05/2024, 23:18:31 PT",
        "domain": "open",
        "kept": [1],
    },
    {"query": "what is a hedge fund?", "domain": "finance"},
    {"query": "hello there", "domain": "movie"},
]


@pytest.fixture
def preset(tmp_path: Path) -> str:
    path = tmp_path / "preset.toml"
    path.write_text(PRESET, encoding="utf-8")
    return str(path)


def questions(folder: Path, rows: list[dict[str, object]]) -> Path:
    path = folder / "in.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def read(path: Path) -> list[dict[str, object]]:
    data = path.read_bytes()
    return [json.loads(line) for line in (bz2.decompress(data) if path.suffix == ".bz2" else data).splitlines()]


@pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.bz2"])
def test_rows_get_calls_domain_and_faults_and_keep_the_rest(tmp_path: Path, preset: str, name: str) -> None:
    out = tmp_path / name
    assert main(["write", "--in", str(questions(tmp_path, ROWS)), "--out", str(out), "--preset", preset]) == 0
    first, second, third = read(out)
    assert first == ROWS[0] | {"calls": ['get_movie("jaws")["release_date"]'], "kg_domain": "movie", "kg_faults": []}
    assert second["calls"] == ["None"]
    assert third["calls"] == []
    assert str(third["kg_faults"]).count("prose") == 2


def test_the_label_is_only_used_when_that_is_asked_for(
    tmp_path: Path, preset: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["write", "--in", str(questions(tmp_path, ROWS[1:2])), "--out", str(tmp_path / "out.jsonl")]
    main([*arguments, "--preset", preset])
    assert read(tmp_path / "out.jsonl")[0]["kg_domain"] == "finance"
    questions(tmp_path, [ROWS[1] | {"domain": "music"}])
    assert main([*arguments, "--preset", preset]) == 1
    assert "--resume continues it, --overwrite replaces it" in capsys.readouterr().err
    arguments.append("--overwrite")
    main([*arguments, "--preset", preset])
    assert read(tmp_path / "out.jsonl")[0]["kg_domain"] == "finance"
    main([*arguments, "--preset", preset, "--use-domain"])
    assert read(tmp_path / "out.jsonl")[0]["kg_domain"] == "music"


def test_a_run_goes_on_after_the_rows_of_the_last_one(tmp_path: Path, preset: str) -> None:
    source, out = questions(tmp_path, ROWS), tmp_path / "out.jsonl"
    done = ROWS[0] | {"calls": ["None"], "kg_domain": "movie", "kg_faults": [], "mark": "from the last run"}
    out.write_text(json.dumps(done) + '\n{"query": "what is a hed', encoding="utf-8")
    assert main(["write", "--in", str(source), "--out", str(out), "--preset", preset, "--resume"]) == 0
    rows = read(out)
    assert [row["query"] for row in rows] == [row["query"] for row in ROWS]
    assert [row.get("mark") for row in rows] == ["from the last run", None, None]


def test_an_adapter_is_a_name_of_the_preset_a_folder_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = ScriptedEngine(engine="scripted", adapters={"writer": "shipped-writer", "other": "not-fetched"})
    (tmp_path / "run.fold0").mkdir()
    monkeypatch.chdir(tmp_path)
    for chosen, place in (("writer", "shipped-writer"), ("run.fold0", str(tmp_path / "run.fold0")), ("new", "new")):
        language_model, adapter = choose_adapter(engine, chosen)
        assert adapter is not None
        assert language_model.adapters == {adapter: place}, "the others need not be there"
        assert adapter.isidentifier(), "PEFT refuses names with a full stop"
    assert choose_adapter(engine, "none") == (engine.model_copy(update={"adapters": {}}), None)


@pytest.mark.parametrize(
    ("arguments", "adapter", "shown"),
    [
        ([], "tuned", 2),
        (["--adapter", "none"], None, 2),
        (["--adapter", "tuned", "--examples", "none"], "tuned", 0),
        (["--adapter", "elsewhere"], "chosen", 2),
        (["--set", "knowledge_graph.writer.examples=1"], "tuned", 1),
    ],
)
def test_base_and_tuned_are_asked_with_examples_and_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], adapter: str | None, shown: int
) -> None:
    asked: list[GenerationRequest] = []

    class Recording(ScriptedLanguageModel):
        def generate(self, requests: Sequence[GenerationRequest], deadline: Deadline) -> list[Generation]:
            asked.extend(requests)
            return super().generate(requests, deadline)

    monkeypatch.setattr(scripted_engine, "ScriptedLanguageModel", Recording)
    preset = tmp_path / "preset.toml"
    writer = (
        '[language_model.adapters]\ntuned = "somewhere"\n[knowledge_graph.writer]\nadapter = "tuned"\nexamples = 2\n'
    )
    preset.write_text(PRESET + writer, encoding="utf-8")
    out = tmp_path / "out.jsonl"
    source = str(questions(tmp_path, ROWS[1:2]))
    assert main(["write", "--in", source, "--out", str(out), "--preset", str(preset), *arguments]) == 0
    assert read(out)[0]["calls"] == ["None"], "the engine knows the adapter"
    assert [request.adapter for request in asked] == [adapter]
    assert (asked[0].prompt or "").count("Question:") == shown + 1


def test_changes_of_the_command_line_win_over_those_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(OVERRIDES_VARIABLE, "batch_size = 3\nanswering.word_limit = 31")
    settings = chosen_settings(Namespace(preset="cpu", set=["batch_size=5", NO_NAMES]))
    assert (settings.batch_size, settings.answering.word_limit) == (5, 31)
    assert settings.knowledge_graph
    assert settings.knowledge_graph.writer.names_from_question == ()


@pytest.mark.parametrize(
    ("rows", "more", "complaint"),
    [
        ([{"text": "who?"}], [], 'line 1: field "query" must be a text, found None'),
        ([ROWS[0], {"query": "who?", "query_time": 3}], [], 'line 2: field "query_time" must be a text, found 3'),
        ([{"query": "who?", "domain": "sport"}], ["--use-domain"], 'line 1: field "domain" must be one of'),
        ([ROWS[0]], ["--set", "knowledge_graph.writer.names=[]"], 'key "knowledge_graph.writer.names": unknown key'),
    ],
)
def test_what_is_wrong_is_named(
    tmp_path: Path,
    preset: str,
    capsys: pytest.CaptureFixture[str],
    rows: list[dict[str, object]],
    more: list[str],
    complaint: str,
) -> None:
    arguments = ["write", "--in", str(questions(tmp_path, rows)), "--out", str(tmp_path / "out.jsonl")]
    assert main([*arguments, "--preset", preset, *more]) == 1
    assert complaint in capsys.readouterr().err
