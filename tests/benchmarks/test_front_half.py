from pathlib import Path

import pytest

from agents.queries import parse_batch
from benchmarks.front_half import CONTEXT_CHARACTERS, Row, kit_context, read_queries, summary, table
from benchmarks.segment_pages import with_pages
from tests.agents.web.fakes import HashedWords, page, query

SAMPLE = Path(__file__).resolve().parents[2] / "data" / "sample" / "questions.jsonl"


def test_the_kit_takes_the_sentences_nearest_to_the_question() -> None:
    text = "".join(f"<p>Filler sentence number {n}.</p>" for n in range(60)) + "<p>The comet came in 1910.</p>"
    context, sentences = kit_context(query("when did the comet come", page(text)), HashedWords())
    assert context.startswith("The comet came in 1910.")
    assert sentences == 61
    assert len(context.splitlines()) == 20
    assert kit_context(query("no pages"), HashedWords()) == ("", 0)


def test_the_kit_has_no_more_characters_than_we() -> None:
    text = "".join(f"<p>{n} {'word ' * 150}.</p>" for n in range(60))
    assert len(kit_context(query("word", page(text)), HashedWords())[0]) == CONTEXT_CHARACTERS


def row(kit: float | None, ours: float | None) -> Row:
    return Row("id", "q", 8.0, 1.0, 6.0, 1.0, kit, ours, 10)


def test_the_summary_counts_recall_only_where_it_can_be_measured() -> None:
    facts = summary([row(1.0, 0.5), row(None, None), row(0.0, 0.9)])
    assert (facts["questions"], facts["measurable"]) == (3, 2)
    assert facts["kit"]["answer_found"] == facts["ours"]["answer_found"] == 0.5
    assert facts["ours"]["answer_words_found"] == pytest.approx(0.7)
    assert (facts["times_faster"], facts["times_less_processor_time"]) == (8.0, 6.0)
    assert "| times faster, by the clock | 1 | 8.0 |" in table(facts)


def test_the_shipped_sample_is_read() -> None:
    if not SAMPLE.is_file():
        pytest.skip("data/sample is not there")
    assert len(list(read_queries([SAMPLE]))) >= 20


def test_segments_become_pages_that_hold_them() -> None:
    rows = [{"query": f"q{n}", "segments": [{"text": f"about {n}\nmore <{n}>", "score": 1}]} for n in range(6)]
    made = with_pages(rows)
    assert all("about" in page["page_result"] for page in made[3]["search_results"])
    assert "<p>about 3</p><p>more &lt;3&gt;</p>" in made[3]["search_results"][0]["page_result"]
    assert len({page["page_result"] for page in made[3]["search_results"]}) == 5
    assert with_pages(rows) == made
    columns = {
        "interaction_id": ["x"],
        "query": ["q"],
        "query_time": [""],
        "search_results": [made[0]["search_results"]],
    }
    assert parse_batch(columns)[0].fault is None
