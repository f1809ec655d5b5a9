"""`python -m evaluation.compare RUN_A RUN_B`: compares two runs, with paired intervals and p-values."""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten
from typing import Any, NamedTuple

from agents.files import DatasetError, check_target, write_json
from evaluation.batches import SLICE_FIELDS, RowKey, golds_of
from evaluation.judge import Verdict
from evaluation.metrics import FEWEST, UNLABELLED, Metrics, fields_of, label_of, measure
from evaluation.paired import Difference, VerdictPair, differences
from evaluation.results import interval_text
from evaluation.store import SavedRun, StoreError, differing

_WIDTH = 110
_HEADER = f"{'A':>8} {'B':>8}   {'B - A':>7}  {'95 % interval':^17}  {'p':>7}"
_SHORT = {Verdict.CORRECT: "right", Verdict.INCORRECT: "wrong"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare two runs. Exit code: 0 done, 2 not comparable."""
    options = _parser().parse_args(arguments)
    try:
        first, second = SavedRun.read(options.first), SavedRun.read(options.second)
        comparison = compare_runs(first, second, tuple(options.by or SLICE_FIELDS))
        for field in options.by or ():
            if field not in comparison.slices:
                known = ", ".join(fields_of(first.rows))
                raise StoreError(f"--by {field}: no common question has that field; fields with one value: {known}")
        if options.out:
            check_target(options.out)
    except DatasetError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    sys.stdout.write("\n".join(_lines(comparison, flips=not options.no_flips)) + "\n")
    if options.out:
        try:
            write_json(options.out, comparison.to_dict())
        except OSError as error:
            sys.stderr.write(f"error: {options.out}: cannot be written: {error.strerror}\n")
            return 2
    return 0


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


# --- as text ----------------------------------------------------------------------------------------------------------


def _lines(comparison: Comparison, *, flips: bool) -> Iterator[str]:
    """The differences in signature, numbers and slices and, if `flips`, every question that flipped."""
    yield from _signature(comparison)
    yield ""
    yield from _questions(comparison)
    yield ""
    yield from _differences(comparison)
    yield ""
    yield f"{sum(map(len, comparison.flips.values()))} of {comparison.common} questions flipped"
    for kind, pairs in comparison.flips.items():
        yield f"{len(pairs):>6}  {_title(kind)}"
    for kind, pairs in comparison.flips.items() if flips else ():
        yield from ("", _title(kind))
        for pair in pairs:
            yield from _flip(pair)


def _signature(comparison: Comparison) -> Iterator[str]:
    if not comparison.signature_changes:
        yield "The signatures are equal: same data, settings, prompts, adapters, judge and versions."
        return
    yield "The signatures differ in"
    for name, first, second in comparison.signature_changes:
        yield f"  {name}: A {first}"
        yield f"  {'':{len(name)}}  B {second}"


def _questions(comparison: Comparison) -> Iterator[str]:
    only = comparison.only_first, comparison.only_second
    for name, finished, own in zip("AB", comparison.finished, only, strict=True):
        if not finished:
            yield f"{name} is not finished: {comparison.common + own} of ? questions"
    if any(only):
        yield (
            f"Only the {comparison.common} common questions are compared: {only[0]} are only in A, {only[1]} only in B."
        )
    if unscored := comparison.common - comparison.scored:
        yield f"{unscored} of them are unscored in A or B and are left out of the differences."
    yield _headline("A", comparison.first)
    yield _headline("B", comparison.second)


def _headline(name: str, metrics: Metrics) -> str:
    if not metrics.n:
        return f"{name}: nothing scored, {metrics.unscored} unscored"
    interval = f" [{metrics.score_interval.low:+.3f},{metrics.score_interval.high:+.3f}]"
    return (
        f"{name}: score {metrics.score:+.3f}{interval if metrics.n >= FEWEST else ''}, accuracy "
        f"{metrics.accuracy:.3f}, hallucination {metrics.hallucination:.3f}, missing {metrics.missing:.3f}, "
        f"n {metrics.n}" + (f", {metrics.unscored} unscored" if metrics.unscored else "")
    )


def _differences(comparison: Comparison) -> Iterator[str]:
    if not comparison.scored:
        yield "No question is scored in both runs, so there is no difference to show."
        return
    yield f"{'':24}{_HEADER}"
    for name, difference in comparison.differences.items():
        yield _line(name, difference, comparison.scored)
    if comparison.slices:
        yield "p-values of slices are uncorrected: by chance alone, one slice in twenty has p < 0.05"
    for field, parts in comparison.slices.items():
        yield f"score by {field}"
        for label, part in parts.items():
            yield f"{_line(f'  {label}', part.differences.get('score'), part.n)}  n {part.n}"


def _line(name: str, difference: Difference | None, n: int) -> str:
    """Both runs' figures and their difference over n questions; dashes if nothing is scored."""
    if difference is None:
        return f"{name:24}{'-':>8} {'-':>8}   {'-':>7}  {'-':^17}  {'-':>7}"
    interval = interval_text((difference.interval.low, difference.interval.high), n)
    p_value = "<0.0001" if difference.p_value < 0.0001 else f"{difference.p_value:.4f}"
    return (
        f"{name:24}{difference.first:>+8.3f} {difference.second:>+8.3f}   {difference.change:>+7.3f}  "
        f"{interval}  {p_value:>7}"
    )


def _title(kind: VerdictPair) -> str:
    return " -> ".join(_SHORT.get(verdict, verdict.value) for verdict in kind)


def _flip(pair: RunPair) -> Iterator[str]:
    labels = ", ".join(str(pair.first[field]) for field in ("domain", "question_type") if pair.first.get(field))
    yield f"  {shorten(pair.first['query'], _WIDTH)}" + (f"  ({labels})" if labels else "")
    yield f"      expected  {shorten(' | '.join(map(str, golds_of(pair.first))), _WIDTH)}"
    yield f"      A         {shorten(pair.first['prediction'], _WIDTH) or '(empty)'}"
    yield f"      B         {shorten(pair.second['prediction'], _WIDTH) or '(empty)'}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m evaluation.compare",
        description="Compare two runs of local_evaluation.py over the questions that both answered: what differs in "
        "their signatures, scores with paired 95 % intervals and exact randomisation p-values, and which questions "
        "flipped. A difference is B less A.",
        epilog="Exit code: 0 done; 2 the runs cannot be compared.",
    )
    parser.add_argument("first", metavar="RUN_A", type=Path, help="the folder of a run")
    parser.add_argument("second", metavar="RUN_B", type=Path, help="the folder of another run")
    parser.add_argument(
        "--by",
        metavar="FIELD",
        action="append",
        help=f"slices by this field of the predictions; can be repeated (default: {', '.join(SLICE_FIELDS)})",
    )
    parser.add_argument("--no-flips", action="store_true", help="count the questions that flipped without listing them")
    parser.add_argument("--out", metavar="FILE.json", type=Path, help="everything as JSON")
    return parser


if __name__ == "__main__":
    sys.exit(main())
