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


def same(text: str) -> str:
    return text


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
    (judgement,) = judge_claims(judge, [Claim("who?", ("Ann Lee", "cy young"), prediction)], same)
    assert judgement.verdict is verdict
    assert bool(judge.asked) is asked


@pytest.mark.parametrize(
    ("gold", "prediction", "verdict"),
    [
        ("invalid question", "The question is INVALID.", Verdict.CORRECT),
        ("Invalid question", "invalid", Verdict.CORRECT),
        ("invalid question", "ann lee", Verdict.INCORRECT),
        ("ann lee", "invalid question", Verdict.INCORRECT),
        ("ann lee", "i don't know, the question is invalid", Verdict.MISSING),
    ],
)
def test_the_word_invalid_in_both_or_in_one(gold: str, prediction: str, verdict: Verdict) -> None:
    judge = Recorder()
    (judgement,) = judge_claims(judge, [Claim("who?", (gold,), prediction)], same)
    assert judgement.verdict is verdict
    assert not judge.asked


@pytest.mark.parametrize(
    ("prediction", "verdict"),
    [
        ("i don’t know", Verdict.INCORRECT),
        ("", Verdict.INCORRECT),
        ("I DON'T KNOW", Verdict.MISSING),
        ("word " * 80 + "i don't know", Verdict.INCORRECT),
        ("word " * 60 + "i don't know", Verdict.MISSING),
    ],
)
def test_the_official_class_of_edge_cases_with_rules_and_official_trim(prediction: str, verdict: Verdict) -> None:
    (judgement,) = judge_claims(RulesJudge(), [Claim("who?", ("Ann Lee",), prediction)], official_trim().cut)
    assert judgement.verdict is verdict


def test_a_phrase_beyond_the_trim_is_not_missing() -> None:
    judge = Recorder()
    claim = Claim("who?", ("x",), "a b c d i don't know")
    (judgement,) = judge_claims(judge, [claim], lambda text: text[:8])
    assert judgement.verdict is Verdict.CORRECT
    assert judge.asked[0].prediction == "a b c d", "the judge sees what the evaluator keeps"


def test_order_is_kept() -> None:
    predictions = ["one", "i don't know", "two", "x", "three"]
    claims = [Claim("q", ("x",), prediction) for prediction in predictions]
    reasons = [judgement.reason for judgement in judge_claims(Recorder(), claims, same)]
    assert [reason.removeprefix("recorder: ") for reason in reasons if "recorder" in reason] == ["one", "two", "three"]
    assert reasons[1].startswith("official")
    assert reasons[3].startswith("official")
