"""Questions made of a reading set: their pages, their gold answers, and titles that two uses never share."""

import json
from pathlib import Path
from typing import Any

import pytest

from training.reading_pages import main

TITLES = [f"Mill {number}" for number in range(64)]


def row(title: str) -> dict[str, Any]:
    return {
        "id": title,
        "source": "own",
        "question": f"when was {title} built?",
        "title": title,
        "passage": f"{title} was built in {1800 + int(title.split()[1])}.",
        "answers": [str(1800 + int(title.split()[1]))],
        "answerable": True,
    }


@pytest.fixture
def reading(tmp_path: Path) -> Path:
    folder = tmp_path / "reading"
    folder.mkdir()
    (folder / "own.jsonl").write_text("\n".join(json.dumps(row(title)) for title in TITLES), encoding="utf-8")
    return folder


def made(reading: Path, *more: str) -> list[dict[str, Any]]:
    out = reading.parent / "questions.jsonl"
    assert main(["--reading", str(reading), "--out", str(out), *more]) == 0
    return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]


def test_an_adapter_and_p_correct_never_see_the_same_title(reading: Path) -> None:
    of_adapter = {question["interaction_id"] for question in made(reading, "--to-train")}
    others = {question["interaction_id"] for question in made(reading)}
    assert of_adapter | others == set(TITLES)
    assert not of_adapter & others
    assert len(of_adapter) > len(others) > 0


def test_a_question_that_a_set_holds_twice_is_asked_once(reading: Path) -> None:
    file = reading / "own.jsonl"
    file.write_text(file.read_text(encoding="utf-8") + "\n" + json.dumps(row(TITLES[0])), encoding="utf-8")
    asked = [question["interaction_id"] for question in made(reading) + made(reading, "--to-train")]
    assert sorted(asked) == sorted(TITLES)


@pytest.mark.parametrize("left_out", ["0", "1"])
def test_the_gold_answer_says_whether_a_page_holds_it(reading: Path, left_out: str) -> None:
    questions = made(reading, "--without-answer", left_out)
    for question in questions:
        names = [page["page_name"] for page in question["search_results"]]
        assert len(names) == 5
        assert (question["interaction_id"] in names) is (left_out == "0")
        assert (question["answer"] == "i don't know") is (left_out == "1")
