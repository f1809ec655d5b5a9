"""Tables: the grid of HTML's own table model, and its rows as lines of text.

The grid is that of the algorithm "forming a table" (WHATWG HTML, 4.9.12.1): a cell stands in each row and column that
it spans. A row becomes one line, so that a value stays next to its label and its neighbours.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto

from crag.web.extract.nodes import GAP, Element

_ROW_GROUPS = frozenset(["thead", "tbody", "tfoot"])
_NO_ROWS = frozenset(["caption", "col", "colgroup"])
_CELLS = frozenset(["td", "th"])

_MAX_WIDTH = 100
"""Columns of a cell; HTML allows spans of 1,000."""
_MAX_SLOTS = 2_000_000
"""Of a table, that cells cover by their spans; behind them each cell has its own slot only."""
_MAX_LABEL_CHARACTERS = 60
_LABEL_END_CHARACTERS = 25
"""Of a longer header, whose end may be all that tells it from the one beside it."""
_MAX_REPEATED_CHARACTERS = 200
"""A longer cell that spans rows is written in the first of them only."""
_FOOTNOTE_MARKS = re.compile(r"(?: \[\w{1,3}\])+\Z")
"""At the end of a header; they would be repeated in every row."""
_NUMBER = re.compile(r"[-+−]?\d[\d.,%]*")


_Label = tuple[str, ...]
"""The headers of a column, from the top."""


@dataclass(slots=True, eq=False)
class GridCell:
    """A cell and the slots that it covers."""

    element: Element
    row: int
    column: int
    width: int
    is_header: bool
    text: str = ""


@dataclass(slots=True)
class GridRow:
    """A row of the grid: its cells by column.

    `is_head`: it stands in the table's head. `is_layout`: its cells hold too much for a line.
    """

    index: int
    is_head: bool
    is_layout: bool = False
    cells: dict[int, GridCell] = field(default_factory=dict)

    def distinct_cells(self) -> list[GridCell]:
        """The cells from left to right, each once."""
        return list(dict.fromkeys(self.cells[column] for column in sorted(self.cells)))

    def filled_cells(self) -> list[GridCell]:
        """Those with text."""
        return [cell for cell in self.distinct_cells() if cell.text]

    def text_of(self, cell: GridCell) -> str:
        """The text of a cell; in a row below its first only if it is short."""
        is_repeated = self.index != cell.row
        return "" if is_repeated and len(cell.text) > _MAX_REPEATED_CHARACTERS else cell.text


# --- forming the grid -------------------------------------------------------------------------------------------------


def form_table(table: Element) -> list[GridRow]:
    """The rows of a table's grid; the cells have no text yet.

    A span of rows ends with its row group, and ``rowspan=0`` reaches to that end.
    """
    grid = _Grid()
    for is_head, group in _row_groups(table):
        grid.add_row_group(is_head, group)
    return grid.rows


def _row_groups(table: Element) -> list[tuple[bool, list[Element]]]:
    """The groups of rows as browsers show them, each with whether it is the head.

    The first `thead` is shown above all (CSS 2, 17.2), each `tfoot` below. Rows outside of groups form groups too.
    """
    heads: list[tuple[bool, list[Element]]] = []
    groups: list[tuple[bool, list[Element]]] = []
    feet: list[tuple[bool, list[Element]]] = []
    loose_rows: list[Element] | None = None
    for child in table.elements():
        if child.name == "tr":
            if loose_rows is None:
                loose_rows = []
                groups.append((False, loose_rows))
            loose_rows.append(child)
        elif _is_row_group(child):
            loose_rows = None
            rows = [row for row in child.elements() if row.name == "tr"]
            if child.name == "thead" and not heads:
                heads.append((True, rows))
            elif child.name == "tfoot":
                feet.append((False, rows))
            else:
                groups.append((child.name == "thead", rows))
    return heads + groups + feet


def _is_row_group(element: Element) -> bool:
    """Whether an element groups rows; by its role also a box round rows."""
    return element.name in _ROW_GROUPS or any(child.name == "tr" for child in element.elements())


def misplaced(table: Element) -> Iterator[Element | str]:
    """Text of a table that is outside its cells, where no table should have any."""
    for child in table.children:
        if isinstance(child, str):
            yield child
        elif child.name == "tr":
            yield from _outside_cells(child)
        elif _is_row_group(child):
            for row in child.children:
                yield from _outside_cells(row) if isinstance(row, Element) and row.name == "tr" else [row]
        elif child.name not in _NO_ROWS:
            yield child


def _outside_cells(row: Element) -> Iterator[Element | str]:
    for child in row.children:
        if isinstance(child, str) or child.name not in _CELLS:
            yield child


class _Grid:
    """The rows of a table, while they are filled."""

    def __init__(self) -> None:
        self.rows: list[GridRow] = []
        self._free_slots = _MAX_SLOTS

    def add_row_group(self, is_head: bool, elements: Sequence[Element]) -> None:
        """Place the cells of a group's rows in the first free slots."""
        start = len(self.rows)
        self.rows.extend(GridRow(index, is_head) for index in range(start, start + len(elements)))
        for index, element in enumerate(elements, start):
            column = 0
            for cell_element in element.elements():
                if cell_element.name not in _CELLS:
                    continue
                while column in self.rows[index].cells:
                    column += 1
                column += self._place_cell(cell_element, index, column)

    def _place_cell(self, element: Element, row: int, column: int) -> int:
        """Place a cell that begins at a slot; how many columns it covers."""
        width = min(max(_read_span(element, "colspan"), 1), _MAX_WIDTH)
        height = _read_span(element, "rowspan") or len(self.rows)
        covered_rows = self.rows[row : row + height]
        if self._free_slots < width * len(covered_rows):
            width, covered_rows = 1, covered_rows[:1]

        self._free_slots -= width * len(covered_rows)
        _cover_slots(covered_rows, GridCell(element, row, column, width, is_header=element.name == "th"))
        return width


