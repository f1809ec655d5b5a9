"""What a table of texts says of itself: the rows that name its columns, or labels beside their values."""

import re
from collections.abc import Sequence
from itertools import chain, pairwise, zip_longest

Row = Sequence[str]

_NUMBER = re.compile(r"[-+(]?\W{0,3}\d[\d.,:/\s-]{0,40}\s?%?\)?")
_YEAR = re.compile(r"(?:1[89]|20|21)\d\d")
_DATE = re.compile(
    r"(?:1[89]|20|21)\d\d-\d\d(?:-\d\d)?|\d\d?[./]\d\d?[./](?:\d\d){1,2}|(?:0?[1-9]|1[0-2])[./](?:1[89]|20|21)\d\d"
)
_VALUE = re.compile(
    r"""
    [-+−–(~<>≤≥≈±]{0,2} \s?                                        # −5, ~5, <0.1
    (?: (?: [A-Z]{1,3} )? [$€£¥₹₩₽₺] | [A-Z]{3}\s | (?:kr|Rs|ca?)\.?\s )?    # US$5, USD 5, kr 5, c. 1980
    \s? [-+−–]? [.,]? [\d½¼¾⅓⅔⅛⅜⅝⅞]
    """,
    re.VERBOSE,
)
"""The beginning of a number with or without a unit, or of a date; ``B14`` is none."""
_NO_VALUE = re.compile(
    r"\W*|n/?a|none|unknown|tb[acd]|trace|not\s(?:known|held|given|available)|#[a-z/0]{3,10}[!?]?|(?-i:[A-Z]{1,3})",
    re.IGNORECASE,
)
"""No value, a mark such as ``DNF`` or ``TBA`` in its place, or an error of a workbook such as ``#DIV/0!``."""
_SPAN = re.compile(r"(?P<first>\d{1,4})(?:\s?[-–/]\s?(?P<last>\d{1,4})|(?P<open>\+))?", re.ASCII)
"""A number, or a span such as ``15–64``, ``65+``, ``2019/20``."""
_LEAST_YEAR = 1000
_LARGEST_RESULT = 9
_WHOLE_NUMBER = re.compile(r"\d{1,4}", re.ASCII)
_LEAST_COUNTED = 3
"""Names of columns that are numbers: two that go up may be values."""
_MOST_HEADER_CHARACTERS = 100
_MOST_HEAD_ROWS = 4
_UNIT = re.compile(r"(?!\(?(?:n/?a|none|unknown|tb[acd]|null)\)?\Z)(?!\d).{0,14}[^\W\d].{0,14}|[%$€£°]", re.IGNORECASE)
"""Of a column, such as ``kg``, ``(million $)`` or ``%``."""
_LEAST_MIXED_SHARE = 0.3
"""Of the values of a form that are numbers, or that are texts: a column has one of the two."""


def count_head_rows(rows: Sequence[Row]) -> int:
    """How many rows at the top name the columns: none, one, or more if each spans columns of the next.

    >>> count_head_rows([["", "2022", "", "2023"], ["region", "units", "price", "units"], ["north", "12", "8", "15"]])
    2
    """
    if not rows or not names_columns(rows[0], rows[1:]):
        return 0
    if len(rows) > 2 and _is_row_of_units(rows[0], rows[1], rows[2:]):
        return 2
    levels = 1
    while levels < min(_MOST_HEAD_ROWS, len(rows) - 1) and _is_next_level(rows[levels - 1], rows[levels]):
        levels += 1
    # The last row of names is above numbers.
    while levels > 1 and not _ends_head(rows[levels - 1], rows[levels:]):
        levels -= 1
    return levels


def _is_row_of_units(names: Row, row: Row, later_rows: Sequence[Row]) -> bool:
    """Whether a row has short texts above numbers alone, as ``m, kg`` below ``length, weight``, and none first."""
    is_below_name = len(names) > 0 and len(row) > 0 and names[0].strip() and not row[0].strip()
    if not is_below_name or not filled_cells(row):
        return False
    for column, cell in enumerate(row):
        if not cell.strip():
            continue
        values = [later[column].strip() for later in later_rows if column < len(later)]
        is_unit = _UNIT.fullmatch(cell.strip()) is not None
        if not is_unit or not filled_cells(values) or not all(map(_VALUE.match, filled_cells(values))):
            return False
    return True


def _ends_head(row: Row, later_rows: Sequence[Row]) -> bool:
    """Whether a row below other names has one above a column of numbers, which may be a year."""
    if stands_above_numbers(row, later_rows):
        return True

    values: list[str] = []
    for column, cell in enumerate(row):
        if _YEAR.fullmatch(cell.strip()):
            values += [later[column].strip() for later in later_rows if column < len(later)]
    values = [value for value in values if not _NO_VALUE.fullmatch(value)]
    return bool(values) and all(_VALUE.match(value) and not _YEAR.fullmatch(value) for value in values)


def _is_next_level(upper: Row, lower: Row) -> bool:
    """Whether a row of labels has some below blank cells of the row above it, which spans them."""
    spans_columns = any(not above.strip() and below.strip() for above, below in _inner_pairs(upper, lower))
    return spans_columns and all(_is_label(cell) for cell in filled_cells(lower))


def join_head_rows(rows: Sequence[Row]) -> list[str]:
    """The names of the columns under rows of names, each of which may span columns of the next.

    >>> join_head_rows([["", "2022", ""], ["region", "units", "price"]])
    ['region', '2022 units', '2022 price']
    """
    names = []
    current = [""] * len(rows)
    for column in zip_longest(*rows, fillvalue=""):
        cells = [cell.strip() for cell in column]
        for level, cell in enumerate(cells):
            is_spanned = any(cells[level + 1 :])
            if cell or not is_spanned:
                current[level] = cell
            if cell:
                current[level + 1 :] = [""] * (len(rows) - level - 1)
        # A cell that was merged over rows has its text in each.
        names.append(" ".join(dict.fromkeys(filter(None, current))))
    return names


