"""The rules judge: a table of rules, asked in order; the first that knows decides."""

from collections.abc import Callable, Sequence

from evaluation.judge.alternatives import alternatives, left_open
from evaluation.judge.base import Claim, Judgement, Verdict
from evaluation.judge.case import Case, Finding
from evaluation.judge.choices import this_or_that, yes_or_no
from evaluation.judge.measures import same_measure
from evaluation.judge.moments import same_date, same_dates, same_duration
from evaluation.judge.names import same_name
from evaluation.judge.phrases import gold_phrase, hedged, nothing_but_gold, same_words, telling_words
from evaluation.judge.quantities import no_value, same_pair, same_quantity
from evaluation.judge.sets import same_items

Rule = Callable[[Case], Finding | None]

RULES: dict[str, Rule] = {
    "same words": same_words,
    "no value": no_value,
    "hedged": hedged,
    "left open": left_open,
    "yes or no": yes_or_no,
    "date": same_date,
    "dates": same_dates,
    "pair": same_pair,
    "duration": same_duration,
    "measure": same_measure,
    "this or that": this_or_that,
    "number": same_quantity,
    "set": same_items,
    "gold phrase": gold_phrase,
    "name": same_name,
    "nothing but gold": nothing_but_gold,
    "telling words": telling_words,
}


class RulesJudge:
    """Judges short factual answers without a model: the same text always gets the same verdict, in microseconds.

    Measured by benchmarks/judge_agreement.py against verdicts of strong language models. Not covered: paraphrase
    without common words, other languages, and truth that the gold answer does not hold.
    """

    name = "rules"
    version = "3"

    def judge(self, claims: Sequence[Claim]) -> list[Judgement]:
        """One judgement per claim: correct if any gold answer is met, else what the first gold answer's rule said."""
        return [self._judge(claim) for claim in claims]

    def _judge(self, claim: Claim) -> Judgement:
        golds = dict.fromkeys(one for gold in claim.golds if gold.strip() for one in alternatives(claim.query, gold))
        judgements = [_decide(Case(claim.query, gold, claim.prediction)) for gold in golds]
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
