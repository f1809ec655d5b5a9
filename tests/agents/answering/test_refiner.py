"""The second look: what the model may say about an answer, and what follows from it."""

import pytest

from agents.answering.refiner import Refiner, Review, Verdict
from agents.contracts import I_DONT_KNOW, Answer, Decision, Query
from agents.deadline import Deadline
from agents.llm.scripted_engine import ScriptedLanguageModel
from agents.settings import AnsweringSettings, RefineSettings, ScriptedEngine

QUERY = Query("1", "who directed rain man?", "03/05/2024, 23:18:31 PT", None, ())
DRAFT = Answer("Barry Levinson", Decision.ANSWERED, "web", "the model answered")
NEC = AnsweringSettings(form="completion", refine=RefineSettings(prompt="nec_refine"))


def review_of(reply: str, settings: AnsweringSettings = NEC, **engine: object) -> Review:
    values = {"engine": "scripted", "default_reply": reply, **engine}
    model = ScriptedLanguageModel(ScriptedEngine.model_validate(values))
    return Refiner(settings, model).review([QUERY], ["a page about films"], [DRAFT], Deadline(10))[0]


@pytest.mark.parametrize(
    "reply",
    [
        "Correct",
        "correct.",
        "**Correct**",
        "The given answer is correct",
        "Yes, correct!",
        "It is correct.",
        "That's right.",
        "Correct, Barry Levinson.",
        "Correct (Barry Levinson)",
        "Correct because the text names him",
        "Correct. The document says Barry Levinson directed it.",
        "Correct - the document does not mention anybody else.",
        "Correct\nThe document names him.",
        "Correct answer: Barry Levinson",
        "barry levinson.",
    ],
)
def test_a_confirmed_answer_stays_as_it_is(reply: str) -> None:
    review = review_of(reply)
    assert (review.verdict, review.answer) == (Verdict.CONFIRMED, DRAFT)


@pytest.mark.parametrize(
    "reply",
    [
        "I don't know",
        "i don\u2019t know.",
        "The document does not mention it.",
        "Incorrect",
        "Wrong",
        "The proposed answer is incorrect.",
        "The given answer is not correct.",
        "Incorrect. The proposed answer is wrong.",
        "Incorrect. The document does not mention it.",
    ],
)
def test_a_withdrawn_answer_becomes_the_official_phrase(reply: str) -> None:
    review = review_of(reply)
    assert (review.verdict, review.answer.text) == (Verdict.WITHDRAWN, I_DONT_KNOW)


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        ("Sydney Pollack", "Sydney Pollack"),
        ("Correct answer: Sydney Pollack", "Sydney Pollack"),
        ("The correct answer is Sydney Pollack", "Sydney Pollack"),
        ("Incorrect. It was Sydney Pollack", "It was Sydney Pollack"),
        ("The answer is incorrect. The right answer is Sydney Pollack", "Sydney Pollack"),
        ("Incorrect (Sydney Pollack)", "Sydney Pollack"),
        ("Incorrect\n\nThe correct answer is Sydney Pollack", "Sydney Pollack"),
        ("Wrong. $5 million", "$5 million"),
        ("Wrong Turn", "Wrong Turn"),
        ("Right-handed", "Right-handed"),
        ("right now", "right now"),
    ],
)
def test_another_answer_replaces_the_first(reply: str, text: str) -> None:
    review = review_of(reply)
    assert (review.verdict, review.answer.text) == (Verdict.CORRECTED, text)
    assert "Barry Levinson" in review.answer.reason


def test_what_could_not_be_reviewed_is_not_trusted() -> None:
    review = review_of("Correct", fault="error")
    assert (review.verdict, review.answer.text) == (Verdict.NOT_REVIEWED, I_DONT_KNOW)
    assert "could not be reviewed" in review.answer.reason


def test_a_base_model_reads_plain_text_and_a_chat_model_turns() -> None:
    plain, chat = review_of("Correct"), review_of("Correct", AnsweringSettings(refine=RefineSettings()))
    assert plain.request.prompt is not None
    for text in (plain.request.prompt, " ".join(message.content for message in chat.request.messages)):
        assert "who directed rain man?" in text
        assert "Barry Levinson" in text
        assert "a page about films" in text