def names_columns(row: Row, later_rows: Sequence[Row]) -> bool:
    """Whether a row names the columns: short texts, years or dates; no other numbers.

    The same text twice is a name only above numbers. Behind a text numbers may count the columns: ``team, 1, 2, 3``.
    """
    cells = filled_cells(row)
    if not cells or not later_rows or max(map(len, cells)) > _MOST_HEADER_CHARACTERS:
        return False
    if _counts_columns(row, later_rows):
        return True
    if len(set(cells)) < len(cells) and not stands_above_numbers(row, later_rows):
        return False
    cells_below = chain.from_iterable(map(filled_cells, later_rows))
    is_above_dates = any(_DATE.fullmatch(cell) for cell in cells_below)
    return all(_is_label(cell) or (_DATE.fullmatch(cell) and not is_above_dates) for cell in cells)


def _counts_columns(row: Row, later_rows: Sequence[Row]) -> bool:
    """Whether the numbers of a row go up evenly, as those of most rows below do not, or are spans side by side."""
    if not _begins_with_text(row):
        return False
    cells = [cell for cell in filled_cells(row) if _NUMBER.fullmatch(cell) or _SPAN.fullmatch(cell)]
    spans = [span for cell in cells if (span := _SPAN.fullmatch(cell))]
    if len(spans) < len(cells):
        return False
    if any(span["last"] or span["open"] for span in spans):
        return len(spans) > 1 and all(_follows(before, after) for before, after in pairwise(spans))
    return _goes_up(row) and sum(map(_goes_up, later_rows)) <= len(later_rows) / 2


def _begins_with_text(row: Row) -> bool:
    return bool(row) and bool(row[0].strip()) and not _NUMBER.fullmatch(row[0].strip())


def _goes_up(row: Row) -> bool:
    """Whether the whole numbers of a row go up by the same step.

    >>> [_goes_up(row) for row in (["team", "1", "2", "3", "all"], ["Ajax", "1", "2", "7", "10"])]
    [True, False]
    """
    numbers = [int(cell) for cell in filled_cells(row) if _WHOLE_NUMBER.fullmatch(cell)]
    steps = {after - before for before, after in pairwise(numbers)}
    return len(numbers) >= _LEAST_COUNTED and len(steps) == 1 and min(steps) > 0


def _follows(before: re.Match[str], after: re.Match[str]) -> bool:
    """Whether a span begins where the one before it ends, or both are seasons: ``2019/20``, ``2020/21``."""
    start = int(before["first"])
    end = int(before["last"] or before["first"])
    next_start = int(after["first"])
    is_season = start >= _LEAST_YEAR and (start + 1) % 100 == end % 100
    if is_season:
        return next_start == start + 1
    # Results such as 0-1, 1-2 are no spans.
    return start <= end and (next_start == end + 1 or next_start == end > _LARGEST_RESULT)


def is_form(rows: Sequence[Row]) -> bool:
    """Whether rows are labels beside values, not columns: two cells a row, of which the second are of mixed kinds.

    >>> is_form([["project", "harbour wall"], ["leader", "Tilda Rask"], ["budget", "1,250,000"]])
    True
    """
    if not rows or not has_pairs(rows):
        return False
    if all(row[0].strip().endswith(":") for row in rows):
        return True

    first, *others = [row[1].strip() for row in rows]
    are_numbers = [bool(_VALUE.match(value)) for value in others if not _NO_VALUE.fullmatch(value)]
    if not are_numbers:
        return False
    if _YEAR.fullmatch(first):
        return not all(are_numbers)
    share = sum(are_numbers) / len(are_numbers)
    return _LEAST_MIXED_SHARE <= share <= 1 - _LEAST_MIXED_SHARE


def has_pairs(rows: Sequence[Row]) -> bool:
    """Whether each row has a cell in the first two columns, and no others."""
    return all(len(filled_cells(row)) == 2 == len(filled_cells(row[:2])) for row in rows)


def begins_table(rows: Sequence[Row], names: Row) -> bool:
    """Whether rows below a gap are another table: a row of names above numbers, or more columns than have `names`."""
    if not rows or not names_columns(rows[0], rows[1:]):
        return False
    return stands_above_numbers(rows[0], rows[1:]) or len(filled_cells(rows[0])) > len(filled_cells(names)) > 0


def filled_cells(row: Row) -> list[str]:
    """The texts of the cells that are not blank."""
    return [cell.strip() for cell in row if cell.strip()]


def _is_label(cell: str) -> bool:
    """Whether a cell may name a column: a text or a year."""
    return not _NUMBER.fullmatch(cell) or bool(_YEAR.fullmatch(cell))


def _inner_pairs(upper: Row, lower: Row) -> list[tuple[str, str]]:
    """The cells of a row behind its first filled one, each with the cell below."""
    start = next(index for index, cell in enumerate(upper) if cell.strip())
    return list(zip_longest(upper, lower, fillvalue=""))[start:]


def stands_above_numbers(row: Row, later_rows: Sequence[Row]) -> bool:
    """Whether a text of the row is above a column of numbers."""
    for column, cell in enumerate(row):
        if not cell.strip() or _VALUE.match(cell.strip()):
            continue
        below = [later[column].strip() for later in later_rows if column < len(later)]
        values = [value for value in below if not _NO_VALUE.fullmatch(value)]
        if values and all(map(_VALUE.match, values)):
            return True
    return False
