"""A comparison as text for a terminal."""

from collections.abc import Iterator, Mapping
from textwrap import shorten

from evaluation.batches import golds_of
from evaluation.compare.comparison import Comparison, Pair
from evaluation.compare.statistics import Difference
from evaluation.judge import Verdict
from evaluation.metrics import Metrics

_WIDTH = 110
_HEADER = f"{'A':>8} {'B':>8}   {'B - A':>7}  {'95 % interval':^17}  {'p':>7}"
_SHORT = {
    Verdict.CORRECT: "right",
    Verdict.INCORRECT: "wrong",
    Verdict.MISSING: "missing",
    Verdict.UNSCORED: "unscored",
}


def comparison_lines(comparison: Comparison, *, flips: bool = True) -> Iterator[str]:
    """What differs in the signature, the numbers, the slices and, if `flips`, every question that flipped."""
    yield from _signature(comparison)
    yield from _questions(comparison)
    yield ""
    yield from _differences(comparison)
    yield from _slices(comparison)
    yield ""
    yield from _flip_counts(comparison)
    if flips:
        yield from _flips(comparison)


def _differences(comparison: Comparison) -> Iterator[str]:
    if not comparison.differences:
        yield "No question is scored in both runs, so that there is no difference to tell."
        return
    yield f"{'':24}{_HEADER}"
    for name, difference in comparison.differences.items():
        yield _line(name, difference)


def _slices(comparison: Comparison) -> Iterator[str]:
    if not comparison.slices or not comparison.scored:
        return
    yield "p of a slice is its own: of twenty slices that differ by chance alone, one has p < 0.05"
    for field, parts in comparison.slices.items():
        yield f"score by {field}"
        for label, part in parts.items():
            yield f"{_line(f'  {label}', part.differences.get('score'))}  n {part.n}"


def _signature(comparison: Comparison) -> Iterator[str]:
    if not comparison.signature_changes:
        yield "The signatures are equal: same data, settings, prompts, adapters, judge and versions."
        return
    yield "The signatures differ in"
    for name, first, second in comparison.signature_changes:
        yield f"  {name}: A {first}"
        yield f"  {'':{len(name)}}  B {second}"


def _questions(comparison: Comparison) -> Iterator[str]:
    yield ""
    if not comparison.first_finished:
        yield f"A is not finished: {comparison.common + comparison.only_first} of ? questions"
    if not comparison.second_finished:
        yield f"B is not finished: {comparison.common + comparison.only_second} of ? questions"
    if comparison.only_first or comparison.only_second:
        yield (
            f"Only the {comparison.common} common questions are compared: {comparison.only_first} are only in A, "
            f"{comparison.only_second} only in B."
        )
    if unscored := comparison.common - comparison.scored:
        yield f"{unscored} of them are unscored in A or B and are left out of the differences."
    yield _headline("A", comparison.first)
    yield _headline("B", comparison.second)


def _headline(name: str, metrics: Metrics) -> str:
    if not metrics.n:
        return f"{name}: nothing scored, {metrics.unscored} unscored"
    interval = metrics.score_interval
    return (
        f"{name}: score {metrics.score:+.3f} [{interval.low:+.3f},{interval.high:+.3f}], accuracy "
        f"{metrics.accuracy:.3f}, hallucination {metrics.hallucination:.3f}, missing {metrics.missing:.3f}, "
        f"n {metrics.n}" + (f", {metrics.unscored} unscored" if metrics.unscored else "")
    )


def _line(name: str, difference: Difference | None) -> str:
    """The two runs' figures and their difference; dashes where nothing is scored."""
    if difference is None:
        return f"{name:24}{'-':>8} {'-':>8}   {'-':>7}  {'-':^17}  {'-':>7}"
    interval = difference.interval
    return (
        f"{name:24}{difference.first:>+8.3f} {difference.second:>+8.3f}   {difference.change:>+7.3f}  "
        f"[{interval.low:>+7.3f},{interval.high:>+7.3f}]  {_p_value(difference.p_value):>7}"
    )


def _p_value(value: float) -> str:
    return "<0.0001" if value < 0.0001 else f"{value:.4f}"


def _flip_counts(comparison: Comparison) -> Iterator[str]:
    flipped = sum(map(len, comparison.flips.values()))
    yield f"{flipped} of {comparison.common} questions flipped"
    for kind, pairs in comparison.flips.items():
        yield f"{len(pairs):>6}  {_SHORT[kind.first]} -> {_SHORT[kind.second]}"


def _flips(comparison: Comparison) -> Iterator[str]:
    for kind, pairs in comparison.flips.items():
        yield ""
        yield f"{_SHORT[kind.first]} -> {_SHORT[kind.second]}"
        for pair in pairs:
            yield from _flip(pair)


def _flip(pair: Pair) -> Iterator[str]:
    labels: Mapping[str, object] = pair.first
    told = ", ".join(str(labels[field]) for field in ("domain", "question_type") if labels.get(field))
    yield f"  {shorten(pair.first['query'], _WIDTH)}" + (f"  ({told})" if told else "")
    yield f"      expected  {shorten(' | '.join(map(str, golds_of(pair.first))), _WIDTH)}"
    yield f"      A         {shorten(pair.first['prediction'], _WIDTH) or '(empty)'}"
    yield f"      B         {shorten(pair.second['prediction'], _WIDTH) or '(empty)'}"
