"""The rules judge: tries rules in order; the first that applies decides.

Every rule compares one type of part that `crag.evaluation.judge.reading` reads:

| rule | type |
|---|---|
| digits as written | codes and versions |
| signs of names, signed name | names with a sign |
| letter of a name | words beside the letters A, I, S and T |
| same words | words, and the numbers among them by type |
| no value | "none" and "not available" |
| hedged abstention | sentences that say that they cannot tell |
| yes or no | polarity |
| this or that | options of the question; their quantities |
| denied, head | what is denied; complements of a name |
| symbol | tickers |
| coordinates | degrees north, south, east and west |
| date | whole dates |
| span of years | centuries, parts of decades |
| several numbers | times of day, series, counts |
| number | quantities with sign, unit, era and bound |
| set | items |
| gold phrase, other form, nothing but gold, telling words | words, names |
"""

from collections.abc import Callable, Sequence

from crag.evaluation.judge.base import HEDGED, Claim, Judgement, Verdict
from crag.evaluation.judge.choices import this_or_that
from crag.evaluation.judge.coordinates import same_coordinates
from crag.evaluation.judge.dates import same_date
from crag.evaluation.judge.hedging import hedged_abstention
from crag.evaluation.judge.no_value import no_value
from crag.evaluation.judge.other_names import other_form_of_name
from crag.evaluation.judge.phrases import gold_phrase
from crag.evaluation.judge.quantities import same_amount
from crag.evaluation.judge.read_claim import ReadClaim, RuleDecision
from crag.evaluation.judge.reading.denial import NEGATION, without_denied
from crag.evaluation.judge.reading.relatives import find_only_relation
from crag.evaluation.judge.same_words import digits_as_written, letter_of_name, same_words, signed_name, signs_of_names
from crag.evaluation.judge.sets import same_items
from crag.evaluation.judge.several_numbers import several_numbers
from crag.evaluation.judge.spans_of_years import in_span_of_years
from crag.evaluation.judge.symbols import same_symbol
from crag.evaluation.judge.telling_words import nothing_but_gold, telling_words
from crag.evaluation.judge.yes_or_no import yes_or_no

RULES_FOR_ALL: dict[str, Callable[[ReadClaim], RuleDecision | None]] = {
    "digits as written": digits_as_written,
    "signs of names": signs_of_names,
    "letter of a name": letter_of_name,
    "same words": same_words,
    "no value": no_value,
    HEDGED: hedged_abstention,
    "yes or no": yes_or_no,
    "this or that": this_or_that,
}
"""These read the whole prediction, what it denies too."""
RULES_FOR_AFFIRMED: dict[str, Callable[[ReadClaim], RuleDecision | None]] = {
    "letter of a name": letter_of_name,
    "symbol": same_symbol,
    "signed name": signed_name,
    "coordinates": same_coordinates,
    "date": same_date,
    "span of years": in_span_of_years,
    "several numbers": several_numbers,
    "number": same_amount,
    "set": same_items,
    "gold phrase": gold_phrase,
    "other form": other_form_of_name,
    "nothing but gold": nothing_but_gold,
    "telling words": telling_words,
}
"""These read what is left of the prediction without what it denies."""


class RulesJudge:
    """Judges short factual answers without a model: deterministic, in about a millisecond.

    It agrees with a strong language model on 0.94 of 542 answers (docs/results.md). Not covered: paraphrases without
    common words, other names of the same, and facts that are not in the gold answer.
    """

    name = "rules"
    version = "13"

    def judge(self, claims: Sequence[Claim]) -> list[Judgement]:
        """One judgement per claim: correct if it matches any gold answer, else the judgement for the first one."""
        return [self._judge(claim) for claim in claims]

    def _judge(self, claim: Claim) -> Judgement:
        judgements = [_decide(ReadClaim(claim.query, gold, claim.prediction)) for gold in claim.golds if gold.strip()]
        if not judgements:
            return Judgement(Verdict.UNSCORED, "rules: the gold answer is empty")

        # The reason of the first gold answer is shown if none is met: it is the official one
        for judgement in judgements:
            if judgement.verdict is Verdict.CORRECT:
                return judgement
        return judgements[0]


def _decide(claim: ReadClaim) -> Judgement:
    judgement = _apply(RULES_FOR_ALL, claim)
    if judgement is not None:
        return judgement

    # From here on only what the prediction affirms: "not 4,000 but 5,000" says 5,000
    affirmed = _without_denied(claim)
    if affirmed is None:
        return Judgement(Verdict.INCORRECT, "denied: the prediction says only what the answer is not")

    # After the denials: "not Jon Ek but the son of Ann Lee" names a relative
    relation = find_only_relation(claim.gold_reading.plain, affirmed.prediction_reading.plain, claim.asked)
    if relation:
        return Judgement(Verdict.INCORRECT, f'head: the prediction names the gold answer only after "{relation}"')

    judgement = _apply(RULES_FOR_AFFIRMED, affirmed)
    return judgement or Judgement(Verdict.INCORRECT, "no rule: nothing in the prediction matches the gold answer")


def _apply(rules: dict[str, Callable[[ReadClaim], RuleDecision | None]], claim: ReadClaim) -> Judgement | None:
    """The judgement of the first rule that applies."""
    for name, rule in rules.items():
        decision = rule(claim)
        if decision is not None:
            is_correct, reason = decision
            return Judgement(Verdict.CORRECT if is_correct else Verdict.INCORRECT, f"{name}: {reason}")
    return None


def _without_denied(claim: ReadClaim) -> ReadClaim | None:
    """The claim about what the prediction affirms; None if that is nothing.

    A question or a gold answer with a negation is about what is not: "who did not win?", "it has no king".
    """
    if NEGATION.search(claim.query) or NEGATION.search(claim.gold):
        return claim
    if any(number.value == 0 for number in claim.gold_numbers):
        return claim  # "she has never won" says 0
    affirmed = without_denied(claim.prediction)
    if affirmed == claim.prediction:
        return claim
    return ReadClaim(claim.query, claim.gold, affirmed) if affirmed else None
