"""The model's own level of confidence, in the many ways in which models write it."""

import pytest

from agents.answering.assessment import Assessor, assessed, level_of
from agents.contracts import Answer, Decision, Query
from agents.deadline import Deadline
from agents.llm import load_language_model
from agents.settings import load_settings


@pytest.mark.parametrize(
    ("said", "text", "level"),
    [
        ("Paris\nConfidence: high", "Paris", "high"),
        ("Paris (confidence: Medium)", "Paris", "medium"),
        ("**Confidence level:** low\nParis", "Paris", "low"),
        ("Paris. Confidence is HIGH.", "Paris", "high"),
        ("Paris", "Paris", None),
        ("a high tower", "a high tower", None),
        ("the confidence of the high court", "the confidence of the high court", None),
        ("Confidence: high\nParis\nConfidence: low", "Paris", None),
        ("", "", None),
    ],
)
def test_the_level_is_taken_out_of_the_text(said: str, text: str, level: str | None) -> None:
    found = assessed(said)
    assert (found.text.strip(), found.level) == (text, level)


@pytest.mark.parametrize(
    ("said", "level"),
    [
        ("high", "high"),
        ("High.", "high"),
        ("**High**", "high"),
        ("__low__", "low"),
        ("high (the", "high"),
        ("Confidence: high", "high"),
        ("Confidence level is medium.", "medium"),
        ("\nlow\n", "low"),
        ("Well, high I think", None),
        ("highly", None),
        ("high, medium or low", None),
        ("low to medium", None),
        ("", None),
    ],
)
def test_a_level_that_was_asked_for_comes_first(said: str, level: str | None) -> None:
    assert level_of(said) == level


@pytest.mark.models
def test_a_small_model_held_to_the_grammar_names_a_level() -> None:
    bare = ["language_model.adapters = {}", "answering.adapter = none", "knowledge_graph = none"]
    settings = load_settings("cpu", ["language_model.model = smollm2-135m-instruct", *bare])
    model = load_language_model(settings.language_model)
    model.check_weights()
    query = Query("1", "who directed rain man?", "03/05/2024, 23:18:31 PT", None, ())
    answer = Answer("Barry Levinson", Decision.ANSWERED, "web", "")
    (found,) = Assessor(settings.answering, model).assess(
        [query], ["Rain Man is a film by Barry Levinson."], [answer], Deadline(120)
    )
    model.close()
    assert found.level in {"high", "medium", "low"}
