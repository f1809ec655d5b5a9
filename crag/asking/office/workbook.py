"""The sheets of an XLSX as rows of texts, by openpyxl: what Excel shows, so a date is one and 0.12 may be 12%."""

import io
import re
from collections.abc import Iterator
from datetime import datetime, time
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from openpyxl.cell.cell import Cell
    from openpyxl.worksheet.worksheet import Worksheet

_PERCENT = re.compile(r"0(?:\.(0+))?%")
_DECIMALS = re.compile(r"0\.(0+)")
_CURRENCY = re.compile(r"\[\$([^\]-]{1,4})[^\]]{0,20}\]|([$€£¥])|\"([^\"]{1,5})\"")


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
    """The sheets that are shown. Merged cells have their value in each of their places."""
    import openpyxl

    workbook = openpyxl.load_workbook(io.BytesIO(content), data_only=True)
    formulas = openpyxl.load_workbook(io.BytesIO(content), data_only=False)
    sheets = []
    hidden = []
    without_value = 0
    for sheet in workbook.worksheets:
        if sheet.sheet_state != "visible":
            hidden.append(sheet.title)
            continue
        sheets.append(Sheet(sheet.title, list(_read_rows(sheet))))
        without_value += _count_formulas_without_value(sheet, formulas[sheet.title])

    notes = []
    if hidden:
        notes.append(f"hidden sheets are not read: {', '.join(hidden)}")
    if without_value:
        notes.append(f"{without_value} formulas have no saved value; open it in Excel or LibreOffice and save it")
    return Workbook(workbook.properties.title or "", sheets, "; ".join(notes))


def _read_rows(sheet: "Worksheet") -> Iterator[list[str]]:
    """The texts of the cells, row by row."""
    merged = {}
    for area in sheet.merged_cells.ranges:
        value = _cell_text(sheet.cell(area.min_row, area.min_col))
        for row in range(area.min_row, area.max_row + 1):
            for column in range(area.min_col, area.max_col + 1):
                merged[row, column] = value if column == area.min_col or area.min_row != area.max_row else ""

    for cells in sheet.iter_rows():
        yield [merged.get((cell.row, cell.column), "") or _cell_text(cell) for cell in cells]


def _count_formulas_without_value(values: "Worksheet", formulas: "Worksheet") -> int:
    """How many formulas were never calculated: programs that write workbooks leave that to Excel."""
    count = 0
    for value_cells, formula_cells in zip(values.iter_rows(), formulas.iter_rows(), strict=True):
        for value, formula in zip(value_cells, formula_cells, strict=True):
            count += formula.data_type == "f" and value.value is None
    return count


def _cell_text(cell: "Cell") -> str:
    """A value as its number format shows it, in the forms that tell one value from another."""
    value = cell.value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        is_day = value.time() == time()
        return value.date().isoformat() if is_day else value.isoformat(" ", "minutes")
    if isinstance(value, int | float):
        return _number_text(value, cell.number_format or "General")
    return " ".join(str(value).split())


def _number_text(value: float, number_format: str) -> str:
    """A number with its decimals, its sign of per cent and its currency."""
    percent = _PERCENT.search(number_format)
    if percent:
        return f"{100 * value:.{len(percent[1] or '')}f}%"

    decimals = _DECIMALS.search(number_format)
    # Fifteen digits are what a cell holds: 0.1 + 0.2 is shown as 0.3
    text = f"{value:.{len(decimals[1])}f}" if decimals else f"{value:.15g}"
    currency = _CURRENCY.search(number_format)
    if currency:
        text = f"{text} {(currency[1] or currency[2] or currency[3]).strip()}".rstrip()
    return text
