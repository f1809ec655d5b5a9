"""Two runs over their common questions: what differs in results and cost, and which verdicts flipped."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain, product
from statistics import fmean
from typing import Any, NamedTuple

from crag.core.files import DatasetError
from crag.core.text import counted
from crag.evaluation.batches import SLICE_FIELDS, RowKey
from crag.evaluation.judge import Verdict
from crag.evaluation.metrics import Metrics, compute_metrics, group_by_label
from crag.evaluation.paired_statistics import Difference, VerdictPair, paired_differences
from crag.evaluation.store import SavedRun, differing_names


def verdicts_title(kind: VerdictPair, between: str) -> str:
    """``right to wrong`` for `between` " to "."""
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
        """Both verdicts."""
        return VerdictPair(Verdict(self.first["verdict"]), Verdict(self.second["verdict"]))


class SignatureChange(NamedTuple):
    """What differs in two signatures: a name of theirs, and its value in each; None where a signature lacks it."""

    name: str
    first: Any
    second: Any

    @property
    def shown(self) -> tuple[str, str]:
        """Both values as a page or a terminal shows them, a dash for none."""
        first, second = ("-" if value is None else str(value) for value in (self.first, self.second))
        return first, second


@dataclass(frozen=True, slots=True)
class Cost:
    """What a run took per question, over the common questions: seconds, and tokens that the model read and wrote.

    Tokens are None where no question has any, as of another agent.
    """

    seconds: float
    read: float | None
    written: float | None


@dataclass(frozen=True, slots=True)
class SliceDifferences:
    """Two runs over the questions with one label; `n` are scored in both. `differences` is empty if n is 0."""

    n: int
    differences: Mapping[str, Difference]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs side by side, over the common questions except `only_first`, `only_second` and `finished`.

    `flips` holds the questions with different verdicts, by verdicts.
    """

    signature_changes: Sequence[SignatureChange]
    only_first: int
    only_second: int
    finished: tuple[bool, bool]
    common: int
    scored: int
    first: Metrics
    second: Metrics
    differences: Mapping[str, Difference]
    costs: tuple[Cost, Cost]
    flips: Mapping[VerdictPair, Sequence[RunPair]]
    slices: Mapping[str, Mapping[str, SliceDifferences]]

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready data: the fields by name; a flip has the rows of both runs."""
        # JSON has no keys like those of `flips`; each pair has its verdicts in its rows.
        plain = asdict(replace(self, flips={}))
        plain["flips"] = [asdict(pair) for pair in chain.from_iterable(self.flips.values())]
        return plain


def compare_runs(
    first: SavedRun,
    second: SavedRun,
    fields: Sequence[str] = SLICE_FIELDS,
) -> Comparison:
    """Compare two runs over their common questions: those with the same id and text.
    Raises DatasetError: there are no common questions, or one of the `fields` has several values in a row.
    """
    pairs = _find_common_questions(first, second)
    _check_slice_fields(pairs, fields)

    # Each question in both runs, so that differences are paired
    overall = _measure_differences(pairs)
    first_verdicts = [pair.verdicts.first for pair in pairs]
    second_verdicts = [pair.verdicts.second for pair in pairs]
    return Comparison(
        signature_changes=_signature_changes(first.run.signature, second.run.signature),
        only_first=len(first.records) - len(pairs),
        only_second=len(second.records) - len(pairs),
        finished=(first.run.questions is not None, second.run.questions is not None),
        common=len(pairs),
        scored=overall.n,
        first=compute_metrics(first_verdicts),
        second=compute_metrics(second_verdicts),
        differences=overall.differences,
        costs=(_measure_cost([pair.first for pair in pairs]), _measure_cost([pair.second for pair in pairs])),
        flips=_find_flips(pairs),
        slices=_slice_differences(pairs, fields),
    )


def _find_common_questions(first: SavedRun, second: SavedRun) -> list[RunPair]:
    pairs: list[RunPair] = []
    for key, record in first.records.items():
        partner = second.records.get(key)
        # Ids that are only line numbers can mean another question in another file
        if partner is not None and partner["query"] == record["query"]:
            pairs.append(RunPair(key, record, partner))

    if not pairs:
        raise DatasetError(
            f"{first.folder} ({counted(len(first.records), 'question')}) and "
            f"{second.folder} ({counted(len(second.records), 'question')}) "
            "have no question in common: 0 of equal id and text"
        )
    return pairs


def _measure_cost(rows: Sequence[Mapping[str, Any]]) -> Cost:
    """The means over rows of predictions.jsonl; older ones have no tokens."""
    tokens = [row.get("tokens") or {} for row in rows]
    read = fmean(counts.get("prompt", 0) for counts in tokens)
    written = fmean(counts.get("completion", 0) for counts in tokens)
    return Cost(
        seconds=fmean(row["seconds"] for row in rows),
        read=read or None,
        written=written or None,
    )


def _signature_changes(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[SignatureChange]:
    return [SignatureChange(name, first.get(name), second.get(name)) for name in differing_names(first, second)]


def _check_slice_fields(pairs: Sequence[RunPair], fields: Sequence[str]) -> None:
    for field, pair in product(fields, pairs):
        if isinstance(pair.first.get(field), list | dict):
            raise DatasetError(
                f"--by {field}: expected a field with one value, but {pair.key.interaction_id} has several"
            )


def _find_flips(pairs: Sequence[RunPair]) -> dict[VerdictPair, list[RunPair]]:
    """The pairs with different verdicts, by verdicts, in the order of `Verdict`."""
    flips: dict[VerdictPair, list[RunPair]] = {}
    for pair in pairs:
        verdicts = pair.verdicts
        if verdicts.first is not verdicts.second:
            flips.setdefault(verdicts, []).append(pair)

    kinds = [VerdictPair(first, second) for first, second in product(Verdict, repeat=2)]
    return {kind: flips[kind] for kind in kinds if kind in flips}


def _slice_differences(pairs: Sequence[RunPair], fields: Sequence[str]) -> dict[str, dict[str, SliceDifferences]]:
    slices: dict[str, dict[str, SliceDifferences]] = {}
    for field in fields:
        # Labels are the question's, so those of either run will do.
        groups = group_by_label(pairs, field, lambda pair: pair.first)
        if groups:
            slices[field] = {label: _measure_differences(group) for label, group in groups.items()}
    return slices


def _measure_differences(pairs: Sequence[RunPair]) -> SliceDifferences:
    # A question that either run could not score has no difference
    scored = [pair.verdicts for pair in pairs if Verdict.UNSCORED not in pair.verdicts]
    return SliceDifferences(len(scored), paired_differences(scored))
