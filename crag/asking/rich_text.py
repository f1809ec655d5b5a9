"""An RTF as HTML, by striprtf: paragraphs, tables, superscripts, notes, boxes; without deleted and hidden text.

striprtf 0.0.35 decodes characters and knows which groups hold no text. It also reads what is deleted or hidden, glues a
superscript to the number before it, makes lines of tables, and leaves out notes and boxes. So the RTF is prepared for
it: what is not shown goes, notes and boxes move to the end, and marks tell where superscripts, cells and rows are.
"""

import re
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from crag.asking.marked_tables import mark_table_heads
from crag.asking.raised_text import NOT_RAISED, RAISED, to_html
from crag.asking.table_heads import Row

_TOKEN = re.compile(
    r"\\(?P<word>[a-z]{1,32})(?P<number>-?\d{1,10})?[ ]?"
    r"|(?P<hexadecimal>\\'[0-9a-f]{2})"
    r"|(?P<symbol>\\[^a-z])"
    r"|(?P<brace>[{}])"
    r"|(?P<text>[^\\{}]+)",
    re.IGNORECASE | re.DOTALL,
)
_TITLE = re.compile(r"\{\\title\b ?([^{}]{1,500})\}")
_CODE_PAGE = re.compile(r"\\ansicpg\d{1,5}")

# As in `crag.asking.raised_text`.
_ROW_START, _CELL_END, _ROW_END = "\ufdd2\ufdd3\ufdd4"
_OTHER_MARK = re.compile("[\ufdd2-\ufdd4]")
_MARK = re.compile("[\ufdd0-\ufdd4]")

_NOT_SHOWN = frozenset({"pict", "objdata", "fldinst", "stylesheet"})
"""Groups of pictures, objects, the addresses of links and the names of styles."""
_MOVED = frozenset({"footnote", "shptxt"})
"""Groups of notes and boxes."""
_BREAKS = frozenset({"par", "line", "sect", "page", "column", "cell", "nestcell", "row", "nestrow"})
_SYMBOLS_OF_TEXT = frozenset("~_-{}\\")
"""Behind a backslash: a blank, a hyphen and a place for one, and the characters of RTF itself."""


class RichText(NamedTuple):
    """The title that the author gave ("" if none), and the HTML."""

    title: str
    html: str


def read_rich_text(text: str) -> RichText:
    r"""The text of an RTF.

    Raises ValueError: striprtf is not installed, or it does not know a character set.

    >>> read_rich_text(r"{\rtf1 10{\super 6} of {\deleted 10}12 ships\par}")
    RichText(title='', html='<p>10<sup>6</sup> of 12 ships</p>')
    """
    try:
        from striprtf.striprtf import rtf_to_text
    except ModuleNotFoundError:
        raise ValueError("RTF needs striprtf: pip install striprtf") from None

    def to_text(rich_text: str) -> str:
        try:
            plain: str = rtf_to_text(rich_text, errors="replace")
        except LookupError as error:
            raise ValueError(f"a character set of the RTF is not known: {error}") from error
        # A character beyond U+FFFF is written as its two halves.
        return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    title = ""
    given_title = _TITLE.search(text)
    if given_title:
        code_page = _CODE_PAGE.search(text)
        title = to_text(rf"{{\rtf1\ansi{code_page[0] if code_page else ''} {given_title[1]}}}").strip()

    prepared = _Preparation().run(_MARK.sub("", text))
    return RichText(title, _to_page(to_text(prepared)))


# --- preparation ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Format:
    """What holds for the text that follows, until the group ends."""

    is_hidden: bool = False
    is_deleted: bool = False
    is_dropped: bool = False
    """In a group that holds no text."""
    is_raised: bool = False
    is_in_table: bool = False

    @property
    def is_shown(self) -> bool:
        return not (self.is_hidden or self.is_deleted or self.is_dropped)


@dataclass(slots=True)
class _Output:
    """RTF that was written, and which marks are open at its end."""

    pieces: list[str] = field(default_factory=list)
    is_raised: bool = False
    is_in_row: bool = False

    def mark(self, character: str) -> None:
        """Write a mark. In a group of its own it is not taken for the substitute of the character before it."""
        self.pieces.append(f"{{{character}}}")

    def write_text(self, token: str, form: _Format) -> None:
        """Write a token that shows text, with the marks that its format needs."""
        self.begin_row(form)
        if form.is_raised != self.is_raised:
            self.mark(RAISED if form.is_raised else NOT_RAISED)
            self.is_raised = form.is_raised
        self.pieces.append(token)

    def begin_row(self, form: _Format) -> None:
        """Mark where the text or the first cell of a row begins."""
        if form.is_in_table and not self.is_in_row:
            self.mark(_ROW_START)
        self.is_in_row = form.is_in_table

    def end_superscript(self) -> None:
        """A superscript ends with its line at the latest."""
        if self.is_raised:
            self.mark(NOT_RAISED)
            self.is_raised = False


