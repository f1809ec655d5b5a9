"""What the benchmarks share: groups of rows, tables for terminals, and time without hurry."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

UNHURRIED_SECONDS = 600
"""Per question: the answers are measured, not the speed."""

Row = dict[str, Any]
T = TypeVar("T")


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table, aligned for terminals. Numbers with a fraction get three digits."""
    cells = [list(map(_cell, row)) for row in rows]
    # Each column is as wide as its widest cell
    columns = zip(header, *cells, strict=True)
    widths = [max(map(len, column)) for column in columns]
    rule = ["-" * width for width in widths]

    lines: list[str] = []
    for row in (header, rule, *cells):
        aligned = map(str.ljust, row, widths)
        lines.append(f"| {' | '.join(aligned)} |")
    return "\n".join(lines)


def _cell(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def group_by_label(rows: Sequence[T], label: Callable[[T], str]) -> dict[str, list[T]]:
    """The rows of each label, and last all rows under "all"."""
    groups: dict[str, list[T]] = {}
    for row in rows:
        groups.setdefault(label(row), []).append(row)
    return dict(sorted(groups.items())) | {"all": list(rows)}
