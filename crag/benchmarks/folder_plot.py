"""Draws recall and right answers over the number of documents, as an SVG file."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from crag.benchmarks.folder import FolderRow

WIDTH = 600
HEIGHT = 300

# Edges of the field of the lines; the labels stand on its right.
LEFT = 60
RIGHT = 380
UPPER = 16
LOWER = 250
MARKS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
"""Shares with a line across the field."""


class _Line(NamedTuple):
    label: str
    color: str
    shares: Sequence[float]


def draw_rows(rows: Sequence[FolderRow]) -> str:
    """An SVG with a line for each share of the questions; the numbers of documents stand at equal distances."""
    lines = [
        _Line("document among those read", "#59636f", [row.among_read for row in rows]),
        _Line("document first", "#8aa9d6", [row.first for row in rows]),
    ]
    if any(row.right + row.wrong + row.silent for row in rows):
        lines += [
            _Line("right answer", "#2b5fa8", [_share(row, row.right) for row in rows]),
            _Line("wrong answer", "#b8442f", [_share(row, row.wrong) for row in rows]),
        ]

    spoken = "; ".join(map(_describe, lines))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{spoken}">',
        "<style>text { fill: #59636f; font: 12px system-ui, sans-serif; }</style>",
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        *_draw_axes(rows),
        *_draw_lines(lines),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _describe(line: _Line) -> str:
    """A line for people who hear the picture: "right answer: 0.82, 0.80"."""
    shares = ", ".join(f"{share:.2f}" for share in line.shares)
    return f"{line.label}: {shares}"


def _share(row: FolderRow, count: int) -> float:
    return count / (row.right + row.wrong + row.silent)


def _draw_axes(rows: Sequence[FolderRow]) -> Iterator[str]:
    for mark in MARKS:
        yield f'<line x1="{LEFT}" x2="{RIGHT}" y1="{_y(mark)}" y2="{_y(mark)}" stroke="#d9dde3"/>'
        yield f'<text x="{LEFT - 8}" y="{_y(mark) + 4}" text-anchor="end">{mark:.1f}</text>'
    for position, row in enumerate(rows):
        yield f'<text x="{_x(position, len(rows))}" y="{LOWER + 18}" text-anchor="middle">{row.documents:,}</text>'
    yield f'<text x="{(LEFT + RIGHT) / 2}" y="{LOWER + 38}" text-anchor="middle">documents</text>'


def _draw_lines(lines: Sequence[_Line]) -> Iterator[str]:
    lowest = float(UPPER)
    for line in sorted(lines, key=lambda line: -line.shares[-1]):
        points: list[tuple[float, float]] = []
        for position, share in enumerate(line.shares):
            points.append((_x(position, len(line.shares)), _y(share)))
        path = " ".join(f"{x},{y}" for x, y in points)
        yield f'<polyline points="{path}" fill="none" stroke="{line.color}" stroke-width="2"/>'

        for (x, y), share in zip(points, line.shares, strict=True):
            yield f'<circle cx="{x}" cy="{y}" r="3" fill="{line.color}"><title>{share:.3f}</title></circle>'

        # Labels of lines that end close together stand below each other.
        lowest = max(points[-1][1], lowest)
        yield f'<text x="{RIGHT + 12}" y="{lowest + 4}" style="fill: {line.color}">{line.label}</text>'
        lowest += 15


def _x(position: int, count: int) -> float:
    return round(LEFT + 20 + position * (RIGHT - LEFT - 40) / max(count - 1, 1), 1)


def _y(share: float) -> float:
    return round(LOWER - share * (LOWER - UPPER), 1)
