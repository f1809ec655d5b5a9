"""The CRAG metrics with bootstrap intervals, over all questions and by label; agreement of two sets of verdicts."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from crag.evaluation.batches import SLICE_FIELDS
from crag.evaluation.judge import Verdict

Item = TypeVar("Item")

RESAMPLES = 2000
# Fixed, so that the same verdicts always give the same interval
SEED = 20240605
UNLABELLED = "(none)"
FEWEST = 10
"""An interval of fewer questions says too little to be shown; people get a dash, files keep it."""

VALUE = {Verdict.CORRECT: 1.0, Verdict.MISSING: 0.0, Verdict.INCORRECT: -1.0}
"""The score of a verdict (CRAG, section 3.1); `Verdict.UNSCORED` has none."""


class Interval(NamedTuple):
    """A 95 % interval: the 2.5th and 97.5th percentile of the bootstrap."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Metrics:
    """The metrics of a set of verdicts. All shares are of the `n` scored questions.

    `score` = (2 * correct + missing) / n - 1 (CRAG, section 3.1, and the starter kit), which is accuracy minus
    hallucination; `hallucination` is the share of incorrect answers. Without scored questions all are 0. `ci` is the
    interval of the score, `intervals` are those of the three shares.
    """

    score: float
    accuracy: float
    hallucination: float
    missing: float
    n: int
    unscored: int
    ci: Interval
    intervals: Mapping[str, Interval]


def compute_metrics(verdicts: Sequence[Verdict], resamples: int = RESAMPLES) -> Metrics:
    """The metrics of these verdicts, with intervals from a seeded percentile bootstrap over questions.

    Example:
        >>> compute_metrics([Verdict.CORRECT, Verdict.CORRECT, Verdict.MISSING, Verdict.INCORRECT]).score
        0.25
    """
    correct = verdicts.count(Verdict.CORRECT)
    incorrect = verdicts.count(Verdict.INCORRECT)
    missing = verdicts.count(Verdict.MISSING)
    n = correct + incorrect + missing
    # Without scored questions all shares are 0 instead of an error
    divisor = max(n, 1)

    # Shares in the resamples, one array per kind of verdict.
    samples = resampled_counts([correct, incorrect, missing], resamples) / divisor
    accuracies, hallucinations, missing_shares = samples.T

    return Metrics(
        score=(2 * correct + missing) / divisor - 1 if n else 0.0,
        accuracy=correct / divisor,
        hallucination=incorrect / divisor,
        missing=missing / divisor,
        n=n,
        unscored=len(verdicts) - n,
        ci=percentile_interval(accuracies - hallucinations),
        intervals={
            "accuracy": percentile_interval(accuracies),
            "hallucination": percentile_interval(hallucinations),
            "missing": percentile_interval(missing_shares),
        },
    )


# --- intervals --------------------------------------------------------------------------------------------------------


def resampled_counts(counts: Sequence[int], resamples: int = RESAMPLES) -> NDArray[np.int64]:
    """Counts of each kind in the bootstrap samples; shape (resamples, kinds).

    Drawing n items of a few kinds with replacement is one multinomial draw of the counts: the same distribution as
    drawing single items, in a time independent of n.
    """
    total = sum(counts)
    if not total:
        return np.zeros((resamples, len(counts)), dtype=np.int64)
    shares = np.asarray(counts, dtype=np.float64) / total
    return np.random.default_rng(SEED).multinomial(total, shares, size=resamples)


def percentile_interval(samples: NDArray[np.float64]) -> Interval:
    """The 95 % percentile interval of bootstrap samples of a statistic."""
    low, high = np.percentile(samples, [2.5, 97.5])
    return Interval(float(low), float(high))


def bootstrap_interval(values: Sequence[float]) -> Interval:
    """The 95 % percentile-bootstrap interval of the mean; both ends are 0 without values."""
    array = np.asarray(values, dtype=np.float64)
    # Scores take few values, so one multinomial draw is enough
    kinds, counts = np.unique(array, return_counts=True)
    samples = resampled_counts(counts.tolist())
    means = samples @ kinds / max(len(values), 1)
    return percentile_interval(means)


def wilson_interval(right: int, count: int) -> Interval:
    """The 95 % interval of a share, `right` of `count` trials (Wilson 1927)."""
    # Unlike the normal approximation it stays within 0 and 1
    z = NormalDist().inv_cdf(0.975)
    share = right / count
    centre = share + z**2 / (2 * count)
    half_width = z * sqrt(share * (1 - share) / count + z**2 / (4 * count**2))
    scale = 1 + z**2 / count
    return Interval((centre - half_width) / scale, (centre + half_width) / scale)


# --- slices -----------------------------------------------------------------------------------------------------------


def group_by_label(
    items: Iterable[Item],
    field: str,
    get_row: Callable[[Item], Mapping[str, Any]],
) -> dict[str, list[Item]]:
    """The items by their rows' labels in a field, in alphabetical order, `UNLABELLED` too; empty if no row has one."""
    groups: dict[str, list[Item]] = {}
    for item in items:
        label = read_label(get_row(item), field)
        groups.setdefault(label, []).append(item)

    # A field that no row has defines no slices
    if not groups.keys() - {UNLABELLED}:
        return {}
    return dict(sorted(groups.items()))


def metrics_by_slice(rows: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Metrics]]:
    """Metrics per label: ``metrics_by_slice(rows)["domain"]["movie"]``, without the fields that have no labels."""
    slices: dict[str, dict[str, Metrics]] = {}
    for field in SLICE_FIELDS:
        for label, group in group_by_label(rows, field, lambda row: row).items():
            verdicts = [Verdict(row["verdict"]) for row in group]
            slices.setdefault(field, {})[label] = compute_metrics(verdicts)
    return slices


def field_title(field: str) -> str:
    """A label field's display name."""
    return "dynamism" if field == "static_or_dynamic" else field.replace("_", " ")


def read_label(row: Mapping[str, Any], field: str) -> str:
    """The row's label, or `UNLABELLED`."""
    value = row.get(field)
    return UNLABELLED if value in (None, "") else str(value)


def single_value_fields(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """The fields that can define slices: those with a single value in some row, in alphabetical order."""
    names: set[str] = set()
    for row in rows:
        for name, value in row.items():
            if not isinstance(value, list | dict | None):
                names.add(name)
    return sorted(names)


# --- agreement --------------------------------------------------------------------------------------------------------


def agreement(first: Sequence[str], second: Sequence[str]) -> float:
    """The share of positions with the same verdict; 0 for none."""
    matches = sum(first_verdict == second_verdict for first_verdict, second_verdict in zip(first, second, strict=True))
    return matches / max(len(first), 1)


def cohens_kappa(first: Sequence[str], second: Sequence[str]) -> float:
    """Agreement beyond chance (Cohen 1960): 1 is perfect, also if both always give the same single verdict."""
    if not first:
        return 0.0

    # Chance agreement: both draw their verdicts independently, each from its own distribution.
    first_counts = Counter(first)
    second_counts = Counter(second)
    products = [count * second_counts[verdict] for verdict, count in first_counts.items()]
    chance = sum(products) / len(first) ** 2
    # Both always give the same single verdict; the quotient would be 0 / 0
    if chance == 1:
        return 1.0
    return (agreement(first, second) - chance) / (1 - chance)
