"""Paired statistics of two runs: intervals by the bootstrap over questions, p-values by exact randomisation."""

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
"""What a question with a verdict adds to each measure. Unscored questions add nothing to any."""


class VerdictPair(NamedTuple):
    """What the two runs made of one question."""

    first: Verdict
    second: Verdict


@dataclass(frozen=True, slots=True)
class Difference:
    """The second run's mean less the first's, over the same questions.

    `interval`: 95 % percentile bootstrap over questions, both verdicts of a question kept together. `p_value`: how
    often a difference at least so large, in either direction, comes about if each question's two verdicts are swapped
    by the toss of a coin (Noreen 1989, approximate randomisation; here all 2**n tosses are counted, none is drawn).
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
    """The difference in each of `MEASURES`, over pairs of scored verdicts; empty where there are none."""
    if not pairs:
        return {}
    cells = [VerdictPair(*cell) for cell in product(VALUE, repeat=2)]
    found = Counter(pairs)
    counts = [found[cell] for cell in cells]
    samples = resampled_counts(counts, resamples, seed)
    return {name: _difference(worth, cells, counts, samples) for name, worth in MEASURES.items()}


def _difference(
    worth: Mapping[Verdict, int], cells: Sequence[VerdictPair], counts: Sequence[int], samples: NDArray[np.int64]
) -> Difference:
    n = sum(counts)
    changes = [worth[cell.second] - worth[cell.first] for cell in cells]
    first = sum(worth[cell.first] * count for cell, count in zip(cells, counts, strict=True)) / n
    second = sum(worth[cell.second] * count for cell, count in zip(cells, counts, strict=True)) / n
    sizes = Counter[int]()
    for change, count in zip(changes, counts, strict=True):
        sizes[abs(change)] += count
    total = sum(change * count for change, count in zip(changes, counts, strict=True))
    return Difference(
        first,
        second,
        total / n,
        percentile_interval(samples @ np.asarray(changes) / n),
        randomisation_p_value(total, ones=sizes[1], twos=sizes[2]),
    )


def randomisation_p_value(total: int, *, ones: int, twos: int) -> float:
    """P(|S| >= |total|), where S is the sum of `ones` times +1 or -1 and `twos` times +2 or -2, each with a fair coin.

    Such are the paired differences of verdicts: their distribution is that of two binomials, so nothing need be drawn.
    """
    heads = np.convolve(_fair_coin(ones), _spread(_fair_coin(twos)))
    # heads[k] is the chance of S = 2k - ones - 2 * twos
    sums = 2 * np.arange(heads.size) - ones - 2 * twos
    return float(min(1.0, heads[np.abs(sums) >= abs(total)].sum()))


def _fair_coin(tosses: int) -> NDArray[np.float64]:
    """The chances of 0 to `tosses` heads. By logarithms: 2,706 over 1,353 is no float."""
    factorials = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, tosses + 1)))])
    chances: NDArray[np.float64] = np.exp(factorials[-1] - factorials - factorials[::-1] - tosses * np.log(2))
    return chances


def _spread(chances: NDArray[np.float64]) -> NDArray[np.float64]:
    """A toss that counts twice: chances at even places."""
    spread = np.zeros(2 * chances.size - 1)
    spread[::2] = chances
    return spread