class _Preparation:
    """Goes through the tokens of an RTF once."""

    def __init__(self) -> None:
        self._format = _Format()
        self._output = _Output()
        self._groups: list[tuple[_Format, _Output]] = []
        """Format and output of the groups around the token, the outermost first."""
        self._moved: list[_Output] = []
        """Notes and boxes that were found."""

    def run(self, text: str) -> str:
        """The prepared RTF."""
        from striprtf.striprtf import specialchars

        document = self._output
        position = 0
        while match := _TOKEN.search(text, position):
            position = match.end()
            token = match[0]
            if match["brace"] == "{":
                self._groups.append((self._format, self._output))
                self._output.pieces.append(token)
            elif match["brace"]:
                self._end_group(token)
            elif match["word"] == "bin":
                position += int(match["number"] or 0)  # as many bytes of a picture follow
            elif match["word"]:
                is_text = match["word"] == "u" or (match["word"] in specialchars and match["word"] not in _BREAKS)
                self._take_word(token, match["word"], match["number"], is_text=is_text)
            else:
                if match["symbol"] == r"\*":  # a group for programs that know it, such as a bookmark
                    self._format = replace(self._format, is_dropped=True)
                is_text = bool(match["hexadecimal"]) or (match["text"] or "").strip("\r\n") != ""
                self._write(token, is_text=is_text or token[1:] in _SYMBOLS_OF_TEXT)

        # The end of a document that was cut off.
        self._write_moved(document)
        return "".join(document.pieces)

    def _end_group(self, brace: str) -> None:
        if not self._groups:
            return
        if len(self._groups) == 1:
            self._write_moved(self._output)
        self._output.pieces.append(brace)
        self._format, self._output = self._groups.pop()

    def _write_moved(self, document: _Output) -> None:
        """Write the notes and boxes found so far, each as a paragraph."""
        for moved in self._moved:
            document.end_superscript()
            document.pieces.extend([r"\par\pard\plain{", *moved.pieces, "}"])
        self._moved.clear()

    def _write(self, token: str, *, is_text: bool) -> None:
        if not is_text:
            self._output.pieces.append(token)
        elif self._format.is_shown:
            self._output.write_text(token, self._format)

    def _take_word(self, token: str, word: str, number: str | None, *, is_text: bool) -> None:
        """Follow a control word, and write it unless a mark takes its place."""
        if word in _MOVED:
            self._output.pieces.append("}")
            self._format = _Format(is_hidden=self._format.is_hidden, is_deleted=self._format.is_deleted)
            self._output = _Output(["{"])  # closed by the brace that ends the group
            self._moved.append(self._output)
            return
        if word in _NOT_SHOWN:
            self._format = replace(self._format, is_dropped=True)
        self._format = _after_word(self._format, word, number)

        if word in _BREAKS:
            self._output.end_superscript()
        if word == "cell":
            self._output.begin_row(self._format)
            self._output.mark(_CELL_END)
        elif word == "row":
            self._output.mark(_ROW_END)
            self._output.is_in_row = False
        elif word == "column":
            self._output.pieces.append(r"\par ")
        elif word == "uc" and number is None:
            self._output.pieces.append(r"\uc1 ")
        else:
            self._write(token, is_text=is_text)


def _after_word(form: _Format, word: str, number: str | None) -> _Format:
    """The format behind a control word. A number of 0 switches off."""
    is_on = number != "0"
    match word:
        case "v":
            changes = {"is_hidden": is_on}
        case "deleted" | "strike" | "striked":
            changes = {"is_deleted": is_on}
        case "super" | "up":
            changes = {"is_raised": is_on}
        case "sub" | "dn" | "nosupersub":
            changes = {"is_raised": False}
        case "plain":
            changes = {"is_hidden": False, "is_deleted": False, "is_raised": False}
        case "intbl" | "pard":
            changes = {"is_in_table": word == "intbl"}
        case _:
            return form
    return replace(form, **changes)


# --- HTML -------------------------------------------------------------------------------------------------------------


def _to_page(text: str) -> str:
    """Paragraphs and tables of text with marks."""
    blocks: list[str] = []
    rows: list[Row] = []
    *parts_with_row, rest = text.split(_ROW_END)
    for part in parts_with_row:
        before, row = _split_row(part)
        # Even a blank paragraph parts two tables.
        if before.strip() or "\n" in before:
            blocks.extend(_table(rows))
            blocks.extend(_paragraphs(before))
            rows = []
        rows.append(row)

    blocks.extend(_table(rows))
    blocks.extend(_paragraphs(rest))
    markup = "\n".join(blocks)
    return mark_table_heads(markup) if parts_with_row else markup


def _split_row(part: str) -> tuple[str, Row]:
    """The text before a row, and its cells."""
    before, mark, cells = part.partition(_ROW_START)
    if not mark:
        # A program that does not say which paragraphs are in a table: the row begins with the line of its first cell.
        first_cell = part.partition(_CELL_END)[0]
        start = first_cell.rfind("\n") + 1
        before, cells = part[:start], part[start:]

    *row, behind_last_cell = cells.split(_CELL_END)
    if behind_last_cell.strip():
        row.append(behind_last_cell)
    return before, row


def _table(rows: list[Row]) -> list[str]:
    """Rows of cells as a table; none for no rows."""
    if not rows:
        return []
    lines = []
    for row in rows:
        cells = "".join(f"<td>{'<br>'.join(_lines(cell))}</td>" for cell in row)
        lines.append(f"<tr>{cells}</tr>")
    return [f"<table>{''.join(lines)}</table>"]


def _paragraphs(text: str) -> list[str]:
    """HTML with a paragraph for each line."""
    return [f"<p>{line}</p>" for line in _lines(text)]


def _lines(text: str) -> list[str]:
    """The lines that are not blank, as HTML."""
    lines = []
    for line in text.splitlines():
        markup = to_html(_OTHER_MARK.sub(" ", line).strip())
        if markup:
            lines.append(markup)
    return lines
