"""The walk over a page's tree that writes its text: one block a line, a table's row as a line."""

import re
from collections.abc import Iterable, Mapping

from crag.text.formulas import formula_text
from crag.web.extract.cell_lines import set_lines_apart
from crag.web.extract.list_numbers import item_numbers
from crag.web.extract.neighbours import STAND_IN_LINE, stand_apart
from crag.web.extract.nodes import GAP, Element
from crag.web.extract.raised import LOWERED, NOTE, RAISED, lower_marks
from crag.web.extract.styles import Flow, Script
from crag.web.extract.tables import (
    GridCell,
    GridRow,
    find_bold_headers,
    form_table,
    is_data_table,
    join_signs,
    labelled_rows,
    misplaced,
    plain_rows,
    read_pictures,
    small_pictures,
)

MAX_TEXT_CHARACTERS = 300_000
"""Of a page's text: some fifty times the longest article that a context has room for."""
_MAX_CELL_CHARACTERS = 2_000
"""A longer cell is a sign of a table that is layout."""

_JOINT = "\ue0f7"
"""Stands on both sides of a box in a line, which is apart from the words beside it."""
_ITEM = "\ue0f8"
"""Begins and ends an item of a list inside a table's cell."""
_LINK_EDGE = "\ue0f9"
"""Begins and ends a link: two links side by side are two words."""
_NUMBER_END = "\ue0fa"
"""Stands behind the number of an item, whose text may begin with a block of its own."""

_BLOCKS = frozenset(
    re.findall(
        r"\w+",
        "address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption "
        "figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr legend li listing main menu nav ol p plaintext pre "
        "search section summary table tbody td textarea tfoot th thead tr ul xmp",
    )
)
"""The elements that HTML's own style sheet shows as blocks; each has lines of its own."""
_BOXES = frozenset(["button", "img", "input", "label", "map", "option", "output", "picture", "select"])
"""They stand in the line, but apart from the words beside them. So does every element of the page's own making."""

_BOXES_IN_LINE = (Flow.IN_LINE, Flow.BOX)
_NEVER_IN_LINE = frozenset(["table", "ul", "ol", "dl", "li", "pre"])
_MAX_LINE_CHARACTERS = 80
"""Of boxes that stand side by side: more are columns, which are read one after the other."""

_NUMERATOR = re.compile(r"(?<![\w-])num(?:erator)?(?![\w-])")
_DENOMINATOR = re.compile(r"(?<![\w-])den(?:om(?:inator)?)?(?![\w-])")
"""Classes of the two numbers of a fraction."""
_BAR_WITHIN = 4
"""Pieces: what stands between the numbers of a fraction is for screen readers."""

_CENTS = re.compile(r"(?<![a-z])(?:cents?|decimals?|fraction)(?![a-z])", re.IGNORECASE)
"""Class of the smaller digits of a price, before which a page writes no point."""
_PART_OF_NUMBER = re.compile(rf"{_CENTS.pattern}|{_NUMERATOR.pattern}|{_DENOMINATOR.pattern}", re.IGNORECASE)
_WHOLE_NUMBER = re.compile(r"(?<![\d.,])(?:\d{1,6}|\d{1,3}(?:[.,]\d{3})+)\Z")
_WHOLE_PRICE = re.compile(r"[$€£]\s?(?:\d{1,6}|\d{1,3}(?:,\d{3})+)\Z")

_FOOTNOTE_MARK = re.compile(r"\[?\s?(?:\d{1,3}|[a-z])\s?\]?|[*†‡§¶]")

_NUMBER_OF_SOURCE = re.compile(r"\d{1,2}", re.ASCII)
_SOURCED = re.compile(
    rf"""
    (?: [a-z]{{3}} [)”"]?              # the mill1
      | [a-z%)”"] [.,;:!?] [”"]?     # It fell.2
      | (?<! \d ) \d{{1,3}} (?: ,\d{{3}} )+
      | (?<! \d ) (?: 1[5-9] | 20 ) \d\d
      | {NOTE[1]} )
    \Z
    """,
    re.VERBOSE,
)
"""The end of what may have a number of its source directly behind it: a word, a sentence, a whole number, a year, and
the number of another source."""
_SOURCED_CHARACTERS = 12

