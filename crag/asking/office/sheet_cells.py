"""The cells of an XLSX that have a value, one row at a time (ECMA-376, part 1, 18.3 and 18.4).

openpyxl 3.1.5 makes a cell of each that has only a format, up to the last column of the last row, decodes ``_x005F_``
but no other escape, and reads a sheet twice to tell a formula from its value.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, NamedTuple

from crag.asking.office.escapes import unescape
from crag.asking.raised_text import raised

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_SHEET = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_OFF = frozenset({"0", "false"})


class SavedCell(NamedTuple):
    """A cell as it is saved.

    Attributes:
        column: From 1.
        kind: That of its value, such as "n" for a number (ST_CellType).
        style: The number of its style.
        value: Its value; for a shared text, its number; "" for a formula without a value.
        is_formula: Whether it has a formula.
    """

    column: int
    kind: str
    style: int
    value: str
    is_formula: bool


class Area(NamedTuple):
    """Cells that were merged: the first and last row and column, from 1."""

    first_row: int
    first_column: int
    last_row: int
    last_column: int


@dataclass(slots=True)
class SheetTexts:
    """The texts of a sheet by row and column, from 1, and the merged areas."""

    rows: dict[int, dict[int, str]] = field(default_factory=dict)
    merged: list[Area] = field(default_factory=list)


def read_sheet(file: IO[bytes], show: Callable[[SavedCell], str]) -> SheetTexts:
    """The cells of a sheet that have a text or a formula; `show` is what gives the text of one.

    Raises lxml.etree.XMLSyntaxError: the XML is damaged. ValueError: a place is none.
    """
    sheet = SheetTexts()
    number = 0
    for element in _elements(file, "row", "mergeCell"):
        if element.tag == f"{_SHEET}mergeCell":
            sheet.merged.append(_read_area(element.get("ref", "")))
            continue
        number = int(element.get("r", number + 1))
        texts = {}
        for cell in _read_cells(element):
            text = show(cell)
            if text or cell.is_formula:
                texts[cell.column] = text
        if texts:
            sheet.rows[number] = texts
    return sheet


def read_shared_texts(file: IO[bytes]) -> Iterator[str]:
    """The texts that cells name by their number; superscripts have their marks.

    Raises lxml.etree.XMLSyntaxError: the XML is damaged.
    """
    for element in _elements(file, "si"):
        yield _text(element)


def _elements(file: IO[bytes], *names: str) -> Iterator["Element"]:
    """The elements of these names, each of which is gone when the next comes."""
    from lxml import etree

    tags = [f"{_SHEET}{name}" for name in names]
    for _, element in etree.iterparse(file, tag=tags, resolve_entities=False, no_network=True, huge_tree=True):
        yield element
        element.clear()
        while element.getprevious() is not None:
            del element.getparent()[0]


def _read_cells(row: "Element") -> Iterator[SavedCell]:
    """The cells of a row; those without a place follow the one before."""
    from openpyxl.utils import column_index_from_string

    column = 0
    for cell in row.iterfind(f"{_SHEET}c"):
        place = cell.get("r", "").rstrip("0123456789")
        column = column_index_from_string(place) if place else column + 1
        if not len(cell):
            continue

        kind = cell.get("t", "n")
        is_formula = cell.find(f"{_SHEET}f") is not None
        value = cell.findtext(f"{_SHEET}v") or ""
        if kind == "inlineStr":
            text = cell.find(f"{_SHEET}is")
            value = "" if text is None else _text(text)
        if value or is_formula:
            yield SavedCell(column, kind, int(cell.get("s", "0")), value, is_formula)


def _text(element: "Element") -> str:
    """A text, perhaps in several fonts: superscripts have marks, what is struck out goes."""
    pieces = []
    for part in element:  # other parts say how the text is read aloud
        if part.tag == f"{_SHEET}t":
            pieces.append(unescape(part.text or ""))
        elif part.tag == f"{_SHEET}r":
            pieces.append(_run_text(part))
    return "".join(pieces)


def _run_text(run: "Element") -> str:
    text = unescape(run.findtext(f"{_SHEET}t") or "")
    strike = run.find(f"{_SHEET}rPr/{_SHEET}strike")
    if strike is not None and strike.get("val") not in _OFF:
        return ""
    position = run.find(f"{_SHEET}rPr/{_SHEET}vertAlign")
    return raised(text) if position is not None and position.get("val") == "superscript" else text


def _read_area(reference: str) -> Area:
    """An area such as ``A2:B3``. Raises ValueError: it is none."""
    from openpyxl.utils import range_boundaries

    first_column, first_row, last_column, last_row = range_boundaries(reference)
    return Area(first_row, first_column, last_row, last_column)
