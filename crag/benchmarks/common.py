"""Shared by the benchmarks: rows and tables."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

UNHURRIED_SECONDS = 600
"""Per question: the answers are measured, not the speed."""

Row = dict[str, Any]
T = TypeVar("T")


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table, aligned for terminals. Numbers with a fraction get three digits."""
    texts = [[f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(header, *texts, strict=True)]
    lines = [header, ["-" * width for width in widths], *texts]
    return "\n".join(f"| {' | '.join(map(str.ljust, line, widths))} |" for line in lines)


def by_label(rows: Sequence[T], label: Callable[[T], str]) -> dict[str, list[T]]:
    """The rows of each label, and last all rows under "all"."""
    labels = sorted({label(row) for row in rows})
    return {name: [row for row in rows if label(row) == name] for name in labels} | {"all": list(rows)}
