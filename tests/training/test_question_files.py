"""Files of questions for local_evaluation.py: those that a fold tests."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crag.commands.train.folds import main as held_out
from crag.training.folds import Fold, fold_number, is_tested, may_train, parse_fold

ROWS = [{"query": f"question {number}", "interaction_id": str(number), "split": 0} for number in range(40)]


def written(path: Path, rows: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def pair(query: str, group: str) -> dict[str, Any]:
    """A row of crag train api-pairs."""
    fields = {"query_time": "", "domain": "movie", "calls": ["None"], "split": 0}
    return fields | {"query": query, "groups": [group]}


GROUPS = st.lists(st.text(min_size=1), min_size=1, max_size=4)


@given(GROUPS, GROUPS, st.integers(2, 7))
def test_exactly_one_fold_tests_a_row_and_trains_on_nothing_that_shares_a_group(
    groups: list[str], others: list[str], total: int
) -> None:
    (tested,) = [fold for number in range(total) if is_tested(groups, fold := Fold(number + 1, total))]
    assert not may_train(groups, tested)
    assert not may_train([*others, groups[0]], tested)


def test_a_group_in_another_spelling_is_in_the_same_fold() -> None:
    assert fold_number("Taylor  Swift", 5) == fold_number("taylor swift", 5)


@pytest.mark.parametrize("text", ["2", "0/5", "6/5", "-1/5", "a/b", "1/1", "1/", ""])
def test_what_is_no_fold_is_refused_with_the_form_of_one(text: str) -> None:
    with pytest.raises(ValueError, match="NUMBER/TOTAL"):
        parse_fold(text)


def test_a_fold_tests_what_is_not_trained_on_without_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pairs = [pair(str(row["query"]), f"film {number}") for number, row in enumerate(ROWS[:20])]
    out = tmp_path / "new" / "out.jsonl"
    arguments = ["--questions", written(tmp_path / "q.jsonl", ROWS), "--out", str(out), "--fold"]

    def questions_of_fold(*more: str) -> list[str]:
        assert held_out([*arguments, *more]) == 0
        return [json.loads(line)["query"] for line in out.read_text(encoding="utf-8").splitlines()]

    first, second = questions_of_fold("1/2"), questions_of_fold("2/2")
    assert sorted(first + second) == sorted(str(row["query"]) for row in ROWS)
    assert not any(may_train([query], Fold(1, 2)) for query in first)

    by_film = questions_of_fold("1/2", "--pairs", written(tmp_path / "pairs.jsonl", pairs))
    films: dict[str, list[str]] = {row["query"]: row["groups"] for row in pairs}
    assert by_film == [query for query in films if not may_train(films[query], Fold(1, 2))]
    assert f"wrote {len(by_film)} of 40 questions" in capsys.readouterr().out

    with_unlabelled = questions_of_fold("1/2", "--pairs", str(tmp_path / "pairs.jsonl"), "--unlabelled")
    assert with_unlabelled == by_film + [query for query in first if query not in films]

    written(tmp_path / "q.jsonl", ROWS[:1])
    empty = [fold for fold in ("1/2", "2/2") if held_out([*arguments, fold]) == 2]
    assert len(empty) == 1
    assert f"fold {empty[0]} tests none of 1 question" in capsys.readouterr().err


def test_the_questions_are_not_replaced_by_those_of_a_fold(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    questions = written(tmp_path / "q.jsonl", ROWS)
    assert held_out(["--questions", questions, "--out", questions, "--fold", "1/2"]) == 2
    assert "q.jsonl: this file is an input" in capsys.readouterr().err
    assert len(Path(questions).read_text(encoding="utf-8").splitlines()) == len(ROWS)


def test_pages_can_be_left_out_and_a_question_is_known_in_any_spelling(tmp_path: Path) -> None:
    pages = [
        {"page_name": "Heat", "page_url": "", "page_snippet": "", "page_result": "x" * 9, "page_last_modified": ""}
    ]
    rows = [row | {"query": str(row["query"]).upper(), "search_results": pages} for row in ROWS]
    pairs = [pair(str(row["query"]), "heat") for row in ROWS]
    out, fold = tmp_path / "out.jsonl", f"{fold_number('heat', 2)}/2"
    files = ["--questions", written(tmp_path / "q.jsonl", rows), "--pairs", written(tmp_path / "p.jsonl", pairs)]

    assert held_out([*files, "--unlabelled", "--without-pages", "--fold", fold, "--out", str(out)]) == 0
    queries = [json.loads(line)["query"] for line in out.read_text(encoding="utf-8").splitlines()]
    assert queries == [row["query"] for row in rows], "a writer tuned on the same words in lower case knows it"
    assert "search_results" not in out.read_text(encoding="utf-8")
