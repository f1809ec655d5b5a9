"""The rows of CSV and TSV files, whatever separates their cells."""

import csv
import io
import re
from collections import Counter
from itertools import groupby, islice

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
    for _ in range(_MOST_OPEN_QUOTES):
        whole_rows, start = _read_well_quoted(lines, start, separator, width)
        rows += whole_rows
        if start == len(lines):
            return rows

        # The line is a row of its own, in which a quotation mark is a sign like others.
        width = max([width, *map(len, whole_rows)])
        [cells] = csv.reader([lines[start]], delimiter=separator, quoting=csv.QUOTE_NONE)
        rows.append([cell.strip().removeprefix('"') for cell in cells])
        start += 1

    rows += csv.reader(lines[start:], delimiter=separator, skipinitialspace=True, quoting=csv.QUOTE_NONE)
    return rows


def _read_well_quoted(lines: list[str], start: int, separator: str, width: int) -> tuple[list[list[str]], int]:
    """The rows from a line on, up to one whose quotation mark is not closed, and the number of this line.

    A row over several lines counts as one if it has at least `width` cells, and as many as the rows before it.
    """
    rows: list[list[str]] = []
    reader = csv.reader(islice(lines, start, None), delimiter=separator, skipinitialspace=True)
    first_line = start
    for row in reader:
        next_line = start + reader.line_num
        # A text in quotes goes over the ends of lines, or these are rows of their own.
        row_lines = lines[first_line:next_line]
        if len(row_lines) > 1 and (len(row) < width or not _is_well_quoted(row_lines, separator)):
            return rows, first_line
        rows.append(row)
        width = max(width, len(row))
        first_line = next_line
    return rows, len(lines)


def _is_well_quoted(lines: list[str], separator: str) -> bool:
    """Whether quotation marks stand only at both ends of cells, or twice."""
    try:
        return bool(list(csv.reader(lines, delimiter=separator, skipinitialspace=True, strict=True)))
    except csv.Error:
        return False
