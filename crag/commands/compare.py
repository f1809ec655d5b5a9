"""`crag compare`, `crag compare RUN_A RUN_B`: compares two runs, with paired intervals and p-values."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import shorten

from crag.commands.command_line import command, parser_of
from crag.core.files import DatasetError, check_target, write_json
from crag.evaluation.batches import SLICE_FIELDS, gold_answers
from crag.evaluation.compare import Comparison, Difference, RunPair, compare_runs, verdicts_title
from crag.evaluation.metrics import FEWEST, Metrics, single_value_fields
from crag.evaluation.report.page import write_comparison
from crag.evaluation.results import interval_text
from crag.evaluation.store import SavedRun

_WIDTH = 110


@command()
def main(arguments: Sequence[str] | None = None) -> None:
    """Compare two runs. Exit code: 0 done, 2 not comparable."""
    parser = parser_of(
        "crag compare",
        "Compare two runs of local_evaluation.py over the questions that both answered: what differs in their\n"
        "signatures, scores with paired 95 % intervals and exact randomisation p-values, and which questions flipped.\n"
        "A difference is B minus A.",
        "Exit code: 0 done; 2 the runs cannot be compared.",
    )
    parser.add_argument("first", metavar="RUN_A", type=Path, help="the folder of a run")
    parser.add_argument("second", metavar="RUN_B", type=Path, help="the folder of another run")
    by = f"slices by this field of the predictions; can be repeated (default: {', '.join(SLICE_FIELDS)})"
    parser.add_argument("--by", metavar="FIELD", action="append", help=by)
    html = "a page with both runs side by side and the traces of the questions that flipped"
    parser.add_argument("--html", metavar="FILE.html", type=Path, help=html)
    parser.add_argument("--out", metavar="FILE.json", type=Path, help="everything as JSON")
    options = parser.parse_args(arguments)
    first, second = SavedRun.read(options.first), SavedRun.read(options.second)
    comparison = compare_runs(first, second, tuple(options.by or SLICE_FIELDS))
    for field in options.by or ():
        if field not in comparison.slices:
            known = ", ".join(single_value_fields(list(first.records.values())))
            raise DatasetError(f"--by {field}: no common question has that field; fields with one value: {known}")
    for path in filter(None, (options.out, options.html)):
        check_target(path)
    print("\n".join(_lines(comparison)))
    if options.out:
        write_json(options.out, comparison.to_dict())
    if options.html:
        print(f"\npage  {write_comparison(comparison, first, second, options.html)}")


def _lines(comparison: Comparison) -> Iterator[str]:
    """The differences in signature, numbers and slices, and every question that flipped."""
    if comparison.signature_changes:
        yield "The signatures differ in"
    else:
        yield "The signatures are equal: same data, settings, prompts, trained files, judge and versions."
    for name, one, other in comparison.signature_changes:
        yield from (f"  {name}: A {one}", f"  {'':{len(name)}}  B {other}")
    yield ""
    only = comparison.only_first, comparison.only_second
    for name, finished, more in zip("AB", comparison.finished, only, strict=True):
        if not finished:
            yield f"{name} is not finished: {comparison.common + more} of ? questions"
    if any(only):
        yield (
            f"Only the {comparison.common} common questions are compared: {only[0]} are only in A, {only[1]} only in B."
        )
    if unscored := comparison.common - comparison.scored:
        yield f"{unscored} of them are unscored in A or B and are left out of the differences."
    yield from (_headline("A", comparison.first), _headline("B", comparison.second), "")
    yield from _differences(comparison)
    yield from ("", f"{sum(map(len, comparison.flips.values()))} of {comparison.common} questions flipped")
    for kind, pairs in comparison.flips.items():
        yield f"{len(pairs):>6}  {verdicts_title(kind, ' -> ')}"
    for kind, pairs in comparison.flips.items():
        yield from ("", verdicts_title(kind, " -> "))
        for pair in pairs:
            yield from _flip(pair)


def _headline(name: str, metrics: Metrics) -> str:
    if not metrics.n:
        return f"{name}: nothing scored, {metrics.unscored} unscored"
    interval = f" {interval_text(metrics.ci, metrics.n)}".replace("[ ", "[").replace(", ", ",")
    return (
        f"{name}: score {metrics.score:+.3f}{interval if metrics.n >= FEWEST else ''}, accuracy "
        f"{metrics.accuracy:.3f}, hallucination {metrics.hallucination:.3f}, missing {metrics.missing:.3f}, "
        f"n {metrics.n}" + (f", {metrics.unscored} unscored" if metrics.unscored else "")
    )


def _differences(comparison: Comparison) -> Iterator[str]:
    if not comparison.scored:
        yield "No question is scored in both runs, so there is no difference to show."
        return
    yield f"{'':24}{'A':>8} {'B':>8}   {'B - A':>7}  {'95 % interval':^17}  {'p':>7}"
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
    return (
        f"{name:24}{difference.first:>+8.3f} {difference.second:>+8.3f}   {difference.change:>+7.3f}  "
        f"{interval_text(difference.ci, n)}  {difference.p_text:>7}"
    )


def _flip(pair: RunPair) -> Iterator[str]:
    labels = ", ".join(str(pair.first[field]) for field in ("domain", "question_type") if pair.first.get(field))
    yield f"  {shorten(pair.first['query'], _WIDTH)}" + (f"  ({labels})" if labels else "")
    yield f"      expected  {shorten(' | '.join(map(str, gold_answers(pair.first))), _WIDTH)}"
    yield f"      A         {shorten(pair.first['prediction'], _WIDTH) or '(empty)'}"
    yield f"      B         {shorten(pair.second['prediction'], _WIDTH) or '(empty)'}"