def _cover_slots(rows: Iterable[GridRow], cell: GridCell) -> None:
    for row in rows:
        for column in range(cell.column, cell.column + cell.width):
            # Where cells overlap the first one stays.
            row.cells.setdefault(column, cell)


def _read_span(element: Element, attribute: str) -> int:
    """The number of rows or columns that a cell spans: 1 unless it is a whole number (so ``rowspan=0`` is 0)."""
    digits = (element.get(attribute) or element.get(f"aria-{attribute}")).strip()
    # No cell spans more than the rows or columns of its table, so more digits say nothing.
    return int(digits[:5]) if digits.isdecimal() and digits.isascii() else 1


# --- headers in bold type ---------------------------------------------------------------------------------------------

_BOLD = frozenset(["b", "strong"])
_YEAR = re.compile(r"[12]\d{3}")


def find_bold_headers(rows: Sequence[GridRow]) -> None:
    """Take the first row of a table without headers for headers, if all of it is bold and no other row is.

    Not if it holds a number that is no year: bold is the first of a ranking. Not if in a table of two columns the
    words on the left are bold: they are the labels of a box of facts.
    """
    if any(row.is_head or cell.is_header for row in rows for cell in row.distinct_cells()):
        return
    filled_rows = [row.filled_cells() for row in rows]
    filled_rows = [cells for cells in filled_rows if len(cells) >= 2]
    if len(filled_rows) < 2 or not all(_is_bold(cell.element) for cell in filled_rows[0]):
        return

    first, *others = filled_rows
    if any(_NUMBER.fullmatch(cell.text) and not _YEAR.fullmatch(cell.text) for cell in first):
        return
    if any(all(_is_bold(cell.element) for cell in cells) for cells in others):
        return
    if len(first) == 2 and any(_is_bold(cells[0].element) for cells in others):
        return
    for cell in first:
        cell.is_header = not cell.text.endswith(":")


