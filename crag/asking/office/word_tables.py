"""The tables of a DOCX as mammoth 1.13.0 reads them: without rows and cells that are not shown, cells in their columns.

mammoth reads cells that are merged downwards or by `gridSpan`; it knows neither the older `hMerge` nor rows that begin
further to the right.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from crag.asking.office.word_styles import VALUE, WORD, is_on

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_MOST_COLUMNS = 100
"""Word allows 63."""


def simplify_tables(root: "Element") -> None:
    """Change the tables of a part of a document."""
    for row in list(root.iter(f"{WORD}tr")):
        is_deleted = row.find(f"{WORD}trPr/{WORD}del") is not None
        if is_deleted or is_on(row.find(f"{WORD}trPr/{WORD}hidden")):
            _drop_row(row)
            continue

        header = row.find(f"{WORD}trPr/{WORD}tblHeader")
        if header is not None and not is_on(header):
            header.tag = f"{WORD}noHeader"  # mammoth does not look at the value
        for cell in row.findall(f"{WORD}tc"):
            _simplify_cell(row, cell)
        _fill_beginning(row)


def _drop_row(row: "Element") -> None:
    """Drop a row; where cells begin in it that reach further down, they begin in the next row."""
    starts = {column for column, cell in _cells(row) if _merge_of(cell, "vMerge") == "restart"}
    following = row.getnext()
    for column, cell in _cells(following) if following is not None else ():
        if column in starts and _merge_of(cell, "vMerge") == "continue":
            cell.find(f"{WORD}tcPr/{WORD}vMerge").set(VALUE, "restart")
    row.getparent().remove(row)


def _simplify_cell(row: "Element", cell: "Element") -> None:
    """Drop a cell that was deleted, and join one that is merged with the cell at its left."""
    left = cell.getprevious()
    if cell.find(f"{WORD}tcPr/{WORD}cellDel") is not None:
        row.remove(cell)
    elif _merge_of(cell, "hMerge") == "continue" and left is not None and left.tag == f"{WORD}tc":
        _set_width(left, _width(left) + _width(cell))
        row.remove(cell)
    else:
        _set_width(cell, _width(cell))


def _fill_beginning(row: "Element") -> None:
    """Put an empty cell where a row begins further to the right than others."""
    width = _number(row.find(f"{WORD}trPr/{WORD}gridBefore"), 0)
    first = row.find(f"{WORD}tc")
    if not width or first is None:
        return
    empty = row.makeelement(f"{WORD}tc")
    empty.append(row.makeelement(f"{WORD}p"))
    first.addprevious(empty)
    _set_width(empty, width)


def _cells(row: "Element") -> "Iterator[tuple[int, Element]]":
    """The cells of a row with their columns."""
    column = _number(row.find(f"{WORD}trPr/{WORD}gridBefore"), 0)
    for cell in row.findall(f"{WORD}tc"):
        yield column, cell
        column += _width(cell)


def _merge_of(cell: "Element", name: str) -> str:
    """Whether merged cells begin or continue; "" for a cell of its own."""
    mark = cell.find(f"{WORD}tcPr/{WORD}{name}")
    return "" if mark is None else mark.get(VALUE) or "continue"


def _width(cell: "Element") -> int:
    """The columns that a cell spans."""
    return max(_number(cell.find(f"{WORD}tcPr/{WORD}gridSpan"), 1), 1)


def _set_width(cell: "Element", columns: int) -> None:
    properties = cell.find(f"{WORD}tcPr")
    if properties is None:
        properties = cell.makeelement(f"{WORD}tcPr")
        cell.insert(0, properties)
    for span in properties.findall(f"{WORD}gridSpan"):
        properties.remove(span)
    if columns > 1:
        properties.append(cell.makeelement(f"{WORD}gridSpan", {VALUE: str(columns)}))


def _number(mark: "Element | None", default: int) -> int:
    """The number of a property; the default where it is missing or none."""
    text = "" if mark is None else mark.get(VALUE, "")
    return min(int(text[:3]), _MOST_COLUMNS) if text.isascii() and text.isdigit() else default
