"""The one reader of CSV and TSV: question files, predictions, tables of facts.

People write these files by hand and in spreadsheets. So a header may have other capitals and blanks than the fields
have, a blank may follow a comma, a cell may hold a whole page, and semicolons or tabs may stand in place of commas.
"""

import csv
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from crag.core.files import LONGEST_LINE, DatasetError, shorten_repr
from crag.core.text import clean, counted

# Python refuses cells above 131,072 characters; a web page in a cell is longer. The limit is one for the whole process,
# so whoever sets it changes it for all: only this module does.
csv.field_size_limit(LONGEST_LINE)

DELIMITERS = {".csv": ",", ".tsv": "\t"}
"""The end of a file's name -> what usually separates its cells."""
_SEPARATORS = (";", "\t", "|", ",")
"""What else may separate them: spreadsheets write semicolons where numbers have decimal commas."""
_NAMED_SEPARATOR = re.compile(r"\ufeff?sep=(?P<separator>[;\t|,])\s*")
"""The first line of some files of Excel."""
_BLANK_AFTER_QUOTE = {
    separator: re.compile(rf'(?<=")[ \t]+(?=[{separator}\r\n]|\Z)') for separator in _SEPARATORS if separator != "\t"
}
"""Blanks between a closing quote and the next separator; inside a quoted cell the only change is that they are gone."""
_SHORT_NAME = 5
"""Up to this length one typing error makes another word of a name; in longer names two may be errors."""


class CsvRow(NamedTuple):
    """A row's cells by column, without outer blanks, and the line on which it ends."""

    line: int
    cells: dict[str, str]


class CsvReader:
    r"""Reads the header at once and yields the rows. A column without a name is skipped.

    A column that is one of the `known` names except for capitals, blanks, hyphens or invisible characters gets that
    name; another keeps its spelling. With `strict`, a row with more cells than the header has columns and quotes that
    do not match are errors; files of others, which we cannot repair, are read as far as they go.

    Args:
        lines: The file's text, opened with ``newline=""``.
        source: The file's name for messages.
        known: The names that the caller understands.
        required: The names without which the file is of no use.
        delimiter: What separates the cells; another separator counts if only it gives the header the required names.
    Raises DatasetError: a required column is missing, two columns have one name, or it is not CSV.

    Example:
        >>> reader = CsvReader(["Query , answer\n", "who?, Ann\n"], "q.csv", known=("query", "answer"))
        >>> [row.cells for row in reader]
        [{'query': 'who?', 'answer': 'Ann'}]
    """

    def __init__(
        self,
        lines: Iterable[str],
        source: str,
        known: Collection[str],
        required: Collection[str] = (),
        *,
        delimiter: str = ",",
        strict: bool = True,
    ) -> None:
        self._source = source
        self._strict = strict
        self._lines_read = 0
        separator, lines = self._find_separator(lines, required, delimiter)
        self._rows = csv.reader(
            _repaired(lines, separator),
            delimiter=separator,
            skipinitialspace=True,
            strict=strict,
        )
        header = self._read_header()
        self.place = f"{source}, line {max(1, self._lines_read)}"
        self.columns = self._name_columns(header, known)
        """The name of each column, in order; empty if it has none."""
        self._check_required(header, required)

    def __iter__(self) -> Iterator[CsvRow]:
        """The rows that are not blank. Raises DatasetError: one is not CSV."""
        while (cells := self._next()) is not None:
            if any(cells):
                self._check_width(cells)
                # Short rows are filled up; of long ones `zip` drops the surplus.
                padded = cells + [""] * (len(self.columns) - len(cells))
                named_cells = zip(self.columns, padded, strict=False)
                yield CsvRow(self._lines_read, {name: cell for name, cell in named_cells if name})

    def _find_separator(
        self,
        lines: Iterable[str],
        required: Collection[str],
        usual: str,
    ) -> tuple[str, Iterator[str]]:
        """What separates the cells, as the header tells, and all lines; a line that names it is left empty."""
        rest = iter(lines)
        beginning: list[str] = []
        try:
            for line in rest:
                beginning.append(line)
                named = _NAMED_SEPARATOR.fullmatch(line) if len(beginning) == 1 else None
                if named:
                    return named["separator"], chain(["\n"], rest)
                if line.strip():
                    return _separator_of(line, required, usual), chain(beginning, rest)
        except UnicodeDecodeError as error:
            raise self._not_csv(error) from None
        return usual, iter(beginning)

    def _not_csv(self, error: Exception) -> DatasetError:
        # Where the row begins: an open quote is noticed only at the end of the file.
        return DatasetError(f"{self._source}, line {self._lines_read + 1}: not CSV in UTF-8 ({error})")

    def _next(self) -> list[str] | None:
        """The cells of the next row; None at the end."""
        try:
            cells = next(self._rows, None)
        except (csv.Error, UnicodeDecodeError) as error:
            raise self._not_csv(error) from None

        # A cell in quotes may span several lines, so counting rows would not do.
        self._lines_read = self._rows.line_num
        return None if cells is None else [cell.strip() for cell in cells]

    def _read_header(self) -> list[str]:
        """The first row that is not blank."""
        while (cells := self._next()) is not None:
            if any(cells):
                return cells
        return []

    def _name_columns(self, header: Sequence[str], known: Collection[str]) -> list[str]:
        by_folded = {fold_name(name): name for name in known}
        columns: list[str] = []
        first_with: dict[str, int] = {}

        for number, title in enumerate(header, start=1):
            folded = fold_name(title)
            # Titles that differ in capitals, blanks or hyphens name the same column.
            first = first_with.setdefault(folded, number)
            if folded and first != number:
                earlier_title = shorten_repr(header[first - 1])
                raise DatasetError(
                    f"{self.place}, column {number}: {shorten_repr(title)} names the same column as"
                    f" {earlier_title} (column {first})"
                )
            columns.append(by_folded.get(folded, clean(title)))
        return columns

    def _check_required(self, header: Sequence[str], required: Collection[str]) -> None:
        missing = [name for name in required if name not in self.columns]
        if not missing:
            return

        titles = ", ".join(title for title in header if title) or "nothing"
        names = ", ".join(f'"{name}"' for name in sorted(missing))
        plural = "s" if len(missing) > 1 else ""
        misspelt = misspelt_names(self.columns, missing)
        hint = "".join(f'; by "{name}", did you mean "{meant}"?' for name, meant in misspelt.items())
        raise DatasetError(f"{self.place}: the header has no column{plural} {names}, only {titles}{hint}")

    def _check_width(self, cells: Sequence[str]) -> None:
        surplus = cells[len(self.columns) :]
        if self._strict and any(surplus):
            width = len(self.columns)
            raise DatasetError(
                f"{self._source}, line {self._lines_read}: {counted(len(cells), 'cell')}, but the header has {width} "
                f"column{'s' if width != 1 else ''}; put quotes around a cell that holds a separator"
            )


