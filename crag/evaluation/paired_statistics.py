"""Differences of two runs in the verdicts on the same questions: means, bootstrap intervals and exact p-values."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import comb
from typing import NamedTuple

import numpy as np

from crag.evaluation.judge import Verdict
from crag.evaluation.metrics import VALUE, Interval, percentile_interval, resampled_counts

MEASURES: Mapping[str, Mapping[Verdict, int]] = {
    # Whole numbers, as the exact p-value counts signs of 1 and 2
    "score": {verdict: round(value) for verdict, value in VALUE.items()},
    "accuracy": {verdict: int(verdict is Verdict.CORRECT) for verdict in VALUE},
    "hallucination": {verdict: int(verdict is Verdict.INCORRECT) for verdict in VALUE},
}
"""The value of a scored verdict in each measure."""


class VerdictPair(NamedTuple):
    """The verdicts of two runs on one question."""

    first: Verdict
    second: Verdict


@dataclass(frozen=True, slots=True)
class Difference:
    """The second run's mean minus the first's, over the same questions.

    `ci`: 95 % percentile bootstrap over questions, keeping both verdicts of a question together. `p_value`: the
    probability of a difference at least as large, in either direction, if each question's verdicts are swapped by a
    fair coin (Noreen 1989, approximate randomisation; here exact over all 2**n outcomes).
    """

    first: float
    second: float
    change: float
    ci: Interval
    p_value: float

    @property
    def p_text(self) -> str:
        """The p-value for people."""
        return "<0.0001" if self.p_value < 0.0001 else f"{self.p_value:.4f}"


def paired_differences(pairs: Sequence[VerdictPair]) -> dict[str, Difference]:
    """The difference in each of `MEASURES`, over pairs of scored verdicts; empty without pairs."""
    if not pairs:
        return {}

    # Each of the nine kinds of pairs is resampled as a whole, so that a question keeps both its verdicts.
    kinds = [VerdictPair(*verdicts) for verdicts in product(VALUE, repeat=2)]
    numbers = Counter(pairs)
    counts = np.array([numbers[kind] for kind in kinds])
    samples = resampled_counts(counts.tolist())

    differences: dict[str, Difference] = {}
    for name, worth in MEASURES.items():
        # The value of each kind of pair: in the first run, in the second, and their difference, from -2 to 2.
        first = np.array([worth[kind.first] for kind in kinds])
        second = np.array([worth[kind.second] for kind in kinds])
        change = second - first

        # A change of 0 has no sign to flip, so it does not enter the test
        p_value = randomisation_p_value(
            int(counts @ change),
            ones=int(counts[abs(change) == 1].sum()),
            twos=int(counts[abs(change) == 2].sum()),
        )
        differences[name] = Difference(
            first=float(counts @ first / len(pairs)),
            second=float(counts @ second / len(pairs)),
            change=float(counts @ change / len(pairs)),
            ci=percentile_interval(samples @ change / len(pairs)),
            p_value=p_value,
        )
    return differences


def randomisation_p_value(total: int, *, ones: int, twos: int) -> float:
    """P(|S| >= |total|) for the sum S of `ones` random signs and `twos` random signs times 2.

    This is the distribution of paired verdict differences. It is a sum of two binomials, computed exactly.
    """
    # The sign of a two counts like two equal signs: its heads come in pairs.
    heads_of_twos = np.zeros(2 * twos + 1)
    # Only even numbers of heads are possible
    heads_of_twos[::2] = _fair_coin(twos)

    # The distribution of a sum is the convolution of those of its parts: chances[heads] belongs to sums[heads].
    chances = np.convolve(_fair_coin(ones), heads_of_twos)
    sums = 2 * np.arange(chances.size) - ones - 2 * twos

    # In either direction
    is_extreme = np.abs(sums) >= abs(total)
    # Rounding can sum to a little more than 1
    return float(min(1.0, chances[is_extreme].sum()))


def _fair_coin(tosses: int) -> list[float]:
    """The probabilities of 0 to `tosses` heads."""
    # Whole numbers of any size divide to a float; neither has to fit into one itself
    return [comb(tosses, heads) / 2**tosses for heads in range(tosses + 1)]
