"""Split 0 trains: every command that learns, labels or divides leaves other rows out, says so, and refuses to guess."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from crag.commands.train.api_pairs import main as api_pairs
from crag.commands.train.calibrate import main as calibrate
from crag.commands.train.folds import main as folds
from crag.commands.train.labels import main as labels
from crag.commands.train.lora import main as lora
from crag.commands.train.prompts import main as prompts
from crag.commands.train.router import main as router
from crag.core.places import PACKAGE
from tests.training.calibrate.synthetic import answered_run
from tests.training.labels.runs import asked, written
from tests.training.lora.toy import toy_examples
from tests.training.router.toy import toy_rows

OWN_GRAPH = PACKAGE / "mock_api" / "graph"
CALLS = {"query_time": "03/15/2024, 16:00:00 PT", "domain": "movie", "calls": ['get_movie("heat")["length"]']}
LABEL = {"completion": "a", "prompt": "p", "query": "q", "answers": ["a"], "query_time": "", "context": "c"}
PAIR = CALLS | {"groups": ["heat"], "source": "real", "answer": "a"}


def rows_file(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def edited(run: Path, split: dict[str, int]) -> Path:
    """A run of local_evaluation.py with another split, or none, in its second row of predictions."""
    path = run / "predictions.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    del rows[1]["split"]
    rows[1] |= split
    rows_file(path, rows)
    return run


def question_rows(count: int) -> list[dict[str, Any]]:
    return [{"interaction_id": str(n), "query": f"q{n}"} for n in range(count)]


PARTS = [{"query": f"how long is heat, part {n}?"} for n in range(4)]
COMMANDS: dict[str, tuple[Callable[[list[str]], int], list[dict[str, Any]], str, list[str]]] = {
    "folds": (folds, question_rows(20), "--questions", ["--fold", "1/2"]),
    "prompts": (prompts, [LABEL] * 4, "--labels", ["web_answerer", "--preset", "scripted"]),
    "prompts of pairs": (
        prompts,
        [PAIR | part | {"alt_ans": []} for part in PARTS],
        "--pairs",
        ["kg_writer", "--preset", "scripted"],
    ),
    "api_pairs": (api_pairs, [CALLS | part for part in PARTS], "--questions", ["--graph", str(OWN_GRAPH)]),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_rows_of_other_splits_are_left_out_and_a_missing_split_is_one_line(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command, rows, option, more = COMMANDS[name]
    out, file = tmp_path / "out.jsonl", tmp_path / "given.jsonl"
    arguments = [*more, option, str(rows_file(file, rows)), "--out", str(out)]

    assert command(arguments) == 2
    reported = capsys.readouterr().err
    assert reported.count("\n") == 1
    assert f'{file}, line 1, field "split": missing' in reported
    assert "--split any" in reported
    assert not out.exists()

    rows_file(file, [row | {"split": number % 2} for number, row in enumerate(rows)])
    assert command(arguments) == 0
    reported = capsys.readouterr().out
    assert f"left out, because only split 0 is read: {len(rows) // 2} of split 1" in reported
    assert {json.loads(line)["split"] for line in out.read_text(encoding="utf-8").splitlines()} <= {0, None}


def test_commands_that_take_long_ask_for_the_split_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    examples = [example.to_row() for example in toy_examples(2)]
    questions = toy_rows(3)
    del examples[1]["split"], questions[1]["split"]
    examples_file = rows_file(tmp_path / "examples.jsonl", examples)
    questions_file = rows_file(tmp_path / "questions.jsonl", questions)
    answered = edited(answered_run(tmp_path / "answered", 3, 0), {})
    run = edited(written(tmp_path / "run", *(asked(name, f"{name}?", "x", "x") for name in "abc")), {})

    for command, arguments in [
        (lora, ["--config", "db3", "--data", str(examples_file)]),
        (router, ["--config", "nec_domain", "--data", str(questions_file)]),
        (calibrate, [str(answered)]),
        (labels, ["--run", str(run)]),
    ]:
        assert command([*arguments, "--out", str(tmp_path / "out.json")]) == 2
        reported = capsys.readouterr().err
        assert reported.count("\n") == 1
        assert 'field "split": missing' in reported


def test_labels_leave_questions_of_the_test_set_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = edited(written(tmp_path / "run", *(asked(n, f"{n}?", "x", "x") for n in "abc")), {"split": 1})
    out = tmp_path / "labels.jsonl"
    for more, names in ([], ["a", "c"]), (["--split", "1"], ["b"]):
        assert labels(["--run", str(run), "--out", str(out), *more]) == 0
        assert [json.loads(line)["interaction_id"] for line in out.read_text(encoding="utf-8").splitlines()] == names
    assert "1 of split 1" in capsys.readouterr().out
