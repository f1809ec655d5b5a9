"""Shared by the benchmarks: data that does not ship, and tables."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from agents.common.files import DatasetError

SHARED = Path(__file__).parents[2] / "shared/data"
"""Real data outside the repository."""
NOT_SHIPPED = '. It does not ship: docs/results.md, "Data that does not ship", says what it holds and how to name yours'
UNHURRIED_SECONDS = 600
"""Per question: the answers are measured, not the speed."""

Row = dict[str, Any]
T = TypeVar("T")


def existing(path: Path) -> Path:
    """The path of a file that is there.
    Raises DatasetError: it is not; of real data the message says where they are described.
    """
    if not path.is_file():
        raise DatasetError(f"{path}: there is no such file{NOT_SHIPPED if path.is_relative_to(SHARED) else ''}")
    return path


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
