"""Split 0 trains: every command that learns, labels or divides leaves other rows out, says so, and refuses to guess."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evaluation.datasets import DatasetError, Split, read_records
from tests.training.calibrate.synthetic import answered_run
from tests.training.labels.runs import asked, written
from tests.training.lora.toy import toy_examples
from tests.training.router.toy import toy_rows
from training.api_pairs.__main__ import main as api_pairs
from training.calibrate.__main__ import main as calibrate
from training.held_out import main as held_out
from training.labels.__main__ import main as labels
from training.lora.__main__ import main as lora
from training.prompts import main as prompts
from training.router.__main__ import main as router
from training.segments import main as segments

OWN_GRAPH = Path(__file__).parents[2] / "mock_api" / "graph"
CALLS = {"query_time": "03/15/2024, 16:00:00 PT", "domain": "movie", "calls": ['get_movie("heat")["length"]']}
LABEL = {"completion": "a", "prompt": "p", "query": "q", "answers": ["a"], "query_time": "", "context": "c"}
PAIR = CALLS | {"groups": ["heat"], "source": "real", "answer": "a"}


def rows_file(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def edited(run: Path, edit: Callable[[list[dict[str, Any]]], None]) -> Path:
    """A run of local_evaluation.py with other rows of predictions."""
    path = run / "predictions.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    edit(rows)
    rows_file(path, rows)
    return run


def given(folder: Path, rows: list[dict[str, Any]], option: str) -> list[str]:
    return [option, str(rows_file(folder / "given.jsonl", rows))]


def segment_rows(count: int) -> list[dict[str, Any]]:
    return [{"interaction_id": str(n), "query": f"q{n}", "segments": []} for n in range(count)]


COMMANDS: dict[str, tuple[Callable[[list[str]], int], Callable[[Path], list[dict[str, Any]]], str, list[str]]] = {
    "segments": (segments, lambda _: segment_rows(4), "--contexts", []),
    "held_out": (held_out, lambda _: segment_rows(20), "--questions", ["--fold", "1/2"]),
    "prompts": (prompts, lambda _: [LABEL] * 4, "--labels", ["web_answerer", "--preset", "scripted"]),
    "prompts of pairs": (
        prompts,
        lambda _: [PAIR | {"query": f"how long is heat, part {n}?", "alt_ans": []} for n in range(4)],
        "--pairs",
        ["kg_writer", "--preset", "scripted"],
    ),
    "api_pairs": (
        api_pairs,
        lambda _: [CALLS | {"query": f"how long is heat, part {n}?"} for n in range(4)],
        "--questions",
        ["--graph", str(OWN_GRAPH)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", COMMANDS)
def test_rows_of_other_splits_are_left_out_and_counted(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command, make, option, more = COMMANDS[name]
    out = tmp_path / "out.jsonl"
    rows = [row | {"split": number % 2} for number, row in enumerate(make(tmp_path))]
    arguments = [*more, *given(tmp_path, rows, option), "--out", str(out)]
    assert command(arguments) == 0
    reported = capsys.readouterr().out
    assert f"left out, because only split 0 is read: {len(rows) // 2} of split 1" in reported
    splits = {json.loads(line)["split"] for line in out.read_text(encoding="utf-8").splitlines()}
    assert 0 in splits
    assert 1 not in splits


@pytest.mark.parametrize("name", COMMANDS)
def test_a_missing_split_is_one_line_and_any_reads_all(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command, make, option, more = COMMANDS[name]
    out = tmp_path / "out.jsonl"
    arguments = [*more, *given(tmp_path, make(tmp_path), option), "--out", str(out)]
    assert command(arguments) == 2
    reported = capsys.readouterr().err
    assert reported.count("\n") == 1
    assert f'{tmp_path / "given.jsonl"}, line 1, field "split": missing' in reported
    assert "--split any" in reported
    assert not out.exists()
    assert command([*arguments, "--split", "any"]) == 0
    assert out.is_file()


def test_commands_that_take_long_ask_for_the_split_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def without_split(rows: list[dict[str, Any]]) -> None:
        del rows[1]["split"]

    examples = [example.to_row() for example in toy_examples(2)]
    del examples[1]["split"]
    questions = toy_rows(3)
    del questions[1]["split"]
    (tmp_path / "lora").mkdir()
    run = edited(written(tmp_path / "run", *(asked(n, f"{n}?", "x", "x") for n in "abc")), without_split)
    for command, arguments in [
        (
            lora,
            ["--config", "db3", *given(tmp_path / "lora", examples, "--data"), "--out", str(tmp_path / "l")],
        ),
        (router, ["--config", "nec_domain", *given(tmp_path, questions, "--data"), "--out", str(tmp_path / "r")]),
        (
            calibrate,
            [str(edited(answered_run(tmp_path / "c", 3, 0), without_split)), "--out", str(tmp_path / "c.json")],
        ),
        (labels, ["--run", str(run), "--out", str(tmp_path / "labels.jsonl")]),
    ]:
        assert command(arguments) == 2
        reported = capsys.readouterr().err
        assert reported.count("\n") == 1
        assert 'field "split": missing' in reported


def test_labels_and_calibration_leave_questions_of_the_test_set_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def of_split_one(rows: list[dict[str, Any]]) -> None:
        rows[0]["split"] = 1

    run = edited(written(tmp_path / "run", *(asked(n, f"{n}?", "x", "x") for n in "abc")), of_split_one)
    out = tmp_path / "labels.jsonl"
    assert labels(["--run", str(run), "--out", str(out)]) == 0
    assert "1 of split 1" in capsys.readouterr().out
    assert [json.loads(line)["interaction_id"] for line in out.read_text(encoding="utf-8").splitlines()] == ["b", "c"]
    assert labels(["--run", str(run), "--out", str(out), "--split", "1"]) == 0
    assert [json.loads(line)["interaction_id"] for line in out.read_text(encoding="utf-8").splitlines()] == ["a"]


def test_what_was_made_up_belongs_to_no_split_and_no_row_at_all_is_an_error(tmp_path: Path) -> None:
    path = rows_file(tmp_path / "rows.jsonl", [{"split": None}, {"split": 1}, {"split": 1}])
    split = Split(0)
    assert [record.data["split"] for record in read_records(path, split=split)] == [None]
    assert split.left_out == {1: 2}
    rows_file(path, [{"split": 1}, {"split": 1}])
    with pytest.raises(DatasetError, match=r"rows\.jsonl: none of its 2 rows is of split 0 \(--split any reads all\)"):
        list(read_records(path, split=Split(0)))
    rows_file(path, [{"split": "0"}])
    with pytest.raises(DatasetError, match="line 1, field \"split\": expected a whole number, found '0'"):
        list(read_records(path, split=Split(0)))
