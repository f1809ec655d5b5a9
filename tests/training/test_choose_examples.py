"""The fixed examples grow by what the writer still gets wrong; a run can be repeated, and goes on after a kill."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from crag.commands.train.choose_examples import main
from crag.core.deadline import Deadline
from crag.engines.llm import Generation, GenerationRequest
from crag.engines.llm.scripted_engine import ScriptedLanguageModel
from crag.graph.schema import Domain
from crag.graph.writing import load_bank
from crag.graph.writing.bank import load_examples, load_folder
from crag.settings import load_settings
from crag.training.choose_examples import parts_of
from crag.training.files import CARD_FILE
from crag.training.program_kind import program_kind
from tests.graph.small_graph import write_graph

PRESET = """
description = "script"
batch_size = 2
[language_model]
engine = "scripted"
default_reply = "get_movie(broken"
[language_model.replies]
"who made the red kite?" = 'ALL get_movie_person_crew("the red kite",None,eq(job,"Director"))["name"]'
"when did blue door come out?" = 'get_movie("blue door")["year"]'
"who is tall?" = "None"
[knowledge_graph]
[web]
pages = { method = "bm25" }
retrieve = [{ method = "bm25", top_k = 4 }]
chunk = { method = "words" }
"""
RELEASED = 'get_movie("the red kite")["release_date"]'


def row(query: str, calls: str, split: int = 0) -> dict[str, Any]:
    asked = {"query": query, "query_time": "02/28/2024, 09:31:30 ET", "domain": "movie"}
    return asked | {"calls": [calls], "split": split}


ROWS = [
    row("who made the red kite?", 'ALL get_movie_person_crew("the red kite",None,eq(job,"Director"))["name"]'),
    row("who is tall?", "None"),
    row("when did the red kite come out?", RELEASED),
    row("when did blue door come out?", 'get_movie("blue door")["release_date"]'),
    row("what did the red kite cost?", 'get_movie("the red kite")["budget"]'),
    row("the test set's question", RELEASED, split=1),
]


class Run:
    """A folder with graph, questions and preset."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.out, self.work = folder, folder / "out", folder / "work"
        (folder / "graph").mkdir()
        write_graph(folder / "graph")
        (folder / "preset.toml").write_text(PRESET, encoding="utf-8")
        (folder / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")

    def __call__(self, count: int, *arguments: str) -> int:
        given = ["--preset", str(self.folder / "preset.toml"), "--questions", str(self.folder / "questions.jsonl")]
        given += ["--graph", str(self.folder / "graph"), "--out", str(self.out), "--work", str(self.work)]
        return main([*given, "--set", f"knowledge_graph.writer.examples={count}", *arguments])

    def card(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.out / CARD_FILE).read_text(encoding="utf-8"))
        return found

    def asked(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.work / "asked.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path)


def test_what_comes_out_wrong_joins_as_an_example_of_the_same_kind(run: Run) -> None:
    assert run(3, "--start", "1", "--added", "2", "--rounds", "1") == 0
    examples = load_folder(run.out)
    assert {domain: len(own) for domain, own in examples.items()} == dict.fromkeys(Domain, 1) | {Domain.MOVIE: 3}
    first, *joined = examples[Domain.MOVIE]
    wrong = {"when did the red kite come out?", "when did blue door come out?", "what did the red kite cost?"}
    assert {row["query"] for row in run.asked() if not row["right"]} == wrong
    # Two questions about a release came out wrong and one about a budget: the more frequent kind is first.
    assert [program_kind(example.program)[1] for example in joined] == [{"release_date"}, {"budget"}]
    assert all(example in load_bank() for example in (first, *joined))
    assert run.card()["metrics"]["movie"] == {"examples": 3, "rounds": [{"asked": 5, "wrong": 3, "added": 2}]}
    assert run.card()["settings"]["split"] == 0


def test_in_the_pool_of_questions_the_question_itself_joins(run: Run) -> None:
    assert run(9, "--pool", "questions", "--start", "1", "--added", "9") == 0
    examples = load_examples(run.out / "movie.toml", Domain.MOVIE)
    wrong = {row["query"] for row in run.asked() if not row["right"]}
    assert wrong <= {example.question for example in examples}
    assert "the test set's question" not in {example.question for example in examples}
    assert {row["query"] for row in run.asked()} | {examples[0].question} == {row["query"] for row in ROWS[:-1]}


@pytest.fixture
def prompts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """All prompts that the model was given."""
    asked: list[str] = []
    original = ScriptedLanguageModel.generate

    def remember(
        self: ScriptedLanguageModel, requests: Sequence[GenerationRequest], deadline: Deadline
    ) -> list[Generation]:
        asked.extend(request.prompt or "" for request in requests)
        return original(self, requests, deadline)

    monkeypatch.setattr(ScriptedLanguageModel, "generate", remember)
    return asked


def test_each_round_is_asked_with_the_examples_so_far(run: Run, prompts: list[str]) -> None:
    changes = ["--set", "knowledge_graph.writer.schema_in_prompt=false", "--set", "knowledge_graph.writer.repair=false"]
    assert run(3, "--start", "1", "--added", "1", *changes) == 0
    first, second, _ = load_examples(run.out / "movie.toml", Domain.MOVIE)
    head = f"Question: {first.question}\nCalls:\n{first.calls}\n\n"
    assert [prompt.startswith(head) for prompt in prompts] == [True] * 10
    both = f"{head}Question: {second.question}\nCalls:\n{second.calls}\n\n"
    assert [prompt.startswith(both) for prompt in prompts] == [False] * 5 + [True] * 5


def test_a_run_that_was_killed_goes_on_and_asks_nothing_twice(run: Run, prompts: list[str]) -> None:
    arguments = ["--start", "1", "--added", "1"]
    assert run(3, *arguments) == 0
    whole, files = run.asked(), {path.name: path.read_text() for path in run.out.glob("*.toml")}
    lines = (run.work / "asked.jsonl").read_bytes().splitlines(keepends=True)
    (run.work / "asked.jsonl").write_bytes(b"".join(lines[:6]) + lines[6][:20])  # cut in the middle of a line
    prompts.clear()
    run.out = run.folder / "again"
    assert run(3, *arguments, "--resume") == 0
    assert {path.name: path.read_text() for path in run.out.glob("*.toml")} == files
    assert run.asked() == whole
    assert 0 < len(prompts) <= 2 * (len(whole) - 6)  # what cannot be read is asked once more


def test_finished_examples_and_other_runs_are_not_overwritten(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(2, "--start", "1") == 0
    assert run(2, "--start", "1", "--resume") == 2
    assert "holds examples: remove them" in capsys.readouterr().err
    run.out = run.folder / "again"
    assert run(2, "--start", "1") == 2
    assert "holds a run: --resume continues it" in capsys.readouterr().err
    assert run(2, "--resume", "--added", "1") == 2
    assert "other settings" in capsys.readouterr().err


def test_the_shipped_list_shows_every_table_and_operator_and_says_how_it_was_made() -> None:
    graph = load_settings("db3_task23").knowledge_graph
    assert graph is not None
    folder = Path(__file__).parents[2] / graph.writer.fixed_examples
    card = json.loads((folder / CARD_FILE).read_text(encoding="utf-8"))
    assert card["settings"]["split"] == 0
    for domain, examples in load_folder(folder).items():
        assert len(examples) == card["metrics"][domain]["examples"] <= graph.writer.examples
        bank = Counter(part for each in load_bank() if each.domain is domain for part in parts_of(each.calls))
        shown = Counter(part for each in examples for part in parts_of(each.calls))
        assert {part: shown[part] for part in bank if shown[part] < min(2, bank[part])} == {}
