"""The sheets of an XLSX as rows of texts: what Excel shows, so a date is one and 0.12 may be 12%.

Sheets are found by openpyxl; cells are read by `crag.asking.office.sheet_cells`, styles by `sheet_styles`.
"""

import io
import math
import re
from datetime import date, datetime
from typing import TYPE_CHECKING, NamedTuple

from crag.asking.office.escapes import unescape
from crag.asking.office.package_xml import DAMAGE, parse_xml
from crag.asking.office.sheet_cells import SavedCell, read_shared_texts, read_sheet
from crag.asking.office.sheet_rows import to_rows
from crag.asking.office.sheet_styles import CellStyle, read_cell_styles
from crag.asking.office.shown_values import FIRST_DAY, FIRST_DAY_1904, show_value
from crag.asking.office.time_formats import show_moment

if TYPE_CHECKING:
    from openpyxl.reader.excel import ExcelReader

_CALCULATE_FIRST = re.compile(r'fullCalcOnLoad="(?:1|true)"')
"""Asks Excel to calculate all formulas: some programs write 0 for each until then."""


class Sheet(NamedTuple):
    """A sheet that is shown: its title, and its rows to the last one with a cell, without columns that are blank."""

    title: str
    rows: list[list[str]]


class Workbook(NamedTuple):
    """The sheets of a workbook, and a note on what is not read."""

    sheets: list[Sheet]
    note: str


def read_workbook(content: bytes) -> Workbook:
    """The sheets that are shown. A sheet that is damaged is named in the note."""
    from openpyxl.reader.excel import ExcelReader

    # `load_workbook` reads the sheets too, and fails if one is damaged.
    reader = ExcelReader(io.BytesIO(content), keep_links=False)
    reader.read_manifest()
    reader.read_workbook()
    cells = _CellReader(reader)

    sheets = []
    left_out: dict[str, list[str]] = {"hidden": [], "chart": [], "damaged": []}
    for entry in reader.parser.sheets:
        relation = reader.parser.rels.get(entry.id)
        if entry.state in {"hidden", "veryHidden"}:
            left_out["hidden"].append(entry.name)
        elif relation is not None and relation.Type.endswith("/chartsheet"):
            left_out["chart"].append(entry.name)
        else:
            try:
                with reader.archive.open(relation.target) as file:
                    sheets.append(Sheet(entry.name, to_rows(read_sheet(file, cells.show))))
            except DAMAGE:
                left_out["damaged"].append(entry.name)

    notes = [f"{kind} sheets are not read: {', '.join(names)}" for kind, names in left_out.items() if names]
    if cells.without_value:
        remedy = "open it in Excel or LibreOffice and save it"
        notes.append(f"formulas without a saved value: {cells.without_value}; {remedy}")
    return Workbook(sheets, "; ".join(notes))


class _CellReader:
    """Gives the texts of the cells of a workbook, and counts formulas without a value."""

    def __init__(self, reader: "ExcelReader") -> None:
        self.without_value = 0
        from openpyxl.xml.constants import SHARED_STRINGS

        self._styles = _read_styles(reader)
        self._first_day = FIRST_DAY_1904 if reader.wb.epoch == FIRST_DAY_1904 else FIRST_DAY
        workbook = reader.archive.read("xl/workbook.xml").decode("utf-8", "replace")
        self._is_zero_doubtful = bool(_CALCULATE_FIRST.search(workbook))
        self._shared_texts: list[str] = []
        shared = reader.package.find(SHARED_STRINGS)
        if shared is not None:
            with reader.archive.open(shared.PartName.lstrip("/")) as file:
                self._shared_texts = read_shared_texts(file)

    def show(self, cell: SavedCell) -> str:
        """The text of a cell; "" if it is struck out, or a formula that was never calculated."""
        if cell.is_formula and self._lacks_value(cell):
            self.without_value += 1
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

    def _show_value(self, cell: SavedCell, number_format: str) -> str:
        """A value as its number format shows it, in the forms that tell one value from another."""
        if cell.kind == "s":
            return self._shared_texts[int(cell.value)]
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


def _read_styles(reader: "ExcelReader") -> list[CellStyle]:
    """The styles of the cells; a file may have none. Raises XMLSyntaxError: they are damaged."""
    from openpyxl.xml.constants import ARC_STYLE

    if ARC_STYLE not in reader.archive.namelist():
        return []
    return read_cell_styles(parse_xml(reader.archive.read(ARC_STYLE)))


def _read_moment(text: str) -> datetime | date:
    """A day in ISO form, perhaps with a time. Raises ValueError: it is none."""
    return datetime.fromisoformat(text) if "T" in text else date.fromisoformat(text)
