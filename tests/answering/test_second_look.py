"""What a model may say about an answer, and what follows from it."""

import pytest

from crag.answering.second_look import Review, ReviewVerdict, read_review, split_assessment
from crag.core.contracts import I_DONT_KNOW, Answer, Decision
from crag.engines.llm import Generation

DRAFT = Answer("Barry Levinson", Decision.ANSWERED, "web", "the model answered")


def review_of_reply(reply: str) -> Review:
    return read_review(DRAFT, Generation(reply, -0.1, 1, 1, "stop"))


CONFIRMED = [
    "correct.", "**Correct**", "The given answer is correct", "Yes, correct!", "It is correct.", "That's right.",
    "Correct, Barry Levinson.", "Correct (Barry Levinson)", "Correct because the text names him",
    "Correct. The document says Barry Levinson directed it.", "Correct\nThe document names him.",
    "Correct - the document does not mention anybody else.", "Correct answer: Barry Levinson", "barry levinson.",
]  # fmt: skip
WITHDRAWN = [
    "I don't know", "The document does not mention it.", "Incorrect", "The proposed answer is incorrect.",
    "The given answer is not correct.", "Incorrect. The proposed answer is wrong.",
    "Incorrect. The document does not mention it.",
]  # fmt: skip


@pytest.mark.parametrize("reply", CONFIRMED)
def test_a_confirmed_answer_stays_as_it_is(reply: str) -> None:
    review = review_of_reply(reply)
    assert (review.verdict, review.answer) == (ReviewVerdict.CONFIRMED, DRAFT)


@pytest.mark.parametrize("reply", WITHDRAWN)
def test_a_withdrawn_answer_becomes_the_official_phrase(reply: str) -> None:
    review = review_of_reply(reply)
    assert (review.verdict, review.answer.text) == (ReviewVerdict.WITHDRAWN, I_DONT_KNOW)


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ("Sydney Pollack", "Sydney Pollack"),
        ("Correct answer: Sydney Pollack", "Sydney Pollack"),
        ("Incorrect. It was Sydney Pollack", "It was Sydney Pollack"),
        ("The answer is incorrect. The right answer is Sydney Pollack", "Sydney Pollack"),
        ("Incorrect\n\nThe correct answer is Sydney Pollack", "Sydney Pollack"),
        ("Wrong. $5 million", "$5 million"),
        ("Wrong Turn", "Wrong Turn"),
        ("Right-handed", "Right-handed"),
    ],
)
def test_another_answer_replaces_the_first(reply: str, text: str) -> None:
    review = review_of_reply(reply)
    assert (review.verdict, review.answer.text) == (ReviewVerdict.CORRECTED, text)
    assert "Barry Levinson" in review.answer.reason


def test_what_could_not_be_reviewed_is_not_trusted() -> None:
    review = read_review(DRAFT, Generation.failed("out of memory"))
    assert (review.verdict, review.answer.text) == (ReviewVerdict.NOT_REVIEWED, I_DONT_KNOW)
    assert "could not be reviewed: out of memory" in review.answer.reason


@pytest.mark.parametrize(
    ("said", "text", "level"),
    [
        ("Paris\nConfidence: high", "Paris", "high"),
        ("Paris (confidence: Medium)", "Paris", "medium"),
        ("**Confidence level:** low\nParis", "Paris", "low"),
        ("Paris", "Paris", None),
        ("the confidence of the high court", "the confidence of the high court", None),
        ("Confidence: high\nParis\nConfidence: low", "Paris", None),
        ("", "", None),
    ],
)
def test_the_level_is_taken_out_of_the_text(said: str, text: str, level: str | None) -> None:
    assert split_assessment(said) == (text, level)
