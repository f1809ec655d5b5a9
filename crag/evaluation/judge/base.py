"""The interface of judges, and the part of the official metric that all judges share."""

import enum
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from crag.core.contracts import I_DONT_KNOW

_INVALID = "invalid"


class Verdict(enum.StrEnum):
    """The value of an answer. `UNSCORED` means that no judge could decide; it does not count."""

    CORRECT = "correct"
    INCORRECT = "incorrect"
    MISSING = "missing"
    UNSCORED = "unscored"


@dataclass(frozen=True, slots=True)
class Claim:
    """An answer to judge. `golds` are all right answers, the official one first; empty if unknown."""

    query: str
    golds: tuple[str, ...]
    prediction: str


HEDGED = "hedged abstention"
"""The name of the rule for answers such as "I'm not sure", with which their reason begins."""

NO_VERDICT = "llm: no verdict"
"""With this the reason begins if no reply of the judge's model could be read."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict and one sentence with the reason, which starts with the rule's name."""

    verdict: Verdict
    reason: str


def is_hedged(reason: str) -> bool:
    """Whether a judgement's reason is that the answer was a hedged abstention; for stored rows.

    >>> is_hedged("hedged abstention: the prediction says that it cannot tell")
    True
    """
    return reason.startswith(f"{HEDGED}:")


def hedged_line(count: int) -> str:
    r"""What hedged abstentions cost, as a line of a summary; empty if there are none.

    >>> hedged_line(1)
    '1 answer hedges ("I\'m not sure") and counts as incorrect; only "i don\'t know" counts as missing'
    """
    if not count:
        return ""
    subject = "1 answer hedges" if count == 1 else f"{count} answers hedge"
    verb = "counts" if count == 1 else "count"
    return f'{subject} ("I\'m not sure") and {verb} as incorrect; only "{I_DONT_KNOW}" counts as missing'


def no_verdict_line(reasons: Iterable[str]) -> str:
    """For how many claims the judge's model gave no verdict and why, as a line of a summary; empty if there are none.

    >>> no_verdict_line(["llm: no verdict after 3 attempts: the reply cannot be read: 'Oslo'", "official: the same"])
    "1 unscored for lack of a verdict, the first: no verdict after 3 attempts: the reply cannot be read: 'Oslo'"
    """
    undecided = [reason for reason in reasons if reason.startswith(NO_VERDICT)]
    if not undecided:
        return ""
    return f"{len(undecided)} unscored for lack of a verdict, the first: {undecided[0].removeprefix('llm: ')}"


class Judge(Protocol):
    """Decides between correct and incorrect; `judge_claims` first settles missing, exact and unscored claims.

    `name` and `version` are part of every signature; the version changes whenever a verdict may change.
    """

    name: str
    version: str

    def judge(self, claims: Sequence[Claim]) -> list[Judgement]:
        """One judgement per claim, in order; `Verdict.UNSCORED` if the judge cannot decide."""


def judge_claims(
    judge: Judge,
    claims: Sequence[Claim],
    trim: Callable[[str], str],
) -> list[Judgement]:
    """Judge answers like the official metric (local_evaluation.py of the 2024 starter kit).

    `trim` cuts the prediction to what the evaluator keeps. It is *missing* if its lower case contains "i don't know"
    with the ASCII apostrophe, and *correct* if its lower case equals a gold answer's. The word "invalid" in both the
    prediction and a gold answer makes it correct, in only one of them *incorrect* (Meta's later version). The judge
    decides the rest. A claim without a gold answer is unscored.

    Example:
        >>> from crag.evaluation.judge import RulesJudge
        >>> judge_claims(RulesJudge(), [Claim("who wrote it?", ("Ann Lee",), "ann lee")], str)
        [Judgement(verdict=<Verdict.CORRECT: 'correct'>, reason='official: the answer equals the gold answer')]
    """
    judgements: dict[int, Judgement] = {}
    open_claims: dict[int, Claim] = {}
    for index, claim in enumerate(claims):
        # As in the evaluator: what is cut off can neither help nor harm
        trimmed = Claim(claim.query, claim.golds, trim(claim.prediction).strip())
        official = official_judgement(trimmed)
        if official is None:
            open_claims[index] = trimmed
        else:
            judgements[index] = official

    # One call for all: a language model judges many claims at once.
    judged = judge.judge(list(open_claims.values()))
    judgements.update(zip(open_claims, judged, strict=True))
    return [judgements[index] for index in range(len(claims))]


def official_judgement(claim: Claim) -> Judgement | None:
    """The verdict of the official metric without a judge, or None. The prediction is already trimmed."""
    prediction = claim.prediction.lower()
    # First of all: an abstention is missing even where no gold answer is known
    if I_DONT_KNOW in prediction:
        return Judgement(Verdict.MISSING, f'official: the answer contains "{I_DONT_KNOW}"')
    if not claim.golds:
        return Judgement(Verdict.UNSCORED, "official: the question has no gold answer")
    if prediction and any(prediction == gold.strip().lower() for gold in claim.golds):
        return Judgement(Verdict.CORRECT, "official: the answer equals the gold answer")

    # Any occurrence of the word counts, as in the official script
    in_gold = any(_INVALID in gold.lower() for gold in claim.golds)
    in_prediction = _INVALID in prediction
    if in_gold and in_prediction:
        return Judgement(Verdict.CORRECT, f'official: both the answer and the gold answer contain "{_INVALID}"')
    if in_gold or in_prediction:
        where = "gold answer" if in_gold else "answer"
        return Judgement(Verdict.INCORRECT, f'official: only the {where} contains "{_INVALID}"')
    return None
