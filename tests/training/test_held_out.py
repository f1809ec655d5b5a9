"""Which questions of a file a fold tests, and the command that writes them."""

import json
from pathlib import Path
from typing import Any

import pytest

from training.folds import Fold, may_train
from training.held_out import held_out, main

ROWS: list[dict[str, Any]] = [
    {"query": f"question {number}", "interaction_id": str(number), "split": 0} for number in range(40)
]


def test_a_question_is_about_itself_and_one_fold_tests_it() -> None:
    folds = [held_out(ROWS + ROWS[:5], Fold(number, 3)) for number in (1, 2, 3)]
    assert sorted(row["interaction_id"] for rows in folds for row in rows) == sorted(
        row["interaction_id"] for row in ROWS + ROWS[:5]
    )
    assert all(
        not may_train([row["query"]], Fold(number, 3)) for number, rows in enumerate(folds, start=1) for row in rows
    )


def test_by_what_pairs_say_with_some_that_they_do_not_know() -> None:
    groups = {row["query"]: (f"film {number}",) for number, row in enumerate(ROWS[:20])}
    fold = Fold(1, 2)
    known = held_out(ROWS, fold, groups)
    assert 0 < len(known) < 20
    assert all(not may_train(groups[row["query"]], fold) for row in known)
    more = held_out(ROWS, fold, groups, others=7, seed=3)
    assert [row for row in more if row["query"] in groups] == known
    assert len(more) == len(known) + 7
    assert more == held_out(ROWS, fold, groups, others=7, seed=3) != held_out(ROWS, fold, groups, others=7, seed=4)
    assert len(held_out(ROWS, fold, groups, others=100)) == len(known) + 20


def test_the_command_writes_questions_or_says_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, out = tmp_path / "questions.jsonl", tmp_path / "new" / "out.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")
    arguments = ["--questions", str(file), "--out", str(out), "--fold"]
    assert main([*arguments, "1/2", "--no-pages"]) == 0
    written = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [row["query"] for row in written] == [row["query"] for row in held_out(ROWS, Fold(1, 2))]
    assert all(row["search_results"] == [] for row in written)
    assert f"wrote {len(written)} of 40 questions" in capsys.readouterr().out

    file.write_text(json.dumps(ROWS[0]) + "\n", encoding="utf-8")
    empty = [fold for fold in ("1/2", "2/2") if main([*arguments, fold]) == 1]
    assert len(empty) == 1
    assert f"fold {empty[0]} tests none of its 1 questions" in capsys.readouterr().err
    file.write_text('{"query": "no name", "split": 0}\n', encoding="utf-8")
    assert main([*arguments, "1/2"]) == 1
    assert 'line 1, field "interaction_id"' in capsys.readouterr().err
    for wrong in (["3/2"], ["1/2", "--others", "4"]):
        with pytest.raises(SystemExit):
            main([*arguments, *wrong])
