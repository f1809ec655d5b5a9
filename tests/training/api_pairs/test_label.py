"""Calls for questions with right answers, proposed by the scripted engine, executed on the graph that ships."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from crag.commands.train.api_pairs import main as write_pairs
from crag.commands.train.label_calls import main as label_calls
from crag.core.files import write_rows
from crag.engines.llm import Generation, GenerationRequest
from crag.engines.llm.scripted_engine import ScriptedLanguageModel
from crag.graph.executor import Executor, ProgramResult, Task
from crag.graph.results import Result, Status
from crag.mock_api.tables import SHIPPED_GRAPH
from crag.settings import ScriptedEngine
from crag.training.api_pairs.graph import execute
from crag.training.api_pairs.pairs import read_pairs
from crag.training.files import CARD_FILE
from tests.engines.llm.llm_server import serve as serve_openai
from tests.toml_text import toml_table

ASKED = "03/19/2024, 23:10:00 PT"
DIRECTOR = 'get_movie_person_crew("the shawshank redemption",None,eq(job,"Director"))["name"]'
REPLIES = {
    "who directed the shawshank redemption": DIRECTOR,
    "when was the shawshank redemption released": 'get_movie("the shawshank redemption")["release_date"]',
    "who wrote the shawshank redemption": DIRECTOR,
    "who directed nothing at all": 'get_movie_person_crew("no such film",None,eq(job,"Director"))["name"]',
    "what is a film": "None",
    "how does it feel": "it feels (((",
}
ROWS: Sequence[dict[str, Any]] = (
    {"query": "who directed the shawshank redemption?", "answer": "frank darabont"},
    {"query": "when was the shawshank redemption released?", "answer": "1999-01-01", "alt_ans": ["1994-09-23"]},
    {"query": "who wrote the shawshank redemption?", "answer": "stephen king"},
    {"query": "who directed nothing at all?", "answer": "nobody"},
    {"query": "what is a film?", "answer": "a work of art"},
    {"query": "how does it feel?", "answer": "good"},
    {"query": "who directed the shawshank redemption 2?", "answer": "invalid question"},
    {"query": "who directed the shawshank redemption (of the test set)?", "answer": "frank darabont", "split": 1},
)

KEPT = ["who directed the shawshank redemption?", "when was the shawshank redemption released?"]


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    path = tmp_path / "questions.jsonl"
    common = {"query_time": ASKED, "domain": "movie", "split": 0}
    rows = [{"interaction_id": str(number), **common, **row} for number, row in enumerate(ROWS)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def asked(monkeypatch: pytest.MonkeyPatch) -> list[GenerationRequest]:
    """What the scripted engine was asked; it answers by the question at the end of the prompt."""
    requests: list[GenerationRequest] = []
    answer = ScriptedLanguageModel.generate

    def generate(self: ScriptedLanguageModel, batch: Sequence[GenerationRequest], deadline: Any) -> list[Generation]:
        requests.extend(batch)
        return answer(self, batch, deadline)

    monkeypatch.setattr(ScriptedLanguageModel, "generate", generate)
    return requests


def label(questions: Path, out: Path, *more: str, replies: dict[str, str] | None = None) -> int:
    table = toml_table(REPLIES if replies is None else replies)
    engine = f'language_model = {{engine = "scripted", replies = {table}}}'
    bare = ["knowledge_graph.writer = {examples = 0, schema_in_prompt = false, repair = false}", "dense_encoder = none"]
    sets = [part for line in (engine, *bare) for part in ("--set", line)]
    paths = ["--questions", str(questions), "--graph", str(SHIPPED_GRAPH), "--out", str(out)]
    return label_calls([*paths, "--preset", "scripted", "--attempts", "1", *sets, *more])


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_calls_are_kept_where_their_values_are_right_and_the_card_counts_every_attempt(
    questions: Path, tmp_path: Path
) -> None:
    out = tmp_path / "calls.jsonl"

    assert label(questions, out) == 0
    first, second = rows_of(out)
    assert [row["query"] for row in (first, second)] == KEPT
    assert first["calls"] == [DIRECTOR]
    assert (first["kg_values"], first["answer"], first["domain"]) == (["Frank Darabont"], "frank darabont", "movie")
    assert (first["split"], first["query_time"], first["label"]["attempt"]) == (0, ASKED, 1)

    pairs = tmp_path / "pairs.jsonl"
    assert write_pairs(["--graph", str(SHIPPED_GRAPH), "--questions", str(out), "--out", str(pairs)]) == 0
    assert [pair.query for pair in read_pairs(pairs)] == KEPT

    card = json.loads((tmp_path / "calls" / CARD_FILE).read_text(encoding="utf-8"))
    expected = {
        "questions": 6, "questions kept": 2, "attempts": 6, "kept": 2, "other answer": 1, "not found": 1, "no reply": 0,
        "none": 1, "unreadable": 1, "failed": 0,
    }  # fmt: skip
    assert card["metrics"]["domains"] == {"all": expected, "movie": expected}
    assert card["metrics"]["left_out"] == {"without an answer that values could give": 1, "of split 1": 1}
    assert card["settings"]["attempts"] == 1
    assert card["data"]["questions"]["name"] == "questions.jsonl"


def test_a_stronger_model_is_asked_first_and_a_person_corrects_what_all_attempts_leave(
    questions: Path, tmp_path: Path, asked: list[GenerationRequest], capsys: pytest.CaptureFixture[str]
) -> None:
    out, rejected = tmp_path / "calls.jsonl", tmp_path / "calls" / "rejected.jsonl"
    strong = ScriptedLanguageModel(ScriptedEngine(engine="scripted", replies={"who directed": DIRECTOR}))

    with serve_openai(strong, {"strong": None}) as url:
        more = ["--url", url, "--model", "strong", "--attempts", "2", "--temperature", "0.5"]

        assert label(questions, out, *more) == 0
        assert [request.temperature for request in asked] == [0.0] * 6 + [0.0] * 5 + [0.5] * 4
        assert asked[0].messages
        assert [(row["query"], row["label"]["attempt"]) for row in rows_of(out)] == [(KEPT[0], 1), (KEPT[1], 2)]

        wrote, nothing, film, feels = rows = rows_of(rejected)
        assert [row["calls"] for row in rows] == [[]] * 4
        assert [each["why"] for each in wrote["tried"]] == ["unreadable", "other answer", "other answer"]
        assert wrote["tried"][1]["calls"] == DIRECTOR

        wrote["calls"] = ['get_movie_person_crew("the shawshank redemption",None,eq(job,"Producer"))["name"]']
        nothing["calls"] = ['get_movie("no such film at all")["title"]']
        film["calls"] = ["None"]
        write_rows(rejected, rows)

        assert label(questions, out, *more, "--resume") == 0
        assert "2 questions for correction by hand" in capsys.readouterr().out
        assert {row["query"]: row["calls"] for row in rows_of(out)}.items() >= {
            wrote["query"]: wrote["calls"], film["query"]: ["None"],
        }.items()  # fmt: skip

        rows = rows_of(rejected)
        assert [bool(row["calls"]) for row in rows] == [True, True, True, False], "a person's work is kept"
        assert rows[1]["tried"][0]["why"] == "not found"

        asked.clear()
        assert label(questions, out, *more, "--resume", "--limit", "1") == 0
        assert (asked, rows_of(rejected)) == ([], rows[:3])

    feels["calls"] = ["how("]
    write_rows(rejected, [feels])

    assert label(questions, out, "--resume") == 2
    assert 'rejected.jsonl, line 1, field "calls"' in capsys.readouterr().err


def test_a_dead_engine_costs_nothing_that_was_done(
    questions: Path, tmp_path: Path, asked: list[GenerationRequest], capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "calls.jsonl"
    dying = ["--set", 'language_model.fault = "die_after"', "--set", "language_model.fault_after = 3"]
    dying += ["--set", "batch_size = 2"]

    assert label(questions, out, *dying) == 2
    assert "--resume continues" in capsys.readouterr().err

    assert label(questions, out, *dying) == 2
    assert "pass --resume to continue it" in capsys.readouterr().err

    calls = tmp_path / "calls" / "attempts.jsonl"
    assert len(rows_of(calls)) == 2

    asked.clear()
    assert label(questions, out, "--resume") == 0
    assert len(asked) == 6, "what another preset said is not used"

    whole = rows_of(out)
    lines = calls.read_text(encoding="utf-8").splitlines()[2:]
    calls.write_text("\n".join(lines[:2]) + '\n{"key": "torn', encoding="utf-8")
    asked.clear()

    assert label(questions, out, "--resume") == 0
    assert len(asked) == 4
    assert rows_of(out) == whole


def test_questions_that_the_engine_failed_on_are_asked_again(
    questions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "calls.jsonl"
    failing = ["--set", 'language_model.fault = "error"', "--set", "language_model.fault_after = 1"]
    assert label(questions, out, *failing) == 1
    assert "failed on 5 questions: --resume asks them again" in capsys.readouterr().err
    assert len(rows_of(out)) == 1
    assert label(questions, out, *failing, "--resume") == 1
    assert "failed on 4 questions" in capsys.readouterr().err


def test_a_program_that_asks_for_too_much_costs_its_own_question(
    questions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = ProgramResult((Result("", Status.KG_DOWN),))

    def slow(executor: Executor, tasks: Sequence[Task], attempts: int = 1) -> list[ProgramResult]:
        done = execute(executor, tasks, attempts)
        return [late if "release_date" in str(task.program) else one for task, one in zip(tasks, done, strict=True)]

    monkeypatch.setattr("crag.training.api_pairs.label.execute", slow)
    assert label(questions, tmp_path / "calls.jsonl") == 0
    assert [row["query"] for row in rows_of(tmp_path / "calls.jsonl")] == KEPT[:1]
    card = json.loads((tmp_path / "calls" / CARD_FILE).read_text(encoding="utf-8"))
    assert card["metrics"]["domains"]["all"]["no reply"] == 1


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        (["--questions", "nowhere.jsonl"], "nowhere.jsonl: there is no such file"),
        (["--preset", "nec"], "uses no graph: pass --preset cpu"),
        (["--split", "7"], "of 8 rows none is of split 7"),
        (["--graph", "nowhere"], "nowhere: no graph"),
    ],
)
def test_what_cannot_be_used_is_one_line(
    questions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str], complaint: str
) -> None:
    arguments = ["--questions", str(questions), "--preset", "scripted", "--out", str(tmp_path / "calls.jsonl")]
    assert label_calls([*arguments, *more]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert complaint in said
