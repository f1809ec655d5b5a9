"""The rows of CSV and TSV files, whatever separates their cells."""

import csv
import io
import re
from collections import Counter
from itertools import groupby, islice
from typing import Literal

from crag.core.csv_files import DELIMITERS

_SEPARATORS = ("\t", ";", "|", ",")
"""Tried in this order: numbers and texts often contain commas, but hardly ever tabs."""
_SAMPLED_ROWS = 50
_LEAST_SHARE = 0.8
"""Of the rows that have equally many cells, if the separator is right."""
_MOST_OPEN_QUOTES = 20
"""Of a file; behind more of them quotation marks are read as signs like others."""
_ESCAPED_QUOTE = re.compile(r"\\\"(?!\s*(?:[,;|\t\r\n]|\Z))")
"""A quotation mark within a cell, as MySQL writes it; before a separator the backslash may end a path."""
_TEXT_FORMULA = re.compile(r'="([^"]*)"')
"""A cell that Excel is to read as text: ``="0012"``."""
_NAMED_SEPARATOR = re.compile(r"sep=(.)\r?\n")
"""The first line of some files of Excel."""


def read_rows(text: str, suffix: str = "") -> list[list[str]]:
    r"""The cells of each row; blank lines are empty rows.

    >>> read_rows("name;price\nlamp;2,50\n")
    [['name', 'price'], ['lamp', '2,50']]
    """
    text = text.removeprefix("\ufeff")
    if _ESCAPED_QUOTE.search(text):
        text = text.replace('\\"', '""')
    rows = _read(text, suffix)
    if '="' in text:
        rows = [[_TEXT_FORMULA.sub(r"\1", cell) for cell in row] for row in rows]
    return rows


def _read(text: str, suffix: str) -> list[list[str]]:
    named = _NAMED_SEPARATOR.match(text)
    if named:
        return _split(text[named.end() :], named[1])
    return _split(text, _find_separator(text, suffix.lower()))


def _find_separator(text: str, suffix: str) -> str:
    """What separates the cells: the first separator that fits the rows, or else the longest block of them."""
    if suffix == ".tsv":
        return DELIMITERS[suffix]

    lines = text.splitlines()[: 2 * _SAMPLED_ROWS]
    # What a bank or a program writes above its table has other widths.
    blocks = [list(block) for is_blank, block in groupby(lines, key=lambda line: not line.strip()) if not is_blank]
    for sample in (lines, max(blocks, key=len, default=[])):
        for separator in _SEPARATORS:
            if _fits("\n".join(sample), separator):
                return separator
    return ","


def _fits(sample: str, separator: str) -> bool:
    """Whether most rows have the same number of cells, above one."""
    widths = Counter(len(row) for row in _split(sample, separator)[:_SAMPLED_ROWS] if row)
    if not widths:
        return False
    width, rows = widths.most_common(1)[0]
    return width > 1 and rows >= _LEAST_SHARE * widths.total()


def _split(text: str, separator: str) -> list[list[str]]:
    """The cells of each row. A quotation mark that is never closed, or rows later, costs no row."""
    lines = list(io.StringIO(text, newline=""))
    rows: list[list[str]] = []
    start = 0
    width = 0
    for trial in range(_MOST_OPEN_QUOTES + 1):
        quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if trial < _MOST_OPEN_QUOTES else csv.QUOTE_NONE
        reader = csv.reader(islice(lines, start, None), delimiter=separator, skipinitialspace=True, quoting=quoting)
        first_line = start
        for row in reader:
            next_line = start + reader.line_num
            # A text in quotes goes over the ends of lines, or these are rows of their own.
            row_lines = lines[first_line:next_line]
            if len(row_lines) > 1 and (len(row) < width or not _is_well_quoted(row_lines, separator)):
                break
            rows.append(row)
            width = max(width, len(row))
            first_line = next_line
        else:
            return rows

        [broken] = csv.reader([lines[first_line]], delimiter=separator, quoting=csv.QUOTE_NONE)
        rows.append([cell.strip().removeprefix('"') for cell in broken])
        start = first_line + 1
    return rows


def _is_well_quoted(lines: list[str], separator: str) -> bool:
    """Whether quotation marks stand only at both ends of cells, or twice."""
    try:
        return bool(list(csv.reader(lines, delimiter=separator, skipinitialspace=True, strict=True)))
    except csv.Error:
        return False
