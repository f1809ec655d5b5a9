"""The sheets of an OpenDocument file: rows of texts, read one at a time, as there may be a million, and drawings."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from crag.asking.office.sheet_rows import to_rows
from crag.asking.opendocument.cell_values import has_value, show_cell
from crag.asking.opendocument.data_styles import GENERAL, to_number_format
from crag.asking.opendocument.grid import MOST_COPIES, ROW, Grid, PlacedCell, count_of
from crag.asking.opendocument.names import DRAW, DRAW_3D, TABLE, TEXT
from crag.asking.opendocument.objects import ObjectReader
from crag.asking.opendocument.package import PARSING, Package
from crag.asking.opendocument.paragraphs import ParagraphReader
from crag.asking.opendocument.styles import Look, Styles
from crag.asking.opendocument.text import BlockReader, shapes_in
from crag.asking.sheet_pages import Sheet

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_TABLE = f"{TABLE}table"
_COLUMN = f"{TABLE}table-column"
_SHAPES = f"{TABLE}shapes"
"""Drawings that lie on the sheet itself and belong to no cell."""
_OTHER_FILE = re.compile(r"'[a-z]+:.*'#\$?.*", re.DOTALL)
"""The name of a table that LibreOffice keeps of another file, to which a formula refers."""


class OpenSheets(NamedTuple):
    """The sheets of a file, and notes on what is not read."""

    sheets: list[Sheet]
    notes: list[str]


def read_sheets(package: Package, styles: Styles, objects: ObjectReader) -> OpenSheets:
    """The sheets that are shown, also their hidden rows and columns, with the charts and boxes that lie on them."""
    sheets = []
    hidden = []
    cut = []
    cells = _CellReader(styles, ParagraphReader(styles, objects))
    blocks = BlockReader(styles, objects)
    for name, style_name, elements in _split_tables(package):
        if _OTHER_FILE.fullmatch(name):
            continue
        if styles.find_property("table", style_name, "table-properties", f"{TABLE}display") == "false":
            hidden.append(name)
            continue

        grid = Grid(cells.read_text)
        cells.begin_sheet()
        drawings: list[str] = []
        for element in elements:
            if element.tag == ROW:
                grid.add(element)
            elif element.tag == _COLUMN:
                cells.add_columns(element)
            drawings += _read_shapes(element, blocks, styles)

        sheets.append(Sheet(name, to_rows(grid.texts), "\n".join(drawings)))
        if grid.is_cut:
            cut.append(name)

    notes = [f"hidden sheets are not read: {', '.join(hidden)}"] if hidden else []
    if cut:
        notes.append(f"of equal rows or cells only the first {MOST_COPIES:,} are read: {', '.join(cut)}")
    if cells.without_value:
        notes.append(f"formulas without a saved value: {cells.without_value}; open it in LibreOffice and save it")
    return OpenSheets(sheets, notes)


def _split_tables(package: Package) -> "Iterator[tuple[str, str, Iterator[Element]]]":
    """The name and the style of each sheet, and its parts, each of which is gone when the next comes."""
    from lxml import etree

    tags = [_TABLE, _COLUMN, _SHAPES, ROW]
    with package.open_content() as file:
        events = etree.iterparse(file, events=("start", "end"), tag=tags, **PARSING)
        for event, element in events:
            if event == "start" and _is_sheet(element):
                sheet = element
                yield sheet.get(f"{TABLE}name", ""), sheet.get(f"{TABLE}style-name", ""), _parts(events, sheet)


def _is_sheet(element: "Element") -> bool:
    """Whether a table is a sheet, not one of an object in a sheet."""
    path = [parent.tag.rpartition("}")[2] for parent in element.iterancestors()]
    return element.tag == _TABLE and path[:2] == ["spreadsheet", "body"] and len(path) == 3


def _parts(events: "Iterator[tuple[str, Element]]", sheet: "Element") -> "Iterator[Element]":
    """The columns, the rows and the shapes of a sheet, which ends where the iterator does."""
    for event, element in events:
        if event == "start":
            continue
        if element is sheet:
            sheet.clear()
            return
        # An object on the sheet may have a table of its own.
        if element.tag != _TABLE and next(element.iterancestors(_TABLE), None) is sheet:
            yield element
            element.clear()
            while element.getprevious() is not None:
                del element.getparent()[0]


def _read_shapes(part: "Element", blocks: BlockReader, styles: Styles) -> Iterator[str]:
    """The texts of the shapes of a sheet, or of those in the cells of a row."""
    # Most rows have none, and to look for one is faster than to look into each cell.
    if next(part.iter(f"{DRAW}*", f"{DRAW_3D}*"), None) is None:
        return
    holders = [part] if part.tag == _SHAPES else list(part)
    for shape in chain.from_iterable(map(shapes_in, holders)):
        text = blocks.read_shape(shape, styles.default_look("graphic"))
        if text:
            yield text


class _CellReader:
    """Gives the texts of cells, and counts formulas without a value."""

    def __init__(self, styles: Styles, paragraphs: ParagraphReader) -> None:
        self.without_value = 0
        self._styles = styles
        self._paragraphs = paragraphs
        self._default_look = styles.default_look("table-cell")
        self._formats: dict[str, str] = {}
        self._last_columns: list[int] = []
        self._column_styles: list[str] = []

    def begin_sheet(self) -> None:
        """Forget the columns of the sheet before."""
        self._last_columns = []
        self._column_styles = []

    def add_columns(self, element: "Element") -> None:
        """Some columns, whose cells have a style."""
        last = self._last_columns[-1] if self._last_columns else 0
        self._last_columns.append(last + count_of(element, "number-columns-repeated"))
        self._column_styles.append(element.get(f"{TABLE}default-cell-style-name", ""))

    def read_text(self, row: "Element", cell: PlacedCell) -> str:
        """The text of a cell on one line; "" if it is struck out, or a formula that was never calculated."""
        element = cell.element
        paragraphs = element.findall(f"{TEXT}p")
        if not paragraphs and not has_value(element):
            self.without_value += f"{TABLE}formula" in element.attrib
            return ""

        style_name = element.get(f"{TABLE}style-name") or self._default_style(row, cell.column)
        look = self._styles.look(self._default_look, "table-cell", style_name)
        text = self._join(paragraphs, look) if paragraphs else None
        return "" if look.is_struck else show_cell(element, text, self._find_format(style_name))

    def _join(self, paragraphs: "list[Element]", look: Look) -> str:
        texts = [self._paragraphs.read(paragraph, look).text for paragraph in paragraphs]
        return " ".join(" ".join(texts).split())

    def _default_style(self, row: "Element", column: int) -> str:
        """The style of cells that name none: that of their row, else of their column."""
        of_row = row.get(f"{TABLE}default-cell-style-name")
        place = bisect_left(self._last_columns, column)
        return of_row or (self._column_styles[place] if place < len(self._column_styles) else "")

    def _find_format(self, style_name: str) -> str:
        if style_name not in self._formats:
            style = self._styles.find_data_style("table-cell", style_name)
            self._formats[style_name] = GENERAL if style is None else to_number_format(style)
        return self._formats[style_name]
