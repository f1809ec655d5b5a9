"""The edge cases of the official metric get exactly the official class, whatever the judge thinks."""

from collections.abc import Sequence

import pytest

from evaluation.judge import Claim, Judgement, RulesJudge, Verdict, judge_claims
from evaluation.trim import official_trim


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
    ("prediction", "verdict", "asked"),
    [
        ("i don't know", Verdict.MISSING, False),
        ("I DON'T KNOW", Verdict.MISSING, False),
        ("Well, i don't know who it was.", Verdict.MISSING, False),
        ("i don’t know", Verdict.CORRECT, True),
        ("i dont't know", Verdict.CORRECT, True),
        ("I do not know", Verdict.CORRECT, True),
        ("", Verdict.CORRECT, True),
        ("ANN LEE", Verdict.CORRECT, False),
        ("  ann lee ", Verdict.CORRECT, False),
        ("cy young", Verdict.CORRECT, False),
        ("ann lee.", Verdict.CORRECT, True),
    ],
)
def test_what_is_settled_without_the_judge(prediction: str, verdict: Verdict, asked: bool) -> None:
    judge = Recorder()
    (judgement,) = judge_claims(judge, [Claim("who?", ("Ann Lee", "cy young"), prediction)], str)
    assert judgement.verdict is verdict
    assert bool(judge.asked) is asked


@pytest.mark.parametrize(
    ("gold", "prediction", "verdict"),
    [
        ("invalid question", "The question is INVALID.", "correct"),
        ("invalid question", "ann lee", "incorrect"),
        ("ann lee", "invalid question", "incorrect"),
        ("ann lee", "i don't know, the question is invalid", "missing"),
    ],
)
def test_the_word_invalid_in_both_or_in_one(gold: str, prediction: str, verdict: str) -> None:
    judge = Recorder()
    (judgement,) = judge_claims(judge, [Claim("who?", (gold,), prediction)], str)
    assert judgement.verdict == verdict
    assert not judge.asked


@pytest.mark.parametrize(
    ("prediction", "verdict"),
    [
        ("i don’t know", "incorrect"),
        ("", "incorrect"),
        ("word " * 80 + "i don't know", "incorrect"),
        ("word " * 60 + "i don't know", "missing"),
    ],
)
def test_the_official_class_of_edge_cases_with_rules_and_official_trim(prediction: str, verdict: str) -> None:
    (judgement,) = judge_claims(RulesJudge(), [Claim("who?", ("Ann Lee",), prediction)], official_trim().cut)
    assert judgement.verdict == verdict


def test_order_is_kept_and_the_judge_sees_what_the_evaluator_keeps() -> None:
    judge = Recorder()
    claims = [Claim("q", ("x",), prediction) for prediction in ("one long answer", "i don't know", "two", "x", "three")]
    reasons = [judgement.reason for judgement in judge_claims(judge, claims, lambda text: text[:12])]
    assert [reason.partition(": ")[0] for reason in reasons] == [*("recorder", "official") * 2, "recorder"]
    assert [claim.prediction for claim in judge.asked] == ["one long ans", "two", "three"]
