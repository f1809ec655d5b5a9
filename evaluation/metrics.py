"""The CRAG metrics, with bootstrap intervals, over all questions and over slices by label."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from agents.datasets import LABEL_FIELDS
from evaluation.judge import Verdict

RESAMPLES = 2000
SEED = 20240605
UNLABELLED = "(none)"

VALUE = {Verdict.CORRECT: 1.0, Verdict.MISSING: 0.0, Verdict.INCORRECT: -1.0}
"""What a verdict adds to the score (CRAG, section 3.1); `Verdict.UNSCORED` has no value."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % interval: the 2.5th and the 97.5th percentile of the bootstrap."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Metrics:
    """What a set of verdicts comes to. All shares are of the `n` scored questions; `unscored` ones are not among them.

    `score` = (2 * correct + missing) / n - 1 (CRAG, section 3.1, and the starter kit), which is accuracy minus
    hallucination; `hallucination` is the share of incorrect answers. Without any scored question all are 0.
    """

    score: float
    accuracy: float
    hallucination: float
    missing: float
    n: int
    unscored: int
    score_interval: Interval

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready data; the interval is called ``ci``."""
        data = asdict(self)
        interval = data.pop("score_interval")
        return {**data, "ci": [interval["low"], interval["high"]]}


def measure(verdicts: Sequence[Verdict], resamples: int = RESAMPLES, seed: int = SEED) -> Metrics:
    """The metrics of these verdicts; the interval is a seeded percentile bootstrap over questions."""
    scored = [verdict for verdict in verdicts if verdict is not Verdict.UNSCORED]
    n = len(scored)
    correct, missing = scored.count(Verdict.CORRECT), scored.count(Verdict.MISSING)
    divisor = max(n, 1)
    return Metrics(
        score=(2 * correct + missing) / divisor - 1 if n else 0.0,
        accuracy=correct / divisor,
        hallucination=(n - correct - missing) / divisor,
        missing=missing / divisor,
        n=n,
        unscored=len(verdicts) - n,
        score_interval=bootstrap_interval([VALUE[verdict] for verdict in scored], resamples, seed),
    )


def bootstrap_interval(values: Sequence[float], resamples: int = RESAMPLES, seed: int = SEED) -> Interval:
    """The 95 % percentile-bootstrap interval of the mean; both ends 0 for no values."""
    if not values:
        return Interval(0.0, 0.0)
    array = np.asarray(values, dtype=np.float64)
    generator = np.random.default_rng(seed)
    means = np.empty(resamples)
    for number in range(resamples):
        means[number] = array[generator.integers(0, array.size, array.size)].mean()
    low, high = np.percentile(means, [2.5, 97.5])
    return Interval(float(low), float(high))


def slices(rows: Iterable[Mapping[str, Any]], fields: Sequence[str] = LABEL_FIELDS) -> dict[str, dict[str, Metrics]]:
    """Metrics per label value: ``slices(rows)["domain"]["movie"]``. A row has ``verdict`` and, perhaps, the labels.

    A field that no row carries is left out; where only some rows lack it, they are under `UNLABELLED`.
    """
    listed = list(rows)
    result: dict[str, dict[str, Metrics]] = {}
    for field in fields:
        groups: dict[str, list[Verdict]] = {}
        for row in listed:
            groups.setdefault(row.get(field) or UNLABELLED, []).append(Verdict(row["verdict"]))
        if set(groups) - {UNLABELLED}:
            result[field] = {label: measure(groups[label]) for label in sorted(groups)}
    return result
