"""The edge cases of the official metric get exactly the official class, whatever the judge thinks."""

from collections.abc import Sequence

import pytest

from crag.answering import trim_to_tokens
from crag.evaluation.judge import Claim, Judgement, RulesJudge, Verdict, judge_claims


class Recorder:
    """A judge that calls all right and keeps what it was asked."""

    name = "recorder"
    version = "1"

    def __init__(self) -> None:
        self.asked: list[Claim] = []

    def judge(self, claims: Sequence[Claim]) -> list[Judgement]:
        self.asked.extend(claims)
        return [Judgement(Verdict.CORRECT, f"recorder: {claim.prediction}") for claim in claims]


@pytest.mark.parametrize(
    ("gold", "prediction", "verdict"),
    [
        ("Ann Lee", "i don't know", "missing"),
        ("Ann Lee", "I DON'T KNOW", "missing"),
        ("Ann Lee", "Well, i don't know who it was.", "missing"),
        ("Ann Lee", "i don’t know", "asked"),
        ("Ann Lee", "i dont't know", "asked"),
        ("Ann Lee", "I do not know", "asked"),
        ("Ann Lee", "", "asked"),
        ("Ann Lee", "ANN LEE", "correct"),
        ("Ann Lee", "  ann lee ", "correct"),
        ("Ann Lee", "cy young", "correct"),
        ("Ann Lee", "ann lee.", "asked"),
        ("Ann Lee", "invalid question", "incorrect"),
        ("Ann Lee", "i don't know, the question is invalid", "missing"),
        ("invalid question", "The question is INVALID.", "correct"),
        ("invalid question", "ann lee", "incorrect"),
    ],
)
def test_what_is_settled_without_the_judge(gold: str, prediction: str, verdict: str) -> None:
    judge = Recorder()
    golds = (gold,) if gold == "invalid question" else (gold, "cy young")
    (judgement,) = judge_claims(judge, [Claim("who?", golds, prediction)], str)
    assert (judgement.verdict if not judge.asked else "asked") == verdict


@pytest.mark.parametrize(
    ("prediction", "verdict"),
    [
        ("word " * 80 + "i don't know", "incorrect"),
        ("word " * 30 + "i don't know", "missing"),
    ],
)
def test_the_official_class_of_edge_cases_with_rules_and_official_trim(prediction: str, verdict: str) -> None:
    (judgement,) = judge_claims(RulesJudge(), [Claim("who?", ("Ann Lee",), prediction)], trim_to_tokens)
    assert judgement.verdict == verdict