def _separator_of(header: str, required: Collection[str], usual: str) -> str:
    """The separator with which a header has the required names, `usual` if several do.

    If none does, the first one that makes several columns of it, so that a message can name them.

    >>> _separator_of("query;answer, short", ["query"], ",")
    ';'
    """
    first_wide = ""
    for separator in (usual, *_SEPARATORS):
        try:
            cells = next(csv.reader(_repaired([header], separator), delimiter=separator, skipinitialspace=True), [])
        except csv.Error:
            continue
        if {fold_name(name) for name in required} <= {fold_name(cell) for cell in cells}:
            return separator
        if len(cells) > 1:
            first_wide = first_wide or separator
    return first_wide or usual


def _repaired(lines: Iterable[str], separator: str) -> Iterator[str]:
    blank = _BLANK_AFTER_QUOTE.get(separator)
    for line in lines:
        yield blank.sub("", line) if blank and ('" ' in line or '"\t' in line) else line


@lru_cache(maxsize=4096)
def fold_name(name: str) -> str:
    """The name in small letters; blanks and hyphens inside it are underscores, outer and invisible signs are gone.

    >>> fold_name(" Query-Time ")
    'query_time'
    """
    return "_".join(re.split(r"[\s_-]+", clean(name).strip("\"'_- \t\n\xa0"))).casefold()


def misspelt_names(names: Iterable[str], missing: Collection[str]) -> Mapping[str, str]:
    """The names that are one of the `missing` ones with a typing error or two, and the one that is meant.

    A name that is longer or shorter by two is another word: ``answered`` is not a misspelt ``answer``.
    """
    from rapidfuzz.distance import OSA

    misspelt: dict[str, str] = {}
    for name in names:
        folded = fold_name(name)
        for meant in missing:
            max_distance = 1 if len(meant) <= _SHORT_NAME else 2
            is_near = OSA.distance(folded, meant, score_cutoff=max_distance) <= max_distance
            if folded != meant and is_near and abs(len(folded) - len(meant)) < 2:
                misspelt.setdefault(name, meant)
    return misspelt
