"""Our front half beside the starter kit's method: equal terms, and recall only where it can be measured."""

import pytest

from benchmarks.front_half import (
    CONTEXT_CHARACTERS,
    MethodResult,
    answer_recall,
    kit_context,
    read_queries,
    shown,
    summary,
)
from evaluation.datasets import DEFAULT_DATASET
from tests.agents.web.fakes import HashedWords, page, query


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


def test_the_kit_takes_the_sentences_nearest_to_the_question() -> None:
    text = "".join(f"<p>Filler sentence number {n}.</p>" for n in range(60)) + "<p>The comet came in 1910.</p>"
    context = kit_context(query("when did the comet come", page(text)), HashedWords())
    assert context.startswith("The comet came in 1910.")
    assert len(context.splitlines()) == 20
    assert kit_context(query("no pages"), HashedWords()) == ""


def test_the_kit_has_no_more_characters_than_we() -> None:
    text = "".join(f"<p>{n} {'word ' * 150}.</p>" for n in range(60))
    assert len(kit_context(query("word", page(text)), HashedWords())) == CONTEXT_CHARACTERS


def test_the_summary_counts_recall_only_where_it_can_be_measured() -> None:
    pairs = [(1.0, 0.5), (None, None), (0.0, 0.9)]
    facts = summary([{"kit": MethodResult(8.0, 6.0, a), "ours": MethodResult(1.0, 1.0, b)} for a, b in pairs])
    assert (facts["questions"], facts["measurable"]) == (3, 2)
    assert facts["kit"]["answer_found"] == facts["ours"]["answer_found"] == 0.5
    assert facts["ours"]["answer_words_found"] == pytest.approx(0.7)
    assert (facts["times_faster"], facts["times_less_processor_time"]) == (8.0, 6.0)
    assert "times faster, by the clock" in shown(facts)


def test_the_shipped_sample_is_read() -> None:
    assert len(list(read_queries([DEFAULT_DATASET]))) >= 20
