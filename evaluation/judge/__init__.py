"""Judges: is an answer right? `rules` decides by rules; a language model as judge comes with a later release."""

from evaluation.judge.base import Claim, Judge, Judgement, Verdict, judge_claims
from evaluation.judge.rules import RulesJudge

JUDGE_NAMES = ("rules", "llm")


class JudgeUnavailableError(RuntimeError):
    """A judge cannot be used here; the message says why and what to do."""


def make_judge(name: str) -> Judge:
    """The judge of that name.

    Raises:
        JudgeUnavailableError: ``llm`` is not in this release.
        ValueError: no such judge.
    """
    if name == "rules":
        return RulesJudge()
    if name == "llm":
        raise JudgeUnavailableError("the llm judge comes with a later release of this package; use --judge rules")
    raise ValueError(f"there is no judge {name!r}; judges: {', '.join(JUDGE_NAMES)}")


__all__ = [
    "JUDGE_NAMES",
    "Claim",
    "Judge",
    "JudgeUnavailableError",
    "Judgement",
    "RulesJudge",
    "Verdict",
    "judge_claims",
    "make_judge",
]
