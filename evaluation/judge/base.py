"""What a judge is asked, what it says, and the part of the official metric that no judge may decide differently."""

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from agents.contracts import I_DONT_KNOW

_INVALID = "invalid"


class Verdict(enum.StrEnum):
    """What an answer is worth. `UNSCORED` means that nobody could tell; it counts neither way."""

    CORRECT = "correct"
    INCORRECT = "incorrect"
    MISSING = "missing"
    UNSCORED = "unscored"


@dataclass(frozen=True, slots=True)
class Claim:
    """An answer to be judged. `golds` are all texts that count as right, the official one first; empty if unknown."""

    query: str
    golds: tuple[str, ...]
    prediction: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict and one sentence that says why, beginning with the name of the rule that decided."""

    verdict: Verdict
    reason: str


class JudgeUnavailableError(RuntimeError):
    """A judge cannot be used here; the message says why and what to do."""


class Judge(Protocol):
    """Decides between correct and incorrect; `judge_claims` settles missing, exact and unscored before it is asked.

    `name` and `version` go into the signature of every number; the version changes whenever a verdict may.
    """

    @property
    def name(self) -> str:
        """The name on the command line."""

    @property
    def version(self) -> str:
        """Changes whenever a verdict may change."""

    def judge(self, claims: Sequence[Claim]) -> list[Judgement]:
        """One judgement per claim, in order; `Verdict.UNSCORED` where the judge cannot tell."""


def judge_claims(judge: Judge, claims: Sequence[Claim], trim: Callable[[str], str]) -> list[Judgement]:
    """Judge answers as the official metric does (local_evaluation.py of the 2024 starter kit).

    The prediction is cut by `trim` to what the evaluator keeps of it. It is *missing* if its lower case contains
    "i don't know" with the ASCII apostrophe, *correct* if its lower case equals a gold answer's. The word "invalid" in
    the prediction and in a gold answer makes it correct, in only one of the two *incorrect* (Meta's later version). All
    else is for the judge. A claim without a gold answer is unscored.
    """
    trimmed = [Claim(claim.query, claim.golds, trim(claim.prediction).strip()) for claim in claims]
    settled = [official_judgement(claim) for claim in trimmed]
    asked = iter(judge.judge([claim for claim, known in zip(trimmed, settled, strict=True) if known is None]))
    return [known if known is not None else next(asked) for known in settled]


def official_judgement(claim: Claim) -> Judgement | None:
    """The verdict that the official metric gives without a judge, or None. The prediction is trimmed already."""
    prediction = claim.prediction.lower()
    if I_DONT_KNOW in prediction:
        return Judgement(Verdict.MISSING, f'official: the answer contains "{I_DONT_KNOW}"')
    if not claim.golds:
        return Judgement(Verdict.UNSCORED, "official: the question comes without a gold answer")
    if prediction and any(prediction == gold.strip().lower() for gold in claim.golds):
        return Judgement(Verdict.CORRECT, "official: the answer equals the gold answer")
    expected, said = any(_INVALID in gold.lower() for gold in claim.golds), _INVALID in prediction
    if expected and said:
        return Judgement(Verdict.CORRECT, f'official: both the answer and the gold answer contain "{_INVALID}"')
    if expected or said:
        where = "gold answer" if expected else "answer"
        return Judgement(Verdict.INCORRECT, f'official: only the {where} contains "{_INVALID}"')
    return None
