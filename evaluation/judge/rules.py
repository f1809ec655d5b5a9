"""The rules judge: a table of rules, asked in order; the first that knows decides."""

from collections.abc import Callable, Sequence

from evaluation.judge.base import Claim, Judgement, Verdict
from evaluation.judge.case import Case, Finding
from evaluation.judge.choices import false_premise, this_or_that, yes_or_no
from evaluation.judge.phrases import gold_phrase, hedged, nothing_but_gold, same_words, telling_words
from evaluation.judge.quantities import same_date, same_duration, same_quantity
from evaluation.judge.sets import same_items

Rule = Callable[[Case], Finding | None]

RULES: dict[str, Rule] = {
    "false premise": false_premise,
    "same words": same_words,
    "hedged": hedged,
    "yes or no": yes_or_no,
    "date": same_date,
    "duration": same_duration,
    "number": same_quantity,
    "this or that": this_or_that,
    "set": same_items,
    "gold phrase": gold_phrase,
    "nothing but gold": nothing_but_gold,
    "telling words": telling_words,
}


class RulesJudge:
    """Judges short factual answers without a model: the same text always gets the same verdict, in microseconds.

    Measured by benchmarks/judge_agreement.py against verdicts of strong language models. Not covered: paraphrase
    without common words, other languages, and truth that the gold answer does not hold.
    """

    name = "rules"
    version = "1"

    def judge(self, claims: Sequence[Claim]) -> list[Judgement]:
        """One judgement per claim: correct if any gold answer is met, else what the first gold answer's rule said."""
        return [self._judge(claim) for claim in claims]

    def _judge(self, claim: Claim) -> Judgement:
        judgements = [_decide(Case(claim.query, gold, claim.prediction)) for gold in claim.golds if gold.strip()]
        if not judgements:
            return Judgement(Verdict.UNSCORED, "rules: the gold answer is empty")
        return next((found for found in judgements if found.verdict is Verdict.CORRECT), judgements[0])


def _decide(case: Case) -> Judgement:
    for name, rule in RULES.items():
        finding = rule(case)
        if finding is not None:
            verdict = Verdict.CORRECT if finding.correct else Verdict.INCORRECT
            return Judgement(verdict, f"{name}: {finding.why}")
    return Judgement(Verdict.INCORRECT, "no rule: nothing in the prediction meets the gold answer")