def _is_bold(element: Element, *, is_inside: bool = False) -> bool:
    """Whether all text of an element is in bold type, and there is some. `is_inside`: it is inside of bold type."""
    is_bold = is_inside or element.name in _BOLD
    if element.style.is_bold is not None:
        is_bold = element.style.is_bold
    has_text = False
    for child in element.children:
        if isinstance(child, Element):
            if child.letters > 0 and not _is_bold(child, is_inside=is_bold):
                return False
            has_text = has_text or child.letters > 0
        elif child.strip(f"{GAP} \n\t\xa0"):
            if not is_bold:
                return False
            has_text = True
    return has_text


# --- pictures in the place of words -----------------------------------------------------------------------------------

_PICTURES = frozenset(["img", "svg"])
_MAX_PICTURE_CHARACTERS = 60
_SHORT_WORDS = re.compile(r"[^\W\d_](?:[^\W\d_]|[ .,'’-]){0,39}")
_FEW_PIXELS = re.compile(r"(?:[1-9]|[12]\d|30)(?:px)?")
_SAYS_NOTHING = re.compile(
    r"""
    \. [a-z]{3,4} \Z                # the name of a file
    | \b (?: icon | logo ) \b       # an ornament
    | \A (?: click | close | edit | enlarge | expand | open | play | share | show | sort | view ) \b    # a button
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""In the words for a picture that is no value."""


def read_pictures(rows: Sequence[GridRow]) -> None:
    """Give the words for its pictures to a cell that holds nothing else, in a table of data or one with headers.

    Such a picture is a value: a medal, a flag in a column of countries, a tick. One alone in its row adorns the table.
    """
    has_headers = any(cell.is_header for row in rows for cell in row.distinct_cells())
    if not has_headers and not is_data_table(rows):
        return
    for row in rows:
        cells = row.distinct_cells()
        for cell in cells:
            if len(cells) > 1 and not cell.text and not row.is_layout and cell.row == row.index:
                cell.text = _words_for_pictures(cell.element)


def small_pictures(cell: Element) -> dict[Element, str]:
    """The words for the small pictures of a cell that holds text, if they say more than it: a flag, an arrow, a card.

    Such a picture is a value beside another one, as ``Decrease`` before 112.
    """
    pictures: dict[Element, str] = {}
    if not cell.holds_picture or cell.holds_table or cell.letters == 0:
        return pictures
    text = ""
    for picture in cell.descendants():
        words = _words_for(picture)
        is_sign = picture.name in _PICTURES and picture.letters == 0 and _is_small(picture)
        if not is_sign or not _SHORT_WORDS.fullmatch(words):
            continue
        text = text or " ".join(cell.texts()).lower()
        if words.lower() not in text and not _SAYS_NOTHING.search(words):
            pictures[picture] = words
    return pictures


def _is_small(picture: Element) -> bool:
    """Whether a picture has the height of a line, as its attributes say."""
    return any(_FEW_PIXELS.fullmatch(picture.get(side)) for side in ("width", "height"))


def _words_for_pictures(element: Element) -> str:
    """The words for all pictures in an element without text; "" if some say nothing or they are many."""
    if element.holds_table or not element.children:
        return ""
    words = list(_words_of_innermost(element))
    text = " ".join(words)
    is_value = len(text) <= _MAX_PICTURE_CHARACTERS and not any(map(_SAYS_NOTHING.search, words))
    return text if is_value else ""


def _words_of_innermost(element: Element) -> Iterator[str]:
    """The words for each picture in an element, and for it if they are none: a link often repeats its picture."""
    has_words = False
    for part in element.elements():
        for words in _words_of_innermost(part):
            has_words = True
            yield words
    if not has_words and (words := _words_for(element)):
        yield words


def _words_for(picture: Element) -> str:
    """The words for a picture, a drawing, or a sign that a sheet draws."""
    words = picture.get("alt") or picture.get("aria-label")
    if not words and picture.name != "img":
        words = picture.get("title")
    return " ".join(words.split())


# --- signs in cells of their own --------------------------------------------------------------------------------------

_SIGN_BEFORE = re.compile(r"\(?(?:[A-Z]{1,3})?[$€£¥₹]\(?|\(")
_SIGN_BEHIND = re.compile(r"%?\)?%?|€")
_MAX_SIGN_CHARACTERS = 5
_NUMBER_BEFORE_SIGN = re.compile(r"[($£¥₹]{0,3}[-+−–—]?[\d.,\s]{0,20}[\d–—]\)?")
_NUMBER_BEHIND_SIGN = re.compile(r"\(?[-+−–—.]?\d|[–—]\Z")


def join_signs(rows: Sequence[GridRow]) -> None:
    """Give the sign of a currency, a percent sign or a bracket in a cell of its own to the number beside it.

    Reports of companies set numbers in three columns: ``$ | (398 | )`` is ``$(398)``. A column with any other word in a
    cell of its own, such as the header "Currency", stays as it is.
    """
    by_column: dict[int, list[GridCell]] = {}
    for row in rows:
        for cell in row.cells.values():
            if cell.text and cell.row == row.index and cell.width == 1:
                by_column.setdefault(cell.column, []).append(cell)

    for column in sorted(by_column):
        signs = by_column[column]
        if all(_is_sign(cell) for cell in signs):
            for sign in signs:
                cells = rows[sign.row].cells
                _join_sign(cells.get(column - 1), sign, cells.get(column + 1))


def _is_sign(cell: GridCell) -> bool:
    if len(cell.text) > _MAX_SIGN_CHARACTERS:
        return False
    return _SIGN_BEFORE.fullmatch(cell.text) is not None or _SIGN_BEHIND.fullmatch(cell.text) is not None


def _join_sign(left: GridCell | None, sign: GridCell, right: GridCell | None) -> None:
    """Write a sign in the cell of a number on its left or right; without one it stays where it is."""
    if left and _SIGN_BEHIND.fullmatch(sign.text) and _NUMBER_BEFORE_SIGN.fullmatch(left.text):
        left.text, sign.text = left.text + sign.text, ""
    elif right and _SIGN_BEFORE.fullmatch(sign.text) and _NUMBER_BEHIND_SIGN.match(right.text):
        right.text, sign.text = sign.text + right.text, ""


# --- writing the rows -------------------------------------------------------------------------------------------------


def is_data_table(rows: Sequence[GridRow]) -> bool:
    """Whether a table holds data, not layout: two rows with two filled cells, or one with a header beside a value.

    Below headers, a row with one filled cell among empty ones counts too.
    """
    rows_of_values = 0
    has_headers = False
    for row in rows:
        filled = row.filled_cells()
        if _is_pairs(filled):
            return True
        if len(filled) >= 2 or (has_headers and _is_in_one_column(row)):
            rows_of_values += 1
        has_headers = has_headers or (len(filled) >= 2 and all(cell.is_header for cell in filled))
    return rows_of_values >= 2


def _is_in_one_column(row: GridRow) -> bool:
    """Whether the only filled cell of a row is one of several, and has a column for itself."""
    filled = row.filled_cells()
    return len(filled) == 1 and filled[0].width == 1 and len(row.distinct_cells()) > 1


def row_text(cells: Iterable[str]) -> str:
    """One row. Empty cells at its end are dropped, those before values keep the columns in place.

    Example:
        row_text(["2021", "", "1 - 0", ""])  # "2021 | | 1 - 0"
        row_text(["", "Total", ""])  # "Total": a single value needs no columns
    """
    row = " | ".join(cells).rstrip(" |")
    without_empty_cells = row.strip(" |")
    has_several_cells = " | " in without_empty_cells
    return row if has_several_cells else without_empty_cells


def plain_rows(rows: Sequence[GridRow]) -> Iterator[str]:
    """A line for each row, with its cells in their columns: ``2018 | B | Jon Ek``."""
    columns = _columns_with_text(rows)
    for row in rows:
        yield _plain_row(row, columns)


def labelled_rows(rows: Sequence[GridRow]) -> Iterator[str]:
    """A line for each row: ``Year: 2010 | Player: Ann Berg`` under headers, ``Born: 1969`` for a header and its value.

    A row of one cell is a title or the name of a section, never a header. A header over several columns is one of each
    (WHATWG HTML, 4.9.12.2): ``Home Goals: 3 | Home Points: 7``. Rows that became labels are "".
    """
    kinds = _read_kinds(rows)
    columns = _columns_with_text(rows)
    labels: dict[int, _Label] = {}
    for index, row in enumerate(rows):
        kind = kinds[index]
        if kind is _Kind.HEADERS and not _has_values(kinds, index):
            yield _plain_row(row, columns)
        elif kind is _Kind.HEADERS:
            # A run of rows of headers is one head with several levels.
            is_next_level = index > 0 and kinds[index - 1] is _Kind.HEADERS
            labels = _read_labels(labels if is_next_level else {}, row)
            yield ""
        elif kind is _Kind.VALUES and labels and not _names_its_row(row):
            yield _label_cells(labels, row)
        else:
            yield _label_and_value(row) or _plain_row(row, columns)


class _Kind(Enum):
    HEADERS = auto()
    VALUES = auto()
    SINGLE = auto()
    """At most one filled cell: a title, the name of a section, an empty row, a row of layout."""


def _read_kinds(rows: Sequence[GridRow]) -> list[_Kind]:
    kinds: list[_Kind] = []
    for row in rows:
        kind = _kind_of(row)
        # Below values, header cells may hold their sums.
        is_below_values = bool(kinds) and kinds[-1] is _Kind.VALUES
        if kind is _Kind.HEADERS and is_below_values and _is_row_of_sums(row):
            kind = _Kind.VALUES
        # Alone in the first column a cell would name a section.
        is_below_headers = _Kind.HEADERS in kinds and _is_in_one_column(row)
        if kind is _Kind.SINGLE and is_below_headers and _is_value(row.filled_cells()[0]):
            kind = _Kind.VALUES
        kinds.append(kind)

    _find_upper_headers(rows, kinds)
    return kinds


def _is_value(cell: GridCell) -> bool:
    return cell.column > 0 and not cell.is_header


def _find_upper_headers(rows: Sequence[GridRow], kinds: list[_Kind]) -> None:
    """Make a single header a row of headers if it stands over some of the columns of the headers below it.

    Or over values, as the first of a table. From the first column on, or over all columns, it is a title.
    """
    for index in range(len(rows) - 2, -1, -1):
        is_first = kinds[index + 1] is _Kind.VALUES and _Kind.HEADERS not in kinds[:index]
        if kinds[index] is not _Kind.SINGLE or not (is_first or kinds[index + 1] is _Kind.HEADERS):
            continue
        for cell in rows[index].filled_cells():
            if cell.column > 0 and (cell.is_header or rows[index].is_head):
                kinds[index] = _Kind.HEADERS


def _kind_of(row: GridRow) -> _Kind:
    filled = row.filled_cells()
    if len(filled) < 2:
        return _Kind.SINGLE
    if row.is_head:
        return _Kind.HEADERS
    # A header cell may say that it is one of its row.
    is_of_columns = [cell.is_header and not cell.element.get("scope").startswith("row") for cell in filled]
    return _Kind.HEADERS if all(is_of_columns) else _Kind.VALUES


def _has_values(kinds: Sequence[_Kind], index: int) -> bool:
    """Whether a row of values follows a row of headers, perhaps after more headers or the name of a section."""
    for following in range(index + 1, len(kinds)):
        if kinds[following] is _Kind.VALUES:
            return True
        # The headers of another part of the table begin there.
        if kinds[following] is _Kind.HEADERS and kinds[following - 1] is _Kind.SINGLE:
            return False
    return False


def _is_row_of_sums(row: GridRow) -> bool:
    """Whether a row of header cells below a table's head holds numbers."""
    return not row.is_head and any(_NUMBER.fullmatch(cell.text) for cell in row.filled_cells())


def _names_its_row(row: GridRow) -> bool:
    """Whether the only header of a row spans columns, as that of a sum does: it belongs to none of their headers."""
    filled = row.filled_cells()
    return _is_label_and_value(filled) and filled[0].is_header and filled[0].width > 1


def _read_labels(upper_labels: Mapping[int, _Label], row: GridRow) -> dict[int, _Label]:
    """The label of each column: its header, below that of the row above if it is another one."""
    labels = dict(upper_labels)
    for column, cell in row.cells.items():
        header = _FOOTNOTE_MARKS.sub("", cell.text).removesuffix(":").strip()
        upper_label = labels.get(column, ())
        is_new = cell.row == row.index or not upper_label
        if header and is_new:
            labels[column] = (*upper_label, _shorten(header))
    return labels


def _shorten(header: str) -> str:
    """A header that is not too long to be repeated in each row, else its beginning and its end."""
    if len(header) <= _MAX_LABEL_CHARACTERS:
        return header
    beginning, _, _ = header[: _MAX_LABEL_CHARACTERS - _LABEL_END_CHARACTERS + 1].rpartition(" ")
    _, _, end = header[-_LABEL_END_CHARACTERS - 1 :].partition(" ")
    return f"{beginning} … {end}" if beginning and end else header[:_MAX_LABEL_CHARACTERS]


def _label_cells(labels: Mapping[int, _Label], row: GridRow) -> str:
    """The filled cells of a row, each after all headers of its column; over several columns once for each label."""
    parts = []
    for cell in row.filled_cells():
        text = row.text_of(cell)
        columns = range(cell.column, cell.column + cell.width)
        cell_labels = list(dict.fromkeys(labels.get(column, ()) for column in columns))
        if len(text) > _MAX_REPEATED_CHARACTERS:
            cell_labels = cell_labels[:1]

        for label in cell_labels if text else ():
            words = " ".join(label)
            parts.append(f"{words}: {text}" if words else text)
    return " | ".join(parts)


def _label_and_value(row: GridRow) -> str:
    """``Born: 1969``, or ``Born: 1931 | Died: 1969``; "" if the row is not labels beside their values."""
    filled = row.filled_cells()
    if not _is_pairs(filled):
        return ""
    pairs = zip(filled[::2], filled[1::2], strict=True)
    return " | ".join(f"{label.text.removesuffix(':').strip()}: {value.text}" for label, value in pairs)


def _is_pairs(filled: Sequence[GridCell]) -> bool:
    """Whether the cells of a row are a header and its value, or several of these."""
    if not filled or len(filled) % 2 == 1:
        return False
    return all(_is_label_and_value(filled[start : start + 2]) for start in range(0, len(filled), 2))


def _is_label_and_value(filled: Sequence[GridCell]) -> bool:
    """Whether the cells of a row are a header and its value; a colon also makes a header."""
    if len(filled) != 2 or filled[1].is_header or filled[1].text.endswith(":"):
        return False
    return filled[0].is_header or filled[0].text.endswith(":")


def _columns_with_text(rows: Iterable[GridRow]) -> list[int]:
    """The columns in which a cell with text begins; others only keep those apart."""
    columns: set[int] = set()
    for row in rows:
        columns.update(cell.column for cell in row.filled_cells())
    return sorted(columns)


def _plain_row(row: GridRow, columns: Iterable[int]) -> str:
    texts = []
    for column in columns:
        cell = row.cells.get(column)
        # A cell over several columns is written in the first of them.
        starts_here = cell is not None and cell.column == column
        texts.append(row.text_of(cell) if cell is not None and starts_here else "")
    return row_text(texts)
