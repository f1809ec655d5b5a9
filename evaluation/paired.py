"""Paired statistics of two runs: bootstrap intervals over questions, p-values by exact randomisation."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evaluation.judge import Verdict
from evaluation.metrics import RESAMPLES, SEED, VALUE, Interval, percentile_interval, resampled_counts

MEASURES: Mapping[str, Mapping[Verdict, int]] = {
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

    `interval`: 95 % percentile bootstrap over questions, keeping both verdicts of a question together. `p_value`: the
    probability of a difference at least as large, in either direction, if each question's verdicts are swapped by a
    fair coin (Noreen 1989, approximate randomisation; here exact over all 2**n outcomes).
    """

    first: float
    second: float
    change: float
    interval: Interval
    p_value: float

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready data; the interval is called ``ci``."""
        data = asdict(self)
        interval = data.pop("interval")
        return {**data, "ci": [interval["low"], interval["high"]]}


def differences(pairs: Sequence[VerdictPair], resamples: int = RESAMPLES, seed: int = SEED) -> dict[str, Difference]:
    """The difference in each of `MEASURES`, over pairs of scored verdicts; empty without pairs."""
    if not pairs:
        return {}
    cells = [VerdictPair(*cell) for cell in product(VALUE, repeat=2)]
    found = Counter(pairs)
    counts = np.array([found[cell] for cell in cells])
    samples = resampled_counts(counts.tolist(), resamples, seed)
    return {name: _difference(worth, cells, counts, samples) for name, worth in MEASURES.items()}


def _difference(
    worth: Mapping[Verdict, int], cells: Sequence[VerdictPair], counts: NDArray[np.int64], samples: NDArray[np.int64]
) -> Difference:
    first = np.array([worth[cell.first] for cell in cells])
    second = np.array([worth[cell.second] for cell in cells])
    change, n = second - first, counts.sum()
    ones, twos = (int(counts[abs(change) == size].sum()) for size in (1, 2))
    return Difference(
        float(counts @ first / n),
        float(counts @ second / n),
        float(counts @ change / n),
        percentile_interval(samples @ change / n),
        randomisation_p_value(int(counts @ change), ones=ones, twos=twos),
    )


def randomisation_p_value(total: int, *, ones: int, twos: int) -> float:
    """P(|S| >= |total|) for the sum S of `ones` random signs and `twos` random signs times 2.

    The distribution of paired verdict differences: a sum of two binomials, computed exactly.
    """
    spread = np.zeros(2 * twos + 1)
    spread[::2] = _fair_coin(twos)
    heads = np.convolve(_fair_coin(ones), spread)
    # heads[k] is the chance of S = 2k - ones - 2 * twos
    sums = 2 * np.arange(heads.size) - ones - 2 * twos
    return float(min(1.0, heads[np.abs(sums) >= abs(total)].sum()))


def _fair_coin(tosses: int) -> NDArray[np.float64]:
    """The probabilities of 0 to `tosses` heads, by logarithms: factorials of thousands do not fit into a float."""
    factorials = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, tosses + 1)))])
    chances: NDArray[np.float64] = np.exp(factorials[-1] - factorials - factorials[::-1] - tosses * np.log(2))
    return chances
