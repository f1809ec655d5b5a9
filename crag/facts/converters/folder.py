"""Writes a table into a folder of tables, and formats figures; the converters share it."""

import csv
import re
import shutil
from collections.abc import Sequence
from math import isnan
from pathlib import Path
from typing import cast

from crag.core.csv_files import CsvRow
from crag.core.files import shorten_repr, write_json
from crag.facts.tables import (
    INDEX,
    INDEX_FORMAT,
    SHIPPED_TABLES,
    AwardTable,
    Row,
    TableDescription,
    TableError,
    read_index,
)

_WHOLE_NUMBER = re.compile(r"[0-9]{1,9}")


def write_table(folder: Path, file_name: str, rows: Sequence[Row], table: TableDescription) -> int:
    """Write the table and add it to the folder's index; a new folder starts with the shipped tables.

    Returns the number of rows. Raises TableError: there are none.
    """
    if not rows:
        raise TableError(f"{file_name}: the source has no row of the expected form")
    if not (folder / INDEX).exists():  # the preset will read this folder instead of the shipped one
        shutil.copytree(
            SHIPPED_TABLES,
            folder,
            ignore=shutil.ignore_patterns("*.md"),
            dirs_exist_ok=True,
        )

    with (folder / file_name).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)

    index = {**read_index(folder), file_name: table}
    write_json(folder / INDEX, INDEX_FORMAT.dump_python(index, mode="json"), indent=2)
    return len(rows)


def full_award_table(name: str, prize: str, suffix: str, dataset: str) -> AwardTable:
    """The shipped table's description with the labels of the full table; its words and aliases hold for both.

    `suffix` follows the prize's name in labels ("Grammy" + " Award"); `dataset` is Kaggle's name of the source.
    """
    shipped = cast("AwardTable", read_index(SHIPPED_TABLES)[f"{name}.csv"])
    labels = {
        "label": f"{prize}{suffix}s",
        "source": f"https://www.kaggle.com/datasets/unanimad/{dataset}",
        "won": f"{prize}{suffix}{{s}} won",
        "nominated": f"{prize} nomination{{s}} that did not win",
    }
    return shipped.model_copy(update=labels)


def read_whole_number(source: Path, row: CsvRow, column: str) -> int:
    """The whole number in a cell, such as a year. Raises TableError: there is none; it names file, line and column."""
    cell = row.cells[column]
    if not _WHOLE_NUMBER.fullmatch(cell):
        raise TableError(f'{source}, line {row.line}, "{column}": {shorten_repr(cell)} is not a whole number')
    return int(cell)


def number_or_empty(text: str) -> str:
    """The text if it is a number, else an empty string.

    ``infinity`` is one: the price-to-earnings ratio of a company without earnings. ``nan`` is none.
    """
    try:
        is_number = not isnan(float(text))
    except ValueError:
        return ""
    return text if is_number else ""


def dollars_or_empty(text: str) -> str:
    """``1234567.5`` as ``$1,234,567.50``; empty for zero, which means unknown, and for other strings."""
    amount = float(number_or_empty(text) or 0)
    if amount <= 0 or amount == float("inf"):
        return ""
    return f"${amount:,.0f}" if amount.is_integer() else f"${amount:,.2f}"
