"""Tables as text: one row a line, cells joined by " | ", so that a value stays beside its label and its neighbours."""

from collections.abc import Iterable, Sequence

CELL_JOINT = " | "
_LONGEST_CELL = 2_000


def row_text(cells: Iterable[str]) -> str:
    """One row. Empty cells are left out at the ends only, so that columns stay in place."""
    return CELL_JOINT.join(cells).strip(" |")


def is_data_table(rows: Sequence[Sequence[str]]) -> bool:
    """Whether a table holds data, not the page's layout: two rows with two filled cells, and no essay in a cell."""
    if sum(1 for row in rows if sum(1 for cell in row if cell) >= 2) < 2:
        return False
    return all(len(cell) <= _LONGEST_CELL for row in rows for cell in row)
