"""The texts of a sheet as rows, with merged cells filled."""

from collections.abc import Mapping
from itertools import chain

from crag.asking.office.sheet_cells import Area, SheetTexts


def to_rows(sheet: SheetTexts) -> list[list[str]]:
    """The rows with merged cells filled. A row without cells is an empty list: there may be a million."""
    last_row = max(sheet.rows, default=0)
    for area in sheet.merged:
        _fill_merged(sheet.rows, area, last_row)

    columns = sorted(set(chain.from_iterable(sheet.rows.values())))
    positions = {column: position for position, column in enumerate(columns)}
    blank: list[str] = []
    rows = [blank] * last_row
    for number, texts in sheet.rows.items():
        row = [""] * len(columns)
        for column, text in texts.items():
            row[positions[column]] = text
        rows[number - 1] = row
    return rows


def _fill_merged(rows: Mapping[int, dict[int, str]], area: Area, last_row: int) -> None:
    """Write the text of merged cells into each of their rows that has other cells. What they cover is not shown."""
    merged_text = rows.get(area.first_row, {}).get(area.first_column, "")
    # All rows of a sheet may be merged, of which few have cells.
    for number in range(area.first_row, min(area.last_row, last_row) + 1):
        texts = rows.get(number, {})
        covered = [column for column in texts if area.first_column <= column <= area.last_column]
        for column in covered:
            del texts[column]
        if merged_text and (texts or number == area.first_row):
            texts[area.first_column] = merged_text
