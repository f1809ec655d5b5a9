"""The rules judge: tries rules in order; the first that applies decides."""

from collections.abc import Callable, Sequence

from crag.evaluation.judge.base import Claim, Judgement, ReadClaim, RuleDecision, Verdict
from crag.evaluation.judge.choices import this_or_that, yes_or_no
from crag.evaluation.judge.phrases import gold_phrase, hedged, nothing_but_gold, same_words, telling_words
from crag.evaluation.judge.quantities import no_value, same_date, same_quantity
from crag.evaluation.judge.sets import same_items

RULES: dict[str, Callable[[ReadClaim], RuleDecision | None]] = {
    "same words": same_words,
    "no value": no_value,
    "hedged": hedged,
    "yes or no": yes_or_no,
    "date": same_date,
    "this or that": this_or_that,
    "number": same_quantity,
    "set": same_items,
    "gold phrase": gold_phrase,
    "nothing but gold": nothing_but_gold,
    "telling words": telling_words,
}


class RulesJudge:
    """Judges short factual answers without a model: deterministic, in microseconds.

    It agrees with a strong language model on 0.93 of 542 answers (docs/results.md). Not covered: paraphrases without
    common words, names in another form, and facts that are not in the gold answer.
    """

    name = "rules"
    version = "6"

    def judge(self, claims: Sequence[Claim]) -> list[Judgement]:
        """One judgement per claim: correct if it matches any gold answer, else the judgement for the first one."""
        return [self._judge(claim) for claim in claims]

    def _judge(self, claim: Claim) -> Judgement:
        judgements = [_decide(ReadClaim(claim.query, gold, claim.prediction)) for gold in claim.golds if gold.strip()]
        if not judgements:
            return Judgement(Verdict.UNSCORED, "rules: the gold answer is empty")

        for judgement in judgements:
            if judgement.verdict is Verdict.CORRECT:
                return judgement
        return judgements[0]


def _decide(claim: ReadClaim) -> Judgement:
    for name, rule in RULES.items():
        decision = rule(claim)
        if decision is not None:
            is_correct, reason = decision
            return Judgement(Verdict.CORRECT if is_correct else Verdict.INCORRECT, f"{name}: {reason}")
    return Judgement(Verdict.INCORRECT, "no rule: nothing in the prediction matches the gold answer")
