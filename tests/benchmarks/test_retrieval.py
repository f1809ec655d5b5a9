"""Where an answer is found or lost between the pages and the prompt."""

import json
import tarfile
from pathlib import Path

import pytest

from agents.settings import load_settings
from benchmarks.retrieval import dataset, measure, questions
from evaluation.datasets import DatasetError

FILLER = "".join(f"<p>The club played match number {n} of its long season in the rain.</p>" for n in range(300))
TABLE = "<table><tr><th>Season<th>Top scorer</th></tr>" + "".join(
    f"<tr><td>{year}</td><td>Player {year * 7}</td></tr>" for year in range(1950, 2020)
)


def row(number: int, question: str, answer: str, html: str, **more: object) -> dict[str, object]:
    found = {"page_name": "The club", "page_url": "https://a.example", "page_snippet": "", "page_result": html}
    return {
        "interaction_id": str(number), "query": question, "query_time": "03/05/2024, 23:18:31 PT", "answer": answer,
        "search_results": [found | {"page_last_modified": ""}], **more,
    }  # fmt: skip


def written(folder: Path, rows: list[dict[str, object]]) -> Path:
    path = folder / "questions.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


def test_only_questions_with_a_measurable_answer_count(tmp_path: Path) -> None:
    rows = [row(n, f"who scored {n} goals?", "Ann Berg", "<p>Ann Berg</p>") for n in range(10)]
    rows += [row(10, "is it so?", "yes", "<p>yes</p>"), row(11, "who?", "Ann Berg", "x", question_type="false_premise")]
    path = written(tmp_path, rows)
    assert len(list(questions(path, None))) == 10
    assert [query.interaction_id for query, _ in questions(path, 3)] == ["0", "3", "6"]


def test_an_archive_is_read_with_its_pages(tmp_path: Path) -> None:
    written(tmp_path, [row(0, "who?", "Ann Berg", "x")])
    with tarfile.open(tmp_path / "pages.tar.xz", "w:xz") as archive:
        archive.add(tmp_path / "questions.jsonl", "questions.jsonl")
    with dataset(tmp_path / "pages.tar.xz") as path:
        assert len(list(questions(path, None))) == 1
    assert not path.exists()


def test_missing_data_are_named(tmp_path: Path) -> None:
    with (
        pytest.raises(DatasetError, match=r"none.jsonl is missing: pass .* --dataset"),
        dataset(tmp_path / "none.jsonl"),
    ):
        pass


@pytest.mark.models
def test_the_row_of_a_long_table_reaches_the_context(tmp_path: Path) -> None:
    html = f"<article><h1>The club</h1>{FILLER}{TABLE}</table></article>"
    path = written(tmp_path, [row(0, "who was the club's top scorer in the 1987 season?", "Player 13909", html)])
    ((found,), _, _) = measure(load_settings("cpu", ["web.extract.workers=0"]), path, None)
    assert found["text"]
    assert found["candidates"]
    assert found["600 tokens"]
