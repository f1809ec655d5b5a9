"""Two runs over their common questions: paired differences with intervals and exact p-values, and what flipped."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from math import comb
from typing import Any, NamedTuple

import numpy as np

from crag.core.files import DatasetError
from crag.evaluation.batches import SLICE_FIELDS, RowKey
from crag.evaluation.judge import Verdict
from crag.evaluation.metrics import (
    VALUE,
    Interval,
    Metrics,
    by_label,
    compute_metrics,
    percentile_interval,
    resampled_counts,
)
from crag.evaluation.store import SavedRun, differing

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


def verdicts_title(kind: VerdictPair, between: str) -> str:
    """``right to wrong``."""
    words = {Verdict.CORRECT: "right", Verdict.INCORRECT: "wrong"}
    return between.join(words.get(verdict, verdict.value) for verdict in kind)


@dataclass(frozen=True, slots=True)
class RunPair:
    """One question in both runs: the rows of both predictions.jsonl."""

    key: RowKey
    first: Mapping[str, Any]
    second: Mapping[str, Any]

    @property
    def verdicts(self) -> VerdictPair:
        """The verdicts of the two."""
        return VerdictPair(Verdict(self.first["verdict"]), Verdict(self.second["verdict"]))


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


@dataclass(frozen=True, slots=True)
class SliceDifferences:
    """Two runs over the questions with one label; `n` are scored in both. `differences` is empty if n is 0."""

    n: int
    differences: Mapping[str, Difference]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs side by side, over the common questions except `only_first`, `only_second` and `finished`.

    `signature_changes` holds name, first and second value; `flips` the questions with different verdicts, by verdicts.
    """

    signature_changes: Sequence[tuple[str, Any, Any]]
    only_first: int
    only_second: int
    finished: tuple[bool, bool]
    common: int
    scored: int
    first: Metrics
    second: Metrics
    differences: Mapping[str, Difference]
    flips: Mapping[VerdictPair, Sequence[RunPair]]
    slices: Mapping[str, Mapping[str, SliceDifferences]]

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready data: the fields by name; a flip has the rows of both runs."""
        plain = asdict(replace(self, flips={}))
        return {**plain, "flips": [asdict(pair) for pairs in self.flips.values() for pair in pairs]}


def compare_runs(first: SavedRun, second: SavedRun, fields: Sequence[str] = SLICE_FIELDS) -> Comparison:
    """Compare two runs over their common questions: those with the same id and text.
    Raises DatasetError: there are no common questions, or one of the `fields` has several values in a row.
    """
    pairs = [
        RunPair(key, record, second.records[key])
        for key, record in first.records.items()
        if key in second.records and second.records[key]["query"] == record["query"]
    ]
    if not pairs:
        raise DatasetError(
            f"{first.folder} ({len(first.records)} questions) and {second.folder} ({len(second.records)} questions) "
            "have no question in common: 0 of equal id and text"
        )
    for field, pair in product(fields, pairs):
        if isinstance(pair.first.get(field), list | dict):
            raise DatasetError(
                f"--by {field}: expected a field with one value, but {pair.key.interaction_id} has several"
            )
    flips: dict[VerdictPair, list[RunPair]] = {}
    for pair in pairs:
        if pair.verdicts.first is not pair.verdicts.second:
            flips.setdefault(pair.verdicts, []).append(pair)
    order = list(Verdict)
    whole, ours, theirs = _part(pairs), first.run.signature, second.run.signature
    return Comparison(
        signature_changes=[(name, ours.get(name), theirs.get(name)) for name in differing(ours, theirs)],
        only_first=len(first.records) - len(pairs),
        only_second=len(second.records) - len(pairs),
        finished=(first.run.questions is not None, second.run.questions is not None),
        common=len(pairs),
        scored=whole.n,
        first=compute_metrics([pair.verdicts.first for pair in pairs]),
        second=compute_metrics([pair.verdicts.second for pair in pairs]),
        differences=whole.differences,
        flips=dict(sorted(flips.items(), key=lambda item: [order.index(verdict) for verdict in item[0]])),
        slices={
            field: {label: _part(some) for label, some in groups.items()}
            for field in fields
            if (groups := by_label(pairs, field, lambda pair: pair.first))
        },
    )


def _part(pairs: Sequence[RunPair]) -> SliceDifferences:
    scored = [pair.verdicts for pair in pairs if Verdict.UNSCORED not in pair.verdicts]
    return SliceDifferences(len(scored), paired_differences(scored))


# --- paired statistics ------------------------------------------------------------------------------------------------


def paired_differences(pairs: Sequence[VerdictPair]) -> dict[str, Difference]:
    """The difference in each of `MEASURES`, over pairs of scored verdicts; empty without pairs."""
    if not pairs:
        return {}
    cells, found = [VerdictPair(*cell) for cell in product(VALUE, repeat=2)], Counter(pairs)
    counts, n = np.array([found[cell] for cell in cells]), len(pairs)
    samples = resampled_counts(counts.tolist())
    differences = {}
    for name, worth in MEASURES.items():
        first, second = (np.array([worth[cell[run]] for cell in cells]) for run in (0, 1))
        change = second - first
        ones, twos = (int(counts[abs(change) == size].sum()) for size in (1, 2))
        differences[name] = Difference(
            float(counts @ first / n),
            float(counts @ second / n),
            float(counts @ change / n),
            percentile_interval(samples @ change / n),
            randomisation_p_value(int(counts @ change), ones=ones, twos=twos),
        )
    return differences


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


def _fair_coin(tosses: int) -> list[float]:
    """The probabilities of 0 to `tosses` heads."""
    return [comb(tosses, heads) / 2**tosses for heads in range(tosses + 1)]
