"""The sheets of an XLSX as rows of texts, by openpyxl: what Excel shows, so a date is one and 0.12 may be 12%."""

import io
import zipfile
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING, NamedTuple

from crag.asking.office.number_formats import show_number
from crag.asking.office.time_formats import show_duration, show_moment
from crag.asking.raised_text import raised

if TYPE_CHECKING:
    from openpyxl.cell.cell import Cell
    from openpyxl.cell.rich_text import TextBlock
    from openpyxl.worksheet.worksheet import Worksheet

_CALCULATE_FIRST = b'fullCalcOnLoad="1"'
"""Asks Excel to calculate all formulas: some programs write 0 for each until then."""


class Sheet(NamedTuple):
    """A sheet that is shown: its title and its cells."""

    title: str
    rows: list[list[str]]


class Workbook(NamedTuple):
    """The sheets of a workbook, and a note on what is not read."""

    title: str
    sheets: list[Sheet]
    note: str


def read_workbook(content: bytes) -> Workbook:
    """The sheets that are shown. A cell that was merged over rows has its value in each of them."""
    import openpyxl

    workbook = openpyxl.load_workbook(io.BytesIO(content), data_only=True, rich_text=True)
    formulas = openpyxl.load_workbook(io.BytesIO(content), data_only=False)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        is_zero_doubtful = _CALCULATE_FIRST in archive.read("xl/workbook.xml")

    sheets = []
    hidden = []
    without_value = 0
    for sheet in workbook.worksheets:
        if sheet.sheet_state != "visible":
            hidden.append(sheet.title)
            continue
        rows, missing = _read_rows(sheet, formulas[sheet.title], is_zero_doubtful=is_zero_doubtful)
        sheets.append(Sheet(sheet.title, rows))
        without_value += missing

    notes = []
    if hidden:
        notes.append(f"hidden sheets are not read: {', '.join(hidden)}")
    if without_value:
        notes.append(f"formulas without a saved value: {without_value}; open it in Excel or LibreOffice and save it")
    return Workbook(workbook.properties.title or "", sheets, "; ".join(notes))


def _read_rows(sheet: "Worksheet", formulas: "Worksheet", *, is_zero_doubtful: bool) -> tuple[list[list[str]], int]:
    """The texts of the cells, row by row, and how many formulas among them have no value."""
    without_value = 0
    rows = []
    for cells, formula_cells in zip(sheet.iter_rows(), formulas.iter_rows(), strict=True):
        texts = []
        for cell, formula in zip(cells, formula_cells, strict=True):
            is_missing = formula.data_type == "f" and _lacks_value(cell, is_zero_doubtful=is_zero_doubtful)
            without_value += is_missing
            is_struck_out = cell.has_style and cell.font.strike
            texts.append("" if is_missing or is_struck_out else _cell_text(cell))
        rows.append(texts)

    _fill_merged(rows, sheet)
    return rows, without_value


def _lacks_value(cell: "Cell", *, is_zero_doubtful: bool) -> bool:
    """Whether a formula was never calculated; the value of one may also be an empty text."""
    if cell.value is None:
        return bool(cell.data_type != "str")
    is_zero = isinstance(cell.value, int | float) and not isinstance(cell.value, bool) and cell.value == 0
    return is_zero_doubtful and is_zero


def _fill_merged(rows: list[list[str]], sheet: "Worksheet") -> None:
    """Write the text of cells that were merged over rows into each of these rows."""
    for area in sheet.merged_cells.ranges:
        for row in range(area.min_row + 1, area.max_row + 1):
            rows[row - 1][area.min_col - 1] = rows[area.min_row - 1][area.min_col - 1]


def _cell_text(cell: "Cell") -> str:
    """A value as its number format shows it, in the forms that tell one value from another."""
    value = cell.value
    number_format = cell.number_format or "General"
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime | date | time):
        return show_moment(value, number_format)
    if isinstance(value, timedelta):
        return show_duration(value, number_format)
    if isinstance(value, int | float):
        return show_number(value, number_format)
    text = "".join(map(_part_text, value)) if isinstance(value, list) else str(value)
    return " ".join(text.split())


def _part_text(part: "str | TextBlock") -> str:
    """A part of a text in several fonts: a superscript has its marks, what is struck out goes."""
    if isinstance(part, str):
        return part
    if part.font.strike:
        return ""
    return raised(part.text) if part.font.vertAlign == "superscript" else part.text
