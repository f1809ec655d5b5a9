"""The sheets of an XLSX as rows of texts: what Excel shows, so a date is one and 0.12 may be 12%.

openpyxl 3.1.5 gives up where Excel forgives, and reads no strict files, so the XML is read. Sheets are found here,
cells are read by `crag.asking.office.sheet_cells`, styles by `sheet_styles`, drawings by `sheet_drawings`.
"""

import math
from collections import Counter
from datetime import date, datetime
from typing import TYPE_CHECKING, NamedTuple

from crag.asking.office.escapes import unescape
from crag.asking.office.package_parts import Package, PackagePart
from crag.asking.office.package_xml import DAMAGE
from crag.asking.office.sheet_cells import SavedCell, read_shared_texts, read_sheet
from crag.asking.office.sheet_drawings import read_drawings
from crag.asking.office.sheet_rows import to_rows
from crag.asking.office.sheet_styles import CellStyle, read_cell_styles
from crag.asking.office.shown_values import FIRST_DAY, FIRST_DAY_1904, show_value
from crag.asking.office.time_formats import show_moment
from crag.asking.sheet_pages import Sheet

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_SHEET = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_RELATION_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_ON = frozenset({"1", "true"})


class Workbook(NamedTuple):
    """The sheets of a workbook, and a note on what is not read."""

    sheets: list[Sheet]
    note: str


def read_workbook(content: bytes) -> Workbook:
    """The sheets that are shown. What is damaged is named in the note, and costs no more than itself.

    Raises what `zipfile` and lxml raise: there is no list of the sheets.
    """
    book = Package(content).part("xl/workbook.xml")
    root = book.root
    reading = _Reading(_CellReader(book, root))
    for entry in root.iterfind(f"{_SHEET}sheets/{_SHEET}sheet"):
        reading.read(book, entry)
    return Workbook(reading.sheets, reading.note())


class _Reading:
    """What was read of a workbook so far, and what was not."""

    def __init__(self, cells: "_CellReader") -> None:
        self.sheets: list[Sheet] = []
        self._cells = cells
        self._left_out: dict[str, list[str]] = {"hidden": [], "damaged": []}
        self._faults: list[str] = []
        self._unread: Counter[str] = Counter()

    def read(self, book: PackagePart, entry: "Element") -> None:
        """Read a sheet: its cells, then what lies on it. A sheet may be a chart without cells."""
        title = entry.get("name", "")
        if entry.get("state") in {"hidden", "veryHidden"}:
            self._left_out["hidden"].append(title)
            return
        try:
            part = book.related_part(entry.get(_RELATION_ID, ""))
            with part.open() as file:
                rows = to_rows(read_sheet(file, self._cells.show))
        except DAMAGE:
            self._left_out["damaged"].append(title)
            return

        drawings = read_drawings(part)
        self.sheets.append(Sheet(title, rows, drawings.html))
        self._faults += [f"sheet {title}: {fault}" for fault in drawings.faults]
        self._unread.update(drawings.unread)

    def note(self) -> str:
        """What is not read."""
        left_out = [
            f"{kind} sheets are not read: {', '.join(titles)}" for kind, titles in self._left_out.items() if titles
        ]
        unread = [f"{kind} are not read: {count}" for kind, count in self._unread.items() if count]
        return "; ".join([*left_out, *unread, *self._faults, *self._cells.notes()])


class _CellReader:
    """Gives the texts of the cells of a workbook, and counts those that are missing."""

    def __init__(self, book: PackagePart, root: "Element") -> None:
        self._without_value = 0
        self._without_text = 0
        self._damages: list[str] = []

        properties = root.find(f"{_SHEET}workbookPr")
        counts_from_1904 = properties is not None and properties.get("date1904") in _ON
        self._first_day = FIRST_DAY_1904 if counts_from_1904 else FIRST_DAY
        calculation = root.find(f"{_SHEET}calcPr")
        # Asks Excel to calculate all formulas: some programs write 0 for each until then.
        self._is_zero_doubtful = calculation is not None and calculation.get("fullCalcOnLoad") in _ON
        self._styles = self._read_styles(book)
        self._shared_texts = self._read_shared_texts(book)

    def _read_styles(self, book: PackagePart) -> list[CellStyle]:
        """The styles of the cells; a file may have none."""
        try:
            for part in book.related_parts("styles", "styles.xml"):
                return read_cell_styles(part.root)
        except DAMAGE:
            self._damages.append(
                "the formats are damaged: days and shares are read as plain numbers, struck out text like other text"
            )
        return []

    def _read_shared_texts(self, book: PackagePart) -> list[str]:
        """The texts that cells share, to the first one that is damaged: cells name them by their place."""
        texts: list[str] = []
        try:
            for part in book.related_parts("sharedStrings", "sharedStrings.xml"):
                with part.open() as file:
                    for text in read_shared_texts(file):
                        texts.append(text)  # noqa: PERF402 - those before an error stay
        except DAMAGE:
            self._damages.append("the texts of cells are damaged")
        return texts

    def notes(self) -> list[str]:
        """What the cells lack."""
        notes = list(self._damages)
        if self._without_text:
            notes.append(f"cells whose text is missing: {self._without_text}; open the file in Excel and save it again")
        if self._without_value:
            remedy = "open it in Excel or LibreOffice and save it"
            notes.append(f"formulas without a saved value: {self._without_value}; {remedy}")
        return notes

    def show(self, cell: SavedCell) -> str:
        """The text of a cell; "" if it is struck out, or a formula that was never calculated."""
        if cell.is_formula and self._lacks_value(cell):
            self._without_value += 1
            return ""
        style = self._find_style(cell.style)
        return "" if style.is_struck_out else " ".join(self._show_value(cell, style.number_format).split())

    def _lacks_value(self, cell: SavedCell) -> bool:
        """Whether a formula was never calculated; the value of one may also be an empty text."""
        if not cell.value:
            return cell.kind != "str"
        is_zero = cell.kind == "n" and cell.value.strip("0.") == ""
        return self._is_zero_doubtful and is_zero

    def _find_style(self, number: int) -> CellStyle:
        """The style of a number; Excel shows a cell whose style is not there like one without a style."""
        return self._styles[number] if number < len(self._styles) else CellStyle()

    def _find_shared_text(self, number: str) -> str:
        if number.isdecimal() and int(number) < len(self._shared_texts):
            return self._shared_texts[int(number)]
        self._without_text += 1
        return ""

    def _show_value(self, cell: SavedCell, number_format: str) -> str:
        """A value as its number format shows it, in the forms that tell one value from another."""
        if cell.kind == "s":
            return self._find_shared_text(cell.value)
        if cell.kind == "b":
            return "yes" if cell.value in {"1", "true"} else "no"
        if cell.kind == "str":
            return unescape(cell.value)
        try:
            if cell.kind == "d":
                return show_moment(_read_moment(cell.value), number_format)
            number = float(cell.value) if cell.kind == "n" else math.nan
        except ValueError:
            return cell.value
        return show_value(number, number_format, self._first_day) if math.isfinite(number) else cell.value


def _read_moment(text: str) -> datetime | date:
    """A day in ISO form, perhaps with a time. Raises ValueError: it is none."""
    return datetime.fromisoformat(text) if "T" in text else date.fromisoformat(text)
