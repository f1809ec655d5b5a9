"""Two runs over their common questions: metrics, paired differences, and the questions whose verdicts flipped."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from evaluation.batches import SLICE_FIELDS, RowKey
from evaluation.judge import Verdict
from evaluation.metrics import UNLABELLED, Metrics, label_of, measure
from evaluation.paired import Difference, VerdictPair, differences
from evaluation.store import SavedRun, StoreError, differing


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

    @property
    def is_scored(self) -> bool:
        """Whether both verdicts are scored."""
        return Verdict.UNSCORED not in self.verdicts

    def to_dict(self) -> dict[str, Any]:
        """A flip as JSON-ready data."""
        return {
            **self.key._asdict(),
            "query": self.first["query"],
            "answer": self.first.get("answer"),
            **{field: self.first[field] for field in SLICE_FIELDS if field in self.first},
            "verdicts": [verdict.value for verdict in self.verdicts],
            "predictions": [self.first["prediction"], self.second["prediction"]],
        }


class SliceComparison(NamedTuple):
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
    slices: Mapping[str, Mapping[str, SliceComparison]]

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready data."""
        return {
            "finished": dict(zip(("first", "second"), self.finished, strict=True)),
            "signature_changes": [
                dict(zip(("name", "first", "second"), change, strict=True)) for change in self.signature_changes
            ],
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


def _plain(found: Mapping[str, Difference]) -> dict[str, Any]:
    return {name: difference.to_dict() for name, difference in found.items()}


def compare_runs(first: SavedRun, second: SavedRun, fields: Sequence[str] = SLICE_FIELDS) -> Comparison:
    """Compare two runs over their common questions: those with the same id and text.

    Raises:
        StoreError: there are no common questions, or one of the `fields` has several values in a row.
    """
    pairs = [
        RunPair(key, record, second.records[key])
        for key, record in first.records.items()
        if key in second.records and second.records[key]["query"] == record["query"]
    ]
    if not pairs:
        raise StoreError(
            f"{first.folder} ({len(first.records)} questions) and {second.folder} ({len(second.records)} questions) "
            "have no question in common: 0 of equal id and text"
        )
    scored = [pair for pair in pairs if pair.is_scored]
    one, other = first.run.signature, second.run.signature
    return Comparison(
        signature_changes=[(name, one.get(name), other.get(name)) for name in differing(one, other)],
        only_first=len(first.records) - len(pairs),
        only_second=len(second.records) - len(pairs),
        finished=(first.run.questions is not None, second.run.questions is not None),
        common=len(pairs),
        scored=len(scored),
        first=measure([pair.verdicts.first for pair in pairs]),
        second=measure([pair.verdicts.second for pair in pairs]),
        differences=differences([pair.verdicts for pair in scored]),
        flips=_flips(pairs),
        slices={field: parts for field in fields if (parts := _slices(pairs, field))},
    )


def _flips(pairs: Sequence[RunPair]) -> dict[VerdictPair, list[RunPair]]:
    """By the pair of verdicts: lost answers first, then won ones."""
    order = list(Verdict)
    flips: dict[VerdictPair, list[RunPair]] = {}
    for pair in pairs:
        if pair.verdicts.first is not pair.verdicts.second:
            flips.setdefault(pair.verdicts, []).append(pair)
    return dict(sorted(flips.items(), key=lambda item: [order.index(verdict) for verdict in item[0]]))


def _slices(pairs: Sequence[RunPair], field: str) -> dict[str, SliceComparison]:
    """By label; empty if no question has one."""
    groups: dict[str, list[VerdictPair]] = {}
    for pair in pairs:
        if isinstance(pair.first.get(field), list | dict):
            raise StoreError(
                f"--by {field}: expected a field with one value, but {pair.key.interaction_id} has several"
            )
        scored = groups.setdefault(label_of(pair.first, field), [])
        if pair.is_scored:
            scored.append(pair.verdicts)
    if set(groups) <= {UNLABELLED}:
        return {}
    return {label: SliceComparison(len(groups[label]), differences(groups[label])) for label in sorted(groups)}
