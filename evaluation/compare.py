"""`python -m evaluation.compare RUN_A RUN_B`: compares two runs, with paired intervals and p-values."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import shorten

from agents.common.console import end_with
from agents.common.files import DatasetError, check_target, write_json
from evaluation.batches import SLICE_FIELDS, golds_of
from evaluation.comparison import Comparison, RunPair, compare_runs
from evaluation.judge import Verdict
from evaluation.metrics import FEWEST, Metrics, fields_of
from evaluation.paired import Difference, VerdictPair
from evaluation.report import write_comparison
from evaluation.results import interval_text
from evaluation.store import SavedRun, StoreError

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
                known = ", ".join(fields_of(list(first.records.values())))
                raise StoreError(f"--by {field}: no common question has that field; fields with one value: {known}")
        for path in filter(None, (options.out, options.html)):
            check_target(path)
    except DatasetError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    sys.stdout.write("\n".join(_lines(comparison, flips=not options.no_flips)) + "\n")
    try:
        if options.out:
            write_json(options.out, comparison.to_dict())
        if options.html:
            sys.stdout.write(f"\npage  {write_comparison(comparison, first, second, options.html)}\n")
    except OSError as error:
        sys.stderr.write(f"error: {options.out}: cannot be written: {error.strerror}\n")
        return 2
    except DatasetError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    return 0


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
        yield "The signatures are equal: same data, settings, prompts, trained files, judge and versions."
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
    parser.add_argument(
        "--html",
        metavar="FILE.html",
        type=Path,
        help="a page with both runs side by side and the traces of the questions that flipped; beside it FILE.svg, a "
        "picture of 1200 x 630",
    )
    parser.add_argument("--out", metavar="FILE.json", type=Path, help="everything as JSON")
    return parser


if __name__ == "__main__":
    end_with(main)