_MARKS = "".join(map(chr, range(0xE0F0, 0xE0FB)))
"""Private characters; no page may write them."""
_INPUT_CHARACTERS = str.maketrans("\n\t\r\f", "    ", _MARKS)
"""Line ends of the HTML are blanks."""
_PREFORMATTED_CHARACTERS = str.maketrans("", "", _MARKS)

_GAP_BETWEEN_DIGITS = re.compile(rf"(?<=\d){GAP}+(?=\d)")
_EDGES = re.compile(f"[{_JOINT}{_LINK_EDGE}]+")
_TEXT_OF_ITEM = re.compile(rf"{_NUMBER_END}[\s{GAP}{_JOINT}{_LINK_EDGE}]*")
_LETTERS_APART = re.compile(rf"{_JOINT}[^\W\d_](?:{_JOINT}{_JOINT}[^\W\d_]){{2,}}{_JOINT}")
"""Three letters or more, each in a box of its own and without a blank between, as animated headings have them."""
_INITIAL = re.compile(f"{_JOINT}([A-Z]){_JOINT}(?=[a-z])")
"""A capital in a box, before the small letters of a word."""
_MAX_BLANKS = 20
_CLOSING_PUNCTUATION = frozenset([*".,;:!?)]”’", ""])
_OPENING_SIGNS = frozenset("$€£¥([“‘")


def write_text(body: Element, *, labelled_tables: bool, with_boilerplate: bool) -> str:
    """The text below an element, with blanks and line ends still to be tidied.

    Args:
        body: The element.
        labelled_tables: Each cell carries its column's header, so that a row can be understood alone.
        with_boilerplate: Also write what `crag.web.extract.boilerplate` has marked.
    """
    writer = _Writer(labelled_tables, with_boilerplate)
    writer.write_children(body)
    return _finish(writer.pieces)


def _finish(pieces: Iterable[str]) -> str:
    """The pieces as text, with the marks of the walk resolved."""
    text = "".join(pieces)
    # Most texts are those of cells, and have no marks.
    if GAP in text:
        text = _GAP_BETWEEN_DIGITS.sub(" ", text)
    if _NUMBER_END in text:
        text = _TEXT_OF_ITEM.sub(" ", text)
    if _JOINT in text:
        text = _INITIAL.sub(_write_initial, text)
        text = _LETTERS_APART.sub(_join_word, text)
    text = _EDGES.sub(_write_edges, text)
    return lower_marks(text.replace(GAP, ""))


def _write_initial(letter: re.Match[str]) -> str:
    """At the beginning of a block a capital belongs to the word behind it; elsewhere it stays in its box."""
    before = letter.string[max(letter.start() - _MAX_BLANKS, 0) : letter.start()].rstrip(f" {GAP}")
    return letter[1] if before[-1:] in ("", "\n") else letter[0]


def _join_word(letters: re.Match[str]) -> str:
    """The letters as one box if all behind the first are small. Capitals may be results (``W L D``) or an index."""
    word = letters[0].replace(_JOINT, "")
    return f"{_JOINT}{word}{_JOINT}" if word[1:].islower() else letters[0]


def _write_edges(edges: re.Match[str]) -> str:
    """A blank between two boxes or links; nothing inside a word, before a point or comma, or after ``$`` or ``(``."""
    is_apart = len(edges[0]) > 1 or edges[0] == _JOINT
    character_before = edges.string[max(edges.start() - 1, 0) : edges.start()]
    next_character = edges.string[edges.end() : edges.end() + 1]
    is_joined = next_character in _CLOSING_PUNCTUATION or character_before in _OPENING_SIGNS
    return " " if is_apart and not is_joined else ""


def _is_box(element: Element) -> bool:
    """Whether an element stands apart by itself, without any style."""
    return element.name in _BOXES or "-" in element.name or element.get("role") == "img"


def _is_line(row: Element) -> bool:
    """Whether boxes side by side are short and hold no blocks, such as teams and their goals."""
    if row.letters > _MAX_LINE_CHARACTERS:
        return False
    for box in row.elements():
        if box.name in _NEVER_IN_LINE or any(inner.name in _BLOCKS for inner in box.descendants()):
            return False
    return True


