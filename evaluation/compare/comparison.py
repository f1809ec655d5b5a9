"""Two runs' folders as one comparison: common questions, differences of the signature, flips, slices."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from evaluation.batches import SLICE_FIELDS, RowKey
from evaluation.compare.statistics import Difference, VerdictPair, differences
from evaluation.judge import Verdict
from evaluation.metrics import UNLABELLED, Metrics, label_of, measure
from evaluation.saved_run import SavedRun
from evaluation.store import differing


class CompareError(ValueError):
    """Two runs that cannot be compared; the message says why."""


@dataclass(frozen=True, slots=True)
class Pair:
    """One question in both runs: the rows of their predictions.jsonl."""

    key: RowKey
    first: Mapping[str, Any]
    second: Mapping[str, Any]

    @property
    def verdicts(self) -> VerdictPair:
        """What the two made of it."""
        return VerdictPair(Verdict(self.first["verdict"]), Verdict(self.second["verdict"]))

    @property
    def is_scored(self) -> bool:
        """Whether both verdicts count."""
        return Verdict.UNSCORED not in self.verdicts

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready data of a flip."""
        return {
            **self.key._asdict(),
            "query": self.first["query"],
            "answer": self.first.get("answer"),
            **{field: self.first[field] for field in SLICE_FIELDS if field in self.first},
            "verdicts": [verdict.value for verdict in self.verdicts],
            "predictions": [self.first["prediction"], self.second["prediction"]],
        }


class SignatureChange(NamedTuple):
    """Something that the two runs' numbers depend on and that differs."""

    name: str
    first: Any
    second: Any


@dataclass(frozen=True, slots=True)
class Comparison:
    """All that is told of two runs. Everything but `only_first` and `only_second` is about the common questions.

    `first_finished` and `second_finished`: whether the runs came to their ends.

    `flips` are the questions whose verdicts differ, by the two verdicts. `slices` holds, by label, how many questions
    both runs scored there and the differences: none where that is 0.
    """

    signature_changes: tuple[SignatureChange, ...]
    only_first: int
    only_second: int
    first_finished: bool
    second_finished: bool
    common: int
    scored: int
    first: Metrics
    second: Metrics
    differences: Mapping[str, Difference]
    flips: Mapping[VerdictPair, tuple[Pair, ...]]
    slices: Mapping[str, Mapping[str, "SliceComparison"]]

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready data."""
        return {
            "finished": {"first": self.first_finished, "second": self.second_finished},
            "signature_changes": [change._asdict() for change in self.signature_changes],
            "questions": {
                "common": self.common,
                "scored_in_both": self.scored,
                "only_in_first": self.only_first,
                "only_in_second": self.only_second,
            },
            "first": self.first.to_dict(),
            "second": self.second.to_dict(),
            "differences": _plain(self.differences),
            "slices": {
                field: {label: {"n": part.n, **_plain(part.differences)} for label, part in parts.items()}
                for field, parts in self.slices.items()
            },
            "flips": [pair.to_dict() for pairs in self.flips.values() for pair in pairs],
        }


class SliceComparison(NamedTuple):
    """Two runs over the questions with one label; `n` of them are scored in both, no `differences` where none is."""

    n: int
    differences: Mapping[str, Difference]


def compare_runs(first: SavedRun, second: SavedRun, fields: Sequence[str] = SLICE_FIELDS) -> Comparison:
    """Compare two runs over the questions that both have answered: those of equal id and equal text.

    Raises:
        CompareError: there is none, or one of the `fields`, which need not be those of `SLICE_FIELDS`, is no label.
    """
    pairs = _common_pairs(first, second)
    scored = [pair for pair in pairs if pair.is_scored]
    return Comparison(
        signature_changes=tuple(
            SignatureChange(name, first.signature.get(name), second.signature.get(name))
            for name in differing(first.signature, second.signature)
        ),
        only_first=len(first.records) - len(pairs),
        only_second=len(second.records) - len(pairs),
        first_finished=first.is_finished,
        second_finished=second.is_finished,
        common=len(pairs),
        scored=len(scored),
        first=measure([pair.verdicts.first for pair in pairs]),
        second=measure([pair.verdicts.second for pair in pairs]),
        differences=differences([pair.verdicts for pair in scored]),
        flips=_flips(pairs),
        slices={field: slice_ for field in fields if (slice_ := _slices(pairs, field))},
    )


def _common_pairs(first: SavedRun, second: SavedRun) -> list[Pair]:
    pairs = [
        Pair(key, record, second.records[key])
        for key, record in first.records.items()
        if key in second.records and second.records[key]["query"] == record["query"]
    ]
    if not pairs:
        raise CompareError(
            f"{first.folder} ({len(first.records)} questions) and {second.folder} ({len(second.records)} questions) "
            "have no question in common: 0 of equal id and text"
        )
    return pairs


def _flips(pairs: Sequence[Pair]) -> dict[VerdictPair, tuple[Pair, ...]]:
    changed = [pair for pair in pairs if pair.verdicts.first is not pair.verdicts.second]
    kinds = Counter(pair.verdicts for pair in changed)
    return {kind: tuple(pair for pair in changed if pair.verdicts == kind) for kind in sorted(kinds, key=_order)}


def _order(kind: VerdictPair) -> tuple[int, int]:
    """Lost answers first, then won ones, in the order of the verdicts."""
    order = list(Verdict)
    return order.index(kind.first), order.index(kind.second)


def _slices(pairs: Sequence[Pair], field: str) -> dict[str, SliceComparison]:
    """By label; empty where no question has one."""
    groups: dict[str, list[VerdictPair]] = {}
    for pair in pairs:
        if isinstance(pair.first.get(field), list | dict):
            raise CompareError(
                f"--by {field}: a field with one value is expected, but {pair.key.interaction_id} has several"
            )
        scored = groups.setdefault(label_of(pair.first, field), [])
        if pair.is_scored:
            scored.append(pair.verdicts)
    if set(groups) <= {UNLABELLED}:
        return {}
    return {label: SliceComparison(len(groups[label]), differences(groups[label])) for label in sorted(groups)}


def _plain(found: Mapping[str, Difference]) -> dict[str, Any]:
    return {name: difference.to_dict() for name, difference in found.items()}
