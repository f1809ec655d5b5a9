"""The CRAG metrics with bootstrap intervals, over all questions and by label."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.batches import SLICE_FIELDS
from evaluation.judge import Verdict

RESAMPLES = 2000
SEED = 20240605
UNLABELLED = "(none)"
FEWEST = 10
"""An interval of fewer questions says too little to be shown; people get a dash, files keep it."""

VALUE = {Verdict.CORRECT: 1.0, Verdict.MISSING: 0.0, Verdict.INCORRECT: -1.0}
"""The score of a verdict (CRAG, section 3.1); `Verdict.UNSCORED` has none."""

_KINDS = (Verdict.CORRECT, Verdict.INCORRECT, Verdict.MISSING)


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % interval: the 2.5th and 97.5th percentile of the bootstrap."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Metrics:
    """The metrics of a set of verdicts. All shares are of the `n` scored questions.

    `score` = (2 * correct + missing) / n - 1 (CRAG, section 3.1, and the starter kit), which is accuracy minus
    hallucination; `hallucination` is the share of incorrect answers. Without scored questions all are 0.
    """

    score: float
    accuracy: float
    hallucination: float
    missing: float
    n: int
    unscored: int
    score_interval: Interval
    accuracy_interval: Interval
    hallucination_interval: Interval
    missing_interval: Interval

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready data. The score's interval is called ``ci``; those of the shares are in ``intervals``."""
        data = asdict(self)
        ends = {name: list(data.pop(f"{name}_interval").values()) for name in _INTERVALS}
        return {**data, "ci": ends.pop("score"), "intervals": ends}

    def to_short_dict(self) -> dict[str, Any]:
        """The same with four digits, without the intervals of the shares: for large tables."""
        data = self.to_dict()
        del data["intervals"]
        data["ci"] = [round(end, 4) for end in data["ci"]]
        return {name: round(value, 4) if isinstance(value, float) else value for name, value in data.items()}


_INTERVALS = ("score", "accuracy", "hallucination", "missing")


def measure(verdicts: Sequence[Verdict], resamples: int = RESAMPLES, seed: int = SEED) -> Metrics:
    """The metrics of these verdicts, with intervals from a seeded percentile bootstrap over questions."""
    correct, incorrect, missing = counts = [verdicts.count(kind) for kind in _KINDS]
    n = sum(counts)
    divisor = max(n, 1)
    shares = resampled_counts(counts, resamples, seed) / divisor
    return Metrics(
        score=(2 * correct + missing) / divisor - 1 if n else 0.0,
        accuracy=correct / divisor,
        hallucination=incorrect / divisor,
        missing=missing / divisor,
        n=n,
        unscored=len(verdicts) - n,
        score_interval=percentile_interval(shares[:, 0] - shares[:, 1]),
        accuracy_interval=percentile_interval(shares[:, 0]),
        hallucination_interval=percentile_interval(shares[:, 1]),
        missing_interval=percentile_interval(shares[:, 2]),
    )


def resampled_counts(counts: Sequence[int], resamples: int = RESAMPLES, seed: int = SEED) -> NDArray[np.int64]:
    """Counts of each kind in the bootstrap samples; shape (resamples, kinds).

    Drawing n items of a few kinds with replacement is one multinomial draw of the counts: the same distribution as
    drawing single items, in a time independent of n.
    """
    total = sum(counts)
    if not total:
        return np.zeros((resamples, len(counts)), dtype=np.int64)
    shares = np.asarray(counts, dtype=np.float64) / total
    return np.random.default_rng(seed).multinomial(total, shares, size=resamples)


def percentile_interval(samples: NDArray[np.float64]) -> Interval:
    """The 95 % percentile interval of bootstrap samples of a statistic."""
    low, high = np.percentile(samples, [2.5, 97.5])
    return Interval(float(low), float(high))


def bootstrap_interval(values: Sequence[float], resamples: int = RESAMPLES, seed: int = SEED) -> Interval:
    """The 95 % percentile-bootstrap interval of the mean; both ends are 0 without values."""
    if not values:
        return Interval(0.0, 0.0)
    array = np.asarray(values, dtype=np.float64)
    generator = np.random.default_rng(seed)
    means = np.empty(resamples)
    for number in range(resamples):
        means[number] = array[generator.integers(0, array.size, array.size)].mean()
    return percentile_interval(means)


def slices(rows: Iterable[Mapping[str, Any]], fields: Sequence[str] = SLICE_FIELDS) -> dict[str, dict[str, Metrics]]:
    """Metrics per label: ``slices(rows)["domain"]["movie"]``. A row has ``verdict`` and optional labels.

    Fields without any label are left out; rows without a label are under `UNLABELLED`.
    """
    listed = list(rows)
    return {
        field: {label: measure(verdicts) for label, verdicts in sorted(_grouped(listed, field).items())}
        for field in _labelled(listed, fields)
    }


def pairs(
    rows: Iterable[Mapping[str, Any]], fields: Sequence[str] = SLICE_FIELDS
) -> dict[str, dict[str, dict[str, Metrics]]]:
    """Metrics per pair of labels: ``pairs(rows)["domain/question_type"]["movie"]["set"]``, for any two fields.

    Pairs and fields without rows are left out.
    """
    listed = list(rows)
    return {
        f"{first}/{second}": {
            label: {other: measure(verdicts) for other, verdicts in sorted(_grouped(group, second).items())}
            for label, group in sorted(_rows_by_label(listed, first).items())
        }
        for first, second in combinations(_labelled(listed, fields), 2)
    }


def field_title(field: str) -> str:
    """A label field's display name."""
    return "dynamism" if field == "static_or_dynamic" else field.replace("_", " ")


def label_of(row: Mapping[str, Any], field: str) -> str:
    """The row's label, or `UNLABELLED`."""
    value = row.get(field)
    return UNLABELLED if value in (None, "") else str(value)


def fields_of(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """The fields that can define slices: those with a single value in some row, in alphabetical order."""
    return sorted({name for row in rows for name, value in row.items() if not isinstance(value, list | dict | None)})


def _labelled(rows: Sequence[Mapping[str, Any]], fields: Sequence[str]) -> list[str]:
    return [field for field in fields if any(label_of(row, field) != UNLABELLED for row in rows)]


def _rows_by_label(rows: Sequence[Mapping[str, Any]], field: str) -> dict[str, list[Mapping[str, Any]]]:
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault(label_of(row, field), []).append(row)
    return groups


def _grouped(rows: Sequence[Mapping[str, Any]], field: str) -> dict[str, list[Verdict]]:
    return {label: [Verdict(row["verdict"]) for row in group] for label, group in _rows_by_label(rows, field).items()}
