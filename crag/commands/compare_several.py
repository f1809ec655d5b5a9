"""Several runs against one, as text: a line for each."""

from collections.abc import Iterator, Mapping

from crag.evaluation.compare import Comparison, Cost, verdicts_title
from crag.evaluation.metrics import Metrics
from crag.evaluation.results_text import align_columns, interval_text

TITLES = ("", "n", "score", "- A", f"{'95 % interval':^17}", "p", "right", "wrong", "s/question", "tokens/question")
_NO_DIFFERENCE = ("-", f"{'-':^17}", "-")
"""The cells for the difference from A, its interval and its p-value where there is none."""


def several_lines(first: str, comparisons: Mapping[str, Comparison]) -> Iterator[str]:
    """The table, what differs in the signatures, and how many questions flipped; `first` is the name of run A.

    Each run is compared over its common questions with A, so the line of A is over those with the first of the others.
    """
    reference = next(iter(comparisons.values()))
    lines = [
        TITLES,
        (f"A  {first}", *_cells(reference.first, reference.costs[0], _NO_DIFFERENCE)),
    ]
    lines += [_line(name, comparison) for name, comparison in comparisons.items()]
    yield from align_columns(lines)

    sizes = {comparison.common for comparison in comparisons.values()}
    if len(sizes) > 1:
        yield "The runs have different questions in common with A: see n; the line of A is over those with the first."
    yield ""
    for name, comparison in comparisons.items():
        yield f"{name}: {_describe(comparison)}"
    yield "p-values are uncorrected: of twenty runs that are like A, one has p < 0.05 by chance"


def _line(name: str, comparison: Comparison) -> tuple[str, ...]:
    difference_cells = _NO_DIFFERENCE
    difference = comparison.differences.get("score")
    if difference is not None:
        interval = interval_text(difference.ci, comparison.scored)
        difference_cells = (f"{difference.change:+.3f}", interval, difference.p_text)
    return (name, *_cells(comparison.second, comparison.costs[1], difference_cells))


def _cells(metrics: Metrics, cost: Cost, difference_cells: tuple[str, str, str]) -> tuple[str, ...]:
    """The cells of a run after its name: those of `TITLES`."""
    tokens = "-" if cost.read is None else f"{cost.read + (cost.written or 0):,.0f}"
    right = round(metrics.accuracy * metrics.n)
    wrong = round(metrics.hallucination * metrics.n)
    score = f"{metrics.score:+.3f}" if metrics.n else "-"
    return (str(metrics.n), score, *difference_cells, str(right), str(wrong), f"{cost.seconds:.2f}", tokens)


def _describe(comparison: Comparison) -> str:
    """What differs from A in the signature, and which questions flipped."""
    names = ", ".join(change.name for change in comparison.signature_changes)
    differs = f"differs in {names}" if names else "has the same signature"
    flipped = sum(len(pairs) for pairs in comparison.flips.values())
    kinds = ", ".join(f"{len(pairs)} {verdicts_title(kind, ' -> ')}" for kind, pairs in comparison.flips.items())
    return f"{differs}; {flipped} of {comparison.common} flipped{f': {kinds}' if kinds else ''}"