def _read_stacked(element: Element) -> str:
    """A fraction whose two numbers, one above the other, are all that an element holds; "" for any other element."""
    parts = [part for part in element.elements() if part.letters]
    if len(parts) != 2 or element.letters != sum(part.letters for part in parts):
        return ""
    upper, lower = parts
    if not (_NUMERATOR.search(upper.get("class")) and _DENOMINATOR.search(lower.get("class"))):
        return ""
    return "/".join("".join(part.texts()).strip(f"{GAP} \n") for part in parts)


class _Writer:
    """Writes elements one after the other, as pieces of text."""

    def __init__(self, labelled_tables: bool, with_boilerplate: bool, *, in_cell: bool = False) -> None:
        self.pieces: list[str] = []
        self._labelled_tables = labelled_tables
        self._with_boilerplate = with_boilerplate
        self._in_cell = in_cell
        self._pictures: Mapping[Element, str] = {}
        """The words for small pictures of a cell."""
        self._item_numbers: dict[Element, str] = {}
        """Of the items of the lists that are open."""
        self._characters = _INPUT_CHARACTERS
        self._is_in_quotation = False

    def write_children(self, parent: Element) -> None:
        """Write the texts and elements inside an element."""
        before: Element | None = None
        for child in parent.children:
            if isinstance(child, str):
                self._write_text(child)
                before = None
                continue
            if before is not None and child.name in STAND_IN_LINE:
                self._write_margin(before, child)
            self._write_element(child)
            before = child

    def _write_margin(self, before: Element, element: Element) -> None:
        """Write the blank that a sheet puts between two elements, but not inside of a price or a fraction."""
        is_plain = before.style.flow is Flow.BY_NAME is element.style.flow and self._characters is _INPUT_CHARACTERS
        if is_plain and stand_apart(before, element) and not _PART_OF_NUMBER.search(element.get("class")):
            self.pieces.append(_JOINT + _JOINT)

    def _write_child(self, child: Element | str) -> None:
        if isinstance(child, Element):
            self._write_element(child)
        else:
            self._write_text(child)

    def _write_text(self, text: str) -> None:
        self.pieces.append(GAP if text == GAP else text.translate(self._characters))

    # --- elements -----------------------------------------------------------------------------------------------------

    def _write_element(self, element: Element) -> None:
        """Write an element as its name, or else its style, demands."""
        if element.is_boilerplate and not self._with_boilerplate:
            is_block = element.name in _BLOCKS or element.style.flow is Flow.OWN_LINES
            self.pieces.append("\n" if is_block else GAP)
            return

        characters = self._characters
        if element.style.keeps_lines is not None:
            self._characters = _PREFORMATTED_CHARACTERS if element.style.keeps_lines else _INPUT_CHARACTERS

        name = element.name
        if name == "table":
            self._write_table(element)
        elif name == "li":
            self._write_item(element)
        elif name in _BLOCKS and element.style.flow in _BOXES_IN_LINE:
            self._write_between(_JOINT, element, _JOINT)
        elif name in _BLOCKS:
            if name == "ol":
                self._item_numbers.update(item_numbers(element))
            self._write_block(element)
        elif name == "br":
            self.pieces.append("\n")
        else:
            self._write_inline(element)
        self._characters = characters

    def _write_block(self, block: Element) -> None:
        """Write an element on lines of its own; short boxes side by side share one."""
        self.pieces.append("\n")
        if block.style.boxes == "row" and _is_line(block):
            for box in block.children:
                self._write_box(box)
        else:
            self.write_children(block)
        self.pieces.append("\n")

    def _write_box(self, box: Element | str) -> None:
        if isinstance(box, Element) and box.name in _BLOCKS:
            self._write_between(_JOINT, box, _JOINT)
        else:
            self._write_child(box)

    def _write_item(self, item: Element) -> None:
        """Write an item of a list, behind its number if it has one."""
        edge = _ITEM if self._in_cell else "\n"
        self.pieces.append(edge)
        number = self._item_numbers.pop(item, "")
        if number:
            self.pieces.append(f"{number}{_NUMBER_END}")
        self.write_children(item)
        self.pieces.append(edge)

    def _write_between(self, start: str, element: Element, end: str) -> None:
        self.pieces.append(start)
        self.write_children(element)
        self.pieces.append(end)

    def _write_inline(self, element: Element) -> None:
        """Write an element of the line, which its style may take out of it."""
        fraction = _read_stacked(element)
        if fraction:
            self.pieces.append(f"{GAP}{fraction}{GAP}")
            return

        style = element.style
        classes = element.get("class")
        if "den" in classes and _DENOMINATOR.search(classes):
            self._write_bar()
        elif element.name == "small" or _CENTS.search(classes):
            self._write_point(element)
        write = _INLINE.get(element.name, _Writer.write_children)
        edge = ""
        if style.flow is Flow.OWN_LINES:
            edge = "\n"
        elif style.script is Script.RAISED:
            write = _Writer._write_raised
        elif style.script is Script.LOWERED:
            write = _Writer._write_lowered
        elif style.flow in (Flow.APART, Flow.BOX) or _is_box(element):
            edge = _JOINT

        start = len(self.pieces)
        if edge:
            self.pieces.append(edge)
        write(self, element)
        if edge:
            self.pieces.append(edge)
        if style.is_reversed:
            self.pieces[start:] = ["".join(self.pieces[start:])[::-1]]

    def _write_bar(self) -> None:
        """Write the line of a fraction, whose two numbers stand one above the other."""
        before = "".join(self.pieces[-_BAR_WITHIN:]).rstrip(f" {GAP}")
        if before[-1:].isdigit():
            self.pieces.append("/")

    def _write_point(self, element: Element) -> None:
        """Write the point of a price before two smaller digits that stand directly behind its whole number."""
        digits = "".join(element.texts())
        if len(digits) != 2 or not digits.isdigit():
            return
        before = "".join(self.pieces[-_BAR_WITHIN:])
        is_price = _WHOLE_PRICE if element.name == "small" else _WHOLE_NUMBER
        if is_price.search(before):
            self.pieces.append(".")

    # --- marks in the line --------------------------------------------------------------------------------------------

    def _write_raised(self, element: Element) -> None:
        """Write a superscript; one that links into the page is the mark of a footnote."""
        text = "".join(element.texts()).strip()
        links = (element, *element.descendants())
        is_note = _FOOTNOTE_MARK.fullmatch(text) and any("#" in link.get("href") for link in links)
        if is_note:
            self.pieces.append(f"{RAISED[0]}[{text.strip(' []')}]{RAISED[1]}")
        else:
            self._write_between(RAISED[0], element, RAISED[1])

    def _write_lowered(self, element: Element) -> None:
        self._write_between(LOWERED[0], element, LOWERED[1])

    def _write_quotation(self, element: Element) -> None:
        """Write a quotation in marks: those of the sheet, or else those of HTML, simple ones inside of another one."""
        marks = "‘’" if self._is_in_quotation else "“”"
        start = marks[0] if element.style.before is None else ""
        end = marks[1] if element.style.after is None else ""

        was_in_quotation, self._is_in_quotation = self._is_in_quotation, True
        self._write_between(start, element, end)
        self._is_in_quotation = was_in_quotation

    def _write_link(self, element: Element) -> None:
        """Write a link: the mark of a footnote stays apart from the word before it, and two links from each other."""
        is_note = element.get("role") == "doc-noteref" or element.get("href").startswith("#")
        is_note = is_note or (0 < element.letters <= 2 and self._is_source(element))
        if is_note and _FOOTNOTE_MARK.fullmatch("".join(element.texts()).strip()):
            self._write_between(NOTE[0], element, NOTE[1])
            return
        self._write_between(_LINK_EDGE, element, _LINK_EDGE)

    def _is_source(self, link: Element) -> bool:
        """Whether a link to another page is the number of a source directly behind what it is for."""
        if not _NUMBER_OF_SOURCE.fullmatch("".join(link.texts()).strip()):
            return False
        before = "".join(self.pieces[-_BAR_WITHIN:])[-_SOURCED_CHARACTERS:]
        return _SOURCED.search(before) is not None

    def _write_ruby(self, element: Element) -> None:
        """Write the base, then its reading in brackets: ``漢字 (kanji)``."""
        readings = [child for child in element.descendants() if child.name == "rt"]
        base = self._text_without(element, ("rt", "rtc"))
        reading = " ".join("".join(reading.texts()).strip() for reading in readings).strip()
        self.pieces.append(f"{base.strip()} ({reading}){_JOINT}" if reading else base)

    def _text_without(self, element: Element, names: tuple[str, ...]) -> str:
        pieces = []
        for child in element.children:
            if isinstance(child, str):
                pieces.append(child.translate(self._characters))
            elif child.name not in names:
                pieces.append(self._text_without(child, names))
        return "".join(pieces)

    def _write_picture(self, element: Element) -> None:
        """Write the rating that a picture shows, or the words for a small one beside the text of a cell."""
        self.write_children(element)
        words = self._pictures.get(element)
        if words:
            self.pieces.append(f"({words})")

    def _write_formula(self, element: Element) -> None:
        # 2 before 1/2 is 2 1/2, not 21/2.
        self.pieces.append(f"{GAP}{formula_text(element).translate(self._characters)}{GAP}")

    # --- tables -------------------------------------------------------------------------------------------------------

    def _write_table(self, table: Element) -> None:
        """Write a caption, then a line for each row of data; what is layout is written as blocks."""
        self.pieces.append("\n")
        for caption in table.elements():
            if caption.name == "caption":
                self._write_element(caption)

        for part in misplaced(table):
            self._write_child(part)
        self.pieces.append("\n")

        rows = form_table(table)
        self._read_cells(rows)
        read_pictures(rows)
        join_signs(rows)
        find_bold_headers(rows)
        is_data = table.get("role") not in ("presentation", "none") and is_data_table(rows)
        lines = labelled_rows(rows) if self._labelled_tables else plain_rows(rows)
        written_characters = 0
        for row, line in zip(rows, lines, strict=True):
            if is_data and not row.is_layout:
                self.pieces.append(f"{line}\n")
                written_characters += len(line)
            else:
                self._write_cells(row)
            # Cells over many rows could multiply a page.
            if written_characters > MAX_TEXT_CHARACTERS:
                break

    def _read_cells(self, rows: Iterable[GridRow]) -> None:
        """Read the texts of all cells; rows with a cell that holds a table or a long text are layout."""
        for row in rows:
            starting_cells = [cell for cell in row.distinct_cells() if cell.row == row.index]
            for cell in starting_cells:
                is_header = cell.is_header or row.is_head
                cell.text = "" if cell.element.holds_table else self._read_cell(cell, is_header=is_header)
            row.is_layout = any(
                cell.element.holds_table or len(cell.text) > _MAX_CELL_CHARACTERS for cell in starting_cells
            )
            if row.is_layout:
                for cell in starting_cells:
                    cell.text = ""

    def _read_cell(self, cell: GridCell, *, is_header: bool) -> str:
        """The text of a cell on one line; items of a list are set apart by commas."""
        if cell.element.is_boilerplate and not self._with_boilerplate:
            return ""
        writer = _Writer(self._labelled_tables, self._with_boilerplate, in_cell=True)
        writer._pictures = small_pictures(cell.element)
        writer.write_children(cell.element)
        written = "".join(writer.pieces)
        if not is_header:
            written = set_lines_apart(written, item=_ITEM, link=_LINK_EDGE)
        parts = [" ".join(part.split()) for part in _finish([written]).split(_ITEM)]

        text = ""
        for part in filter(None, parts):
            joint = " " if not text or text[-1] in ",;:" else ", "
            text += f"{joint}{part}"
        return text.strip()

    def _write_cells(self, row: GridRow) -> None:
        """Write the cells that begin in a row as blocks."""
        for cell in row.distinct_cells():
            if cell.row == row.index:
                self._write_element(cell.element)


_INLINE = {
    "a": _Writer._write_link,
    "q": _Writer._write_quotation,
    "ruby": _Writer._write_ruby,
    "math": _Writer._write_formula,
    "img": _Writer._write_picture,
    "svg": _Writer._write_picture,
}
"""How elements inside a line are written that are more than their text."""
