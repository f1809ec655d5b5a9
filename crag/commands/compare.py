"""`crag compare RUN_A RUN_B ...`: compares runs with the first one, with paired intervals and p-values."""

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import shorten

from crag.commands.argument_types import argument_type, new_file
from crag.commands.command_line import command, parser_of
from crag.commands.compare_several import several_lines
from crag.core.files import DatasetError, check_target, write_json
from crag.core.text import counted
from crag.evaluation.batches import SLICE_FIELDS, gold_answers
from crag.evaluation.compare import Comparison, RunPair, compare_runs, verdicts_title
from crag.evaluation.metrics import single_value_fields
from crag.evaluation.paired_statistics import Difference
from crag.evaluation.report.comparison_page import write_comparison
from crag.evaluation.results_text import interval_text, metrics_headline
from crag.evaluation.store import SavedRun

_WIDTH = 110


@command()
def main(arguments: Sequence[str] | None = None) -> None:
    """Compare runs. Exit code: 0 done, 2 not comparable."""
    options = _parse(arguments)
    first = SavedRun.read(options.first)
    if len(options.others) > 1:
        _compare_several(first, options)
        return

    second = SavedRun.read(options.others[0])
    comparison = compare_runs(first, second, tuple(options.by or SLICE_FIELDS))

    # After the comparison, which finds out which fields have slices
    for field in options.by or ():
        if field not in comparison.slices:
            fields = ", ".join(single_value_fields(list(first.records.values())))
            raise DatasetError(f"--by {field}: no common question has that field; fields with one value: {fields}")

    # Before anything is printed: a path that cannot be written is reported first
    for path in (options.out, options.html):
        if path is not None:
            check_target(path)

    print("\n".join(_lines(comparison)))
    if options.out:
        write_json(options.out, comparison.to_dict())
    if options.html:
        print(f"\npage  {write_comparison(comparison, first, second, options.html)}")


def _compare_several(first: SavedRun, options: argparse.Namespace) -> None:
    """Print one line for each run against the first; --out has all of each comparison."""
    if options.out is not None:
        check_target(options.out)
    comparisons = {str(folder): compare_runs(first, SavedRun.read(folder)) for folder in options.others}
    print("\n".join(several_lines(str(options.first), comparisons)))
    if options.out:
        write_json(options.out, {name: comparison.to_dict() for name, comparison in comparisons.items()})


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = parser_of(
        "crag compare",
        "Compare runs of `crag evaluate` over the questions that both answered: what differs in their signatures,\n"
        "scores with paired 95 % intervals and exact randomisation p-values, seconds and tokens, and which questions\n"
        "flipped. A difference is B minus A. Several runs are compared with the first, in a line each.",
        "Exit code: 0 done; 2 the runs cannot be compared.",
    )

    parser.add_argument(
        "first",
        metavar="RUN_A",
        type=Path,
        help="the folder of a run",
    )

    parser.add_argument(
        "others",
        metavar="RUN_B",
        nargs="+",
        type=Path,
        help="the folder of another run, or of several",
    )

    parser.add_argument(
        "--by",
        metavar="FIELD",
        action="append",
        help=f"slices by this field of the predictions; can be repeated (default: {', '.join(SLICE_FIELDS)})",
    )

    parser.add_argument(
        "--html",
        metavar="FILE.html",
        type=Path,
        help="a page with both runs side by side and the traces of the questions that flipped",
    )

    parser.add_argument(
        "--out",
        metavar="FILE.json",
        type=argument_type(new_file),
        help="everything as JSON",
    )

    options = parser.parse_args(arguments)
    if len(options.others) > 1 and (options.html or options.by):
        parser.error("--html and --by are for two runs")
    return options


def _lines(comparison: Comparison) -> Iterator[str]:
    """The differences in signature, numbers and slices, and every question that flipped."""
    yield from _signatures(comparison)
    yield ""
    yield from _coverage(comparison)

    yield metrics_headline("A", comparison.first)
    yield metrics_headline("B", comparison.second)
    yield ""
    yield from _differences(comparison)

    flipped = sum(len(pairs) for pairs in comparison.flips.values())
    yield ""
    yield f"{flipped} of {counted(comparison.common, 'question')} flipped"
    for kind, pairs in comparison.flips.items():
        yield f"{len(pairs):>6}  {verdicts_title(kind, ' -> ')}"
    for kind, pairs in comparison.flips.items():
        yield ""
        yield verdicts_title(kind, " -> ")
        for pair in pairs:
            yield from _flip(pair)


def _signatures(comparison: Comparison) -> Iterator[str]:
    if not comparison.signature_changes:
        yield "The signatures are equal: same data, settings, model, prompts, trained files, judge and versions."
        return

    yield "The signatures differ in"
    for change in comparison.signature_changes:
        first, second = change.shown
        yield f"  {change.name}: A {first}"
        yield f"  {'':{len(change.name)}}  B {second}"


def _coverage(comparison: Comparison) -> Iterator[str]:
    """Which questions are not compared."""
    only_first = comparison.only_first
    only_second = comparison.only_second
    first_finished, second_finished = comparison.finished

    if not first_finished:
        yield f"A is not finished: {comparison.common + only_first} of ? questions"
    if not second_finished:
        yield f"B is not finished: {comparison.common + only_second} of ? questions"
    if only_first or only_second:
        yield (
            f"Only the {comparison.common} common questions are compared: "
            f"{only_first} are only in A, {only_second} only in B."
        )

    unscored = comparison.common - comparison.scored
    if unscored:
        yield f"{unscored} of them are unscored in A or B and are left out of the differences."


def _differences(comparison: Comparison) -> Iterator[str]:
    if not comparison.scored:
        yield "No question is scored in both runs, so there is no difference to show."
        return

    yield f"{'':24}{'A':>8} {'B':>8}   {'B - A':>7}  {'95 % interval':^17}  {'p':>7}"
    for name, difference in comparison.differences.items():
        yield _line(name, difference, comparison.scored)
    yield from _cost_lines(comparison)

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
    return (
        f"{name:24}{difference.first:>+8.3f} {difference.second:>+8.3f}   {difference.change:>+7.3f}  "
        f"{interval_text(difference.ci, n)}  {difference.p_text:>7}"
    )


def _cost_lines(comparison: Comparison) -> Iterator[str]:
    """Seconds and tokens per question of both runs; without the tokens that either run has not counted."""
    first, second = comparison.costs
    measures = {
        "seconds per question": (first.seconds, second.seconds),
        "tokens read/question": (first.read, second.read),
        "tokens written/question": (first.written, second.written),
    }
    for name, (value_in_first, value_in_second) in measures.items():
        if value_in_first is not None and value_in_second is not None:
            change = value_in_second - value_in_first
            yield f"{name:24}{value_in_first:>8.2f} {value_in_second:>8.2f}   {change:>+7.2f}"


def _flip(pair: RunPair) -> Iterator[str]:
    row = pair.first
    labels = [str(row[field]) for field in ("domain", "question_type") if row.get(field)]
    suffix = f"  ({', '.join(labels)})" if labels else ""
    golds = " | ".join(map(str, gold_answers(row)))

    yield f"  {shorten(row['query'], _WIDTH)}{suffix}"
    yield f"      expected  {shorten(golds, _WIDTH)}"
    yield f"      A         {shorten(pair.first['prediction'], _WIDTH) or '(empty)'}"
    yield f"      B         {shorten(pair.second['prediction'], _WIDTH) or '(empty)'}"
