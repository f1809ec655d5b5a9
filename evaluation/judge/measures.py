"""The rule for lengths, weights and times in another unit than the gold answer's."""

from agents.matching import read_measures
from agents.matching import same_measure as is_same
from evaluation.judge.case import Case, Finding


def same_measure(case: Case) -> Finding | None:
    """A gold answer that is one measure, where the prediction measures the same in other units alone.

    They are the same if they differ by less than 1 %, or by less than half of the last digit written and 3 %.
    """
    gold = read_measures(case.gold)
    if len(gold) != 1 or case.is_sentence:
        return None
    said = [measure for measure in read_measures(case.prediction) if measure.dimension == gold[0].dimension]
    if not said or any(measure.unit == gold[0].unit for measure in said):
        return None
    same = any(is_same(gold[0], measure) for measure in said)
    what = "comes to the same" if same else "comes to another"
    return Finding(same, f"the prediction in other units {what} {gold[0].dimension}")
