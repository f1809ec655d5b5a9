"""Tables that are drawn with lines of signs, as Pandoc writes them into Markdown, as tables with bars between cells."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

_BORDER = r"[ ]{0,3}\+(?:[:=-][=-]*[:=-]?\+)+[ \t]*"
_GRID = re.compile(rf"^{_BORDER}\n(?:(?:[ ]{{0,3}}\|.*\|[ \t]*|{_BORDER})(?:\n|\Z))+", re.MULTILINE)


def draw_grids_as_bars(text: str) -> str:
    r"""A Markdown text in which tables between lines such as ``+----+----+`` have bars; those with merged cells stay.

    >>> draw_grids_as_bars("+---+---+\n| a | b |\n+===+===+\n| 1 | 2 |\n|   | 3 |\n+---+---+\n")
    '| a | b |\n|---|---|\n| 1 | 2 3 |\n'
    """
    return _GRID.sub(_write_bars, text) if "+-" in text or "+=" in text else text


def _write_bars(grid: re.Match[str]) -> str:
    lines = [line.strip() for line in grid[0].splitlines()]
    edges = [position for position, sign in enumerate(lines[0]) if sign == "+"]
    if lines[-1][0] != "+" or not all(_fits(line, edges) for line in lines):
        return grid[0]

    rows = list(_read_rows(lines, edges))
    has_head = any(line.startswith(("+=", "+:=")) for line in lines[:-1])
    head, *body = rows if has_head else [[""] * (len(edges) - 1), *rows]
    written = [_write_row(head), "|---" * len(head) + "|", *map(_write_row, body)]
    return "\n".join(written) + "\n"


def _fits(line: str, edges: Sequence[int]) -> bool:
    """Whether a line has an edge at each of the positions, and, if it is a border, no others."""
    if len(line) != edges[-1] + 1:
        return False
    signs = {line[edge] for edge in edges}
    return signs == {"|"} or (signs == {"+"} and line.count("+") == len(edges))


def _read_rows(lines: Sequence[str], edges: Sequence[int]) -> Iterator[list[str]]:
    """The texts of the cells between each two borders; a cell may have several lines."""
    cells: list[list[str]] = []
    for line in lines:
        if line.startswith("+"):
            if cells:
                yield [" ".join(filter(None, column)) for column in zip(*cells, strict=True)]
            cells = []
        else:
            cells.append([line[start + 1 : end].strip() for start, end in pairwise(edges)])


def _escape(cell: str) -> str:
    return cell.replace("|", r"\|")


def _write_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(_escape, cells))} |"
