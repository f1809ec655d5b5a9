"""Where an answer is found or lost between the pages and the prompt, beside the starter kit's method."""

import itertools
import json
from pathlib import Path

import pytest

from crag.benchmarks.retrieval import (
    KIT_CHARACTERS,
    PLACES,
    answer_recall,
    kit_context,
    measure_retrieval,
    read_questions,
    with_pages,
)
from crag.settings import load_settings
from tests.pipeline import asking
from tests.web.fakes import HashedWords, page, query

FILLER = "".join(f"<p>The club played match number {n} of its long season in the rain.</p>" for n in range(300))
TABLE = "<table><tr><th>Season<th>Top scorer</th></tr>" + "".join(
    f"<tr><td>{year}</td><td>Player {year * 7}</td></tr>" for year in range(1950, 2020)
)


def row(number: int, question: str, answer: str, html: str, **more: object) -> dict[str, object]:
    asked = {"interaction_id": str(number), "query": question, "query_time": asking.ASKED_AT, "answer": answer}
    return asked | {"search_results": [asking.page(html, number, "The club")], **more}


def written(folder: Path, rows: list[dict[str, object]]) -> Path:
    path = folder / "questions.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("question", "gold", "context", "expected"),
    [
        ("who?", ["Tom Hanks"], "It was Tom Hanks, again.", 1.0),
        ("who?", ["Tom Hanks"], "Tom met Mr. Hanks", 0.0),
        ("who?", ["Thomas Hanks", "Tom Hanks"], "tom hanks", 1.0),
        ("how far?", ["3,696 feet"], "only 3696 feet long", 1.0),
        ("how far?", ["96 feet"], "3,696 feet", 0.0),
        ("which road?", ["the road is i-878 in new york state, an interstate"], "I-878 (New York)", 4 / 6),
        ("who is older, Tom Hanks or Brad Pitt?", ["Tom Hanks"], "", None),
        ("is it so?", ["yes"], "", None),
        ("what language?", ["en"], "", None),
        ("is it so?", ["no", "it never was"], "", 0.0),
    ],
)
def test_the_share_of_an_answer_that_a_page_can_spell_out(
    question: str, gold: list[str], context: str, expected: float | None
) -> None:
    assert answer_recall(question, gold, context) == (None if expected is None else pytest.approx(expected))


def test_the_kit_takes_the_sentences_nearest_to_the_question_and_no_more_characters() -> None:
    text = "".join(f"<p>Filler sentence number {n}.</p>" for n in range(60)) + "<p>The comet came in 1910.</p>"
    context = kit_context(query("when did the comet come", page(text)), HashedWords())
    assert context.startswith("The comet came in 1910.")
    assert len(context.splitlines()) == 20
    assert kit_context(query("no pages"), HashedWords()) == ""
    long = "".join(f"<p>{n} {'word ' * 150}.</p>" for n in range(60))
    assert len(kit_context(query("word", page(long)), HashedWords())) == KIT_CHARACTERS


def test_a_sample_is_spread_over_the_file_and_can_be_given_more_pages(tmp_path: Path) -> None:
    rows = [row(n, f"who scored {n} goals?", "Ann Berg", "<p>Ann Berg</p>") for n in range(10)]
    rows += [row(10, "who?", "Ann Berg", "x", question_type="false_premise"), row(11, "no pages?", "", "")]
    rows[-1]["search_results"] = []
    asked = read_questions(written(tmp_path, rows), 3)
    assert [each.interaction_id for each, _ in asked] == ["0", "3", "6"]
    assert len(everything := read_questions(tmp_path / "questions.jsonl", None)) == 11
    assert everything[-1][1] == [], "no page holds the refusal of a premise"
    for grown, (own, _) in zip(with_pages([each for each, _ in asked], 3), asked, strict=True):
        assert grown.pages[0] == own.pages[0]
        assert [each.rank for each in grown.pages] == [0, 1, 2]
        assert len({each.url for each in grown.pages}) == 3


@pytest.mark.models
def test_the_row_of_a_long_table_reaches_the_context(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = itertools.count(step=2.0)
    monkeypatch.setattr("crag.benchmarks.retrieval.perf_counter", lambda: next(ticks))
    html = f"<article><h1>The club</h1>{FILLER}{TABLE}</table></article>"
    rows = [
        row(0, "who was the club's top scorer in the 1987 season?", "Player 13909", html),
        row(1, "so?", "yes", "x"),
    ]
    table, unmeasurable = measure_retrieval(load_settings("cpu", []), read_questions(written(tmp_path, rows), None))

    assert table.is_in_place is not None
    assert [place for place in PLACES if table.is_in_place[place]][:2] == ["text", "candidates"]
    assert table.is_in_place["600 tokens"]
    assert unmeasurable.is_in_place is None
    assert (unmeasurable.seconds, unmeasurable.kit_seconds) == (2.0, 2.0)
