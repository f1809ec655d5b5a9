import pytest

from benchmarks.answer_recall import answer_recall, is_measurable


@pytest.mark.parametrize(
    ("question", "gold", "context", "expected"),
    [
        ("who?", ["Tom Hanks"], "It was Tom Hanks, again.", 1.0),
        ("who?", ["Tom Hanks"], "Tom met Mr. Hanks", 0.0),
        ("who?", ["Thomas Hanks", "Tom Hanks"], "tom hanks", 1.0),
        ("how far?", ["3,696 feet"], "only 3696 feet long", 1.0),
        ("how far?", ["96 feet"], "3,696 feet", 0.0),
        ("which road?", ["the road is i-878 in new york state, an interstate"], "I-878 (New York)", 4 / 6),
    ],
)
def test_answer_recall(question: str, gold: list[str], context: str, expected: float) -> None:
    assert answer_recall(question, gold, context) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("question_type", "question", "gold", "expected"),
    [
        ("simple", "who?", ["Tom Hanks"], True),
        ("comparison", "who is older, Tom Hanks or Brad Pitt?", ["Tom Hanks"], False),
        ("simple", "is it so?", ["yes"], False),
        ("false_premise", "who?", ["nobody ever did"], False),
        ("simple", "what language?", ["en"], False),
        ("simple", "is it so?", ["no", "it never was"], True),
    ],
)
def test_only_answers_that_a_page_can_spell_out_are_measured(
    question_type: str, question: str, gold: list[str], expected: bool
) -> None:
    assert is_measurable(question_type, question, gold) is expected
