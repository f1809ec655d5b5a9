"""The text of an RTF: body, notes and boxes; without deleted and hidden text."""

import re
from dataclasses import replace
from typing import NamedTuple

from crag.asking.marked_tables import mark_table_heads
from crag.asking.rtf.code_pages import CODECS_OF_CHARACTER_SETS, DEFAULT, codec_of_code_page
from crag.asking.rtf.destinations import EQUATIONS, FLOWS, READ_IF_OPTIONAL, SKIPPED
from crag.asking.rtf.flow import Blocks, Flow, blocks_to_html, join_text
from crag.asking.rtf.fonts import Fonts, codec_of_font_name
from crag.asking.rtf.merged_cells import CellPlace
from crag.asking.rtf.state import State, after_word
from crag.asking.rtf.tokens import Kind, Token, from_first_brace, read_tokens
from crag.asking.rtf.writing import PRIVATE_USE, Writer

_CODE_PAGE = re.compile(r"\\ansicpg(\d{1,5})")
_HEADER_BYTES = 4096
# In instructions of fields, whose words have one blank between them.
_SYMBOL_FIELD = re.compile(r"\ASYMBOL (\d{1,5})\b", re.IGNORECASE)
_SYMBOL_FIELD_FONT = re.compile(r'\\f "?([^"\\]{1,50})', re.IGNORECASE)
_EQUATION_FIELD = re.compile(r"\AEQ ", re.IGNORECASE)
_LAST_CHARACTER = 0x10FFFF
_ROUND_BULLET = "o"
"""Word's bullet of the second level, a letter of the font Courier New."""

_CHARACTERS = {
    "tab": "\t", "emdash": "—", "endash": "–", "emspace": "\u2003", "enspace": "\u2002", "qmspace": "\u2005",
    "bullet": "•", "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”",
    # Lines that the program broke because they were full.
    "softline": " ", "softpage": " ", "softcol": " ",
}  # fmt: skip
_SYMBOLS = {b"~": "\xa0", b"_": "\u2011", b"\t": "\t"}
_TABLE_WORDS = frozenset({"cell", "nestcell", "trowd", "row", "nestrow"})
_PARAGRAPH_SYMBOLS = frozenset({b"\r", b"\n"})


class RichText(NamedTuple):
    """The title that the author gave ("" if none), the HTML, and a note on what is not read ("" if nothing)."""

    title: str
    html: str
    note: str = ""


def read_rich_text(content: bytes) -> RichText:
    r"""The text of an RTF.

    >>> read_rich_text(rb"{\rtf1 10{\super 6} of {\deleted 10}12 ships\par}").html
    '<p>10<sup>6</sup> of 12 ships</p>'
    """
    reader = _Reader(from_first_brace(content))
    reader.read()
    markup = "\n".join(filter(None, map(blocks_to_html, reader.find_flows())))
    if "<table>" in markup:
        markup = mark_table_heads(markup)
    return RichText(join_text(reader.find_title()), markup, reader.find_note())


def _is_utf_8(content: bytes) -> bool:
    """Whether a program wrote UTF-8, against the specification."""
    if content.isascii():
        return False
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


class _Reader:
    """Goes through the tokens of an RTF once."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._is_utf_8 = _is_utf_8(content)
        code_page = _CODE_PAGE.search(content[:_HEADER_BYTES].decode("latin-1"))
        self._code_page = int(code_page[1]) if code_page else 0
        self._writer = Writer()
        self._fonts = Fonts(codec_of_code_page(self._code_page) or DEFAULT)
        self._body = Flow()
        self._title = Flow()
        self._flows: list[Flow] = [self._body]
        """The body, then notes and boxes."""

        self._state = State(self._body)
        self._groups: list[State] = []
        """The states of the groups around the token, the outermost first."""
        self._is_optional = False
        r"""Behind `\*`."""
        self._substitutes_left = 0
        """Bytes to skip, because the character before them was read."""

        self._cell = CellPlace(0)
        """What was said of the next cell of the row that is defined."""
        self._equations = 0
        self._ending = ""
        """What is wrong with the end of the file."""

    def read(self) -> None:
        """Read all tokens."""
        tokens = read_tokens(self._content, 0 if self._is_utf_8 else self._code_page)
        for token in tokens:
            self._take(token)
            if token.kind is Kind.GROUP_END and not self._groups:
                break

        self._writer.flush()
        if self._groups:
            self._ending = "it is cut off: the brace that ends it is missing"
        elif any(token.kind is Kind.WORD or token.content.strip(b" \t\x1a") for token in tokens):
            self._ending = "what stands behind the brace that ends the document is not read"

    def find_flows(self) -> list[Blocks]:
        """The body, then each note and box."""
        return [flow.finish() for flow in self._flows]

    def find_title(self) -> Blocks:
        """The title that the author gave."""
        return self._title.finish()

    def find_note(self) -> str:
        """What is not read; "" if nothing."""
        notes = []
        if self._equations:
            notes.append(f"equations are not read: {self._equations}")
        if self._writer.picture_signs:
            notes.append(f"signs of fonts of pictures are not read: {self._writer.picture_signs}")
        if self._ending:
            notes.append(self._ending)
        return "; ".join(notes)

    # --- tokens ---

    def _take(self, token: Token) -> None:
        if token.kind is Kind.GROUP_START:
            self._groups.append(self._state)
            self._substitutes_left = 0
        elif token.kind is Kind.GROUP_END:
            self._end_group()
        elif self._state.is_skipped:
            return
        elif token.kind is Kind.WORD:
            self._take_word(token.word, token.number)
        elif token.kind is Kind.SYMBOL:
            self._take_symbol(token.content)
        else:
            self._take_text(token)

    def _end_group(self) -> None:
        self._substitutes_left = 0
        self._is_optional = False
        if not self._groups:
            return
        ended = self._state
        self._state = self._groups.pop()
        if ended.is_instruction and not self._state.is_instruction and ended.flow is not None:
            self._writer.flush()
            self._follow_instruction(join_text(ended.flow.finish()))
        if ended.is_list_mark and not self._state.is_list_mark and ended.flow is not None:
            self._writer.flush()
            self._write_list_number(join_text(ended.flow.finish()), ended)

    def _take_symbol(self, symbol: bytes) -> None:
        if symbol == b"*":
            self._is_optional = True
        elif symbol in _PARAGRAPH_SYMBOLS:
            self._end_paragraph()
        elif symbol in _SYMBOLS and not self._is_substitute():
            self._writer.write(_SYMBOLS[symbol], self._state)

    def _take_text(self, token: Token) -> None:
        content = token.content
        if self._state.is_font_table:
            self._fonts.take_name(content)
            return
        skipped = min(self._substitutes_left, len(content))
        self._substitutes_left -= skipped
        content = content[skipped:]

        is_utf_8 = self._is_utf_8 and token.kind is Kind.TEXT and not content.isascii()
        codec = "utf-8" if is_utf_8 else self._fonts.find_codec(self._state.font)
        self._writer.write_bytes(content, codec, self._state)

    def _take_word(self, word: str, number: int | None) -> None:
        is_optional = self._is_optional
        self._is_optional = False

        if word in SKIPPED or (is_optional and word not in READ_IF_OPTIONAL):
            self._skip_group()
        elif self._state.is_font_table:
            self._fonts.take_word(word, number)
        elif word in _CHARACTERS:
            if not self._is_substitute():
                self._writer.write(_CHARACTERS[word], self._state)
        elif word == "u":
            self._take_unicode(number)
        else:
            self._substitutes_left = 0
            is_taken = (
                self._begin_destination(word)
                or self._take_header(word, number)
                or self._take_break(word)
                or self._take_table_word(word)
                or self._take_cell_word(word, number)
            )
            if not is_taken:
                self._state = after_word(self._state, word, number)

    # --- groups ---

    def _skip_group(self) -> None:
        self._state = replace(self._state, is_skipped=True)

    def _begin_destination(self, word: str) -> bool:
        """Follow a word that says what the group holds; False if it is another word."""
        state = self._state
        if word in FLOWS:
            self._begin_flow()
        elif word == "title" and state.is_info:
            self._state = state.in_flow(self._title)
        elif word == "info":
            self._state = state.in_info()
        elif word == "fonttbl":
            self._state = replace(state, flow=None, is_font_table=True)
        elif word == "upr":
            self._state = replace(state, flow=None, is_info=False, before_upr=state)
        elif word == "ud" and state.before_upr is not None:
            self._state = state.before_upr
        elif word == "fldinst":
            self._state = replace(state.in_flow(Flow()), is_instruction=True)
        elif word == "fldrslt" and state.is_symbol_field:
            self._skip_group()
        elif word in {"listtext", "pntext"} and state.flow is not None:
            self._state = replace(state, flow=Flow(), is_list_mark=True)
        elif word in EQUATIONS:
            self._equations += state.is_shown
            self._skip_group()
        else:
            return False
        return True

    def _begin_flow(self) -> None:
        """Begin a note or a box, if it is shown where it is mentioned."""
        if not self._state.is_shown:
            self._skip_group()
            return
        flow = Flow()
        self._flows.append(flow)
        self._state = self._state.in_flow(flow)

    def _follow_instruction(self, instruction: str) -> None:
        """A field that is a sign, or an equation, has no other text."""
        symbol = _SYMBOL_FIELD.match(instruction)
        if symbol is not None:
            font = _SYMBOL_FIELD_FONT.search(instruction)
            codec = (font and codec_of_font_name(font[1])) or self._fonts.default_codec
            self._writer.write_symbol(int(symbol[1]), codec, self._state)
            self._state = replace(self._state, is_symbol_field=True)
        elif _EQUATION_FIELD.match(instruction):
            self._equations += self._state.is_shown

    def _write_list_number(self, mark: str, marked: State) -> None:
        """Write the number of a list. A sign such as a bullet tells nothing, and lists of other files show none."""
        is_number = any(map(str.isalnum, mark)) and mark != _ROUND_BULLET
        if is_number:
            # The words that end the paragraph before may come behind the mark.
            self._writer.write(f"{mark} ", replace(self._state, table_level=marked.table_level))

    # --- control words ---

    def _take_header(self, word: str, number: int | None) -> bool:
        """Follow a word that holds for the whole file; False if it is another word."""
        if word in CODECS_OF_CHARACTER_SETS:
            # A code page is more exact.
            if codec_of_code_page(self._code_page) is None:
                self._fonts.default_codec = CODECS_OF_CHARACTER_SETS[word]
        elif word == "deff":
            self._fonts.default_font = number
        else:
            return False
        return True

    def _take_break(self, word: str) -> bool:
        """Follow a word that ends a line, a paragraph or a page; False if it is another word."""
        match word:
            case "par" | "sect":
                self._end_paragraph()
            case "line" | "lbr" | "page" | "column":
                flow = self._state.flow
                if flow is not None and self._state.has_breaks:
                    self._writer.flush()
                    if word in {"line", "lbr"}:
                        flow.break_line()
                    else:
                        flow.break_page(self._state.table_level)
            case _:
                return False
        return True

    def _take_cell_word(self, word: str, number: int | None) -> bool:
        """Follow a word that says where a cell is; False if it is another word."""
        match word:
            case "clmrg":
                self._cell = self._cell._replace(is_covered_from_left=True)
            case "clvmrg":
                self._cell = self._cell._replace(is_covered_from_above=True)
            case "cellx":
                if self._state.flow is not None:
                    place = self._cell._replace(right_edge=number or 0)
                    self._state.flow.define_cell(self._state.table_level, place)
                self._cell = CellPlace(0)
            case _:
                return False
        return True

    def _take_table_word(self, word: str) -> bool:
        """Follow a word that ends a cell or a row, or defines a row; False if it is another word."""
        if word not in _TABLE_WORDS:
            return False
        flow = self._state.flow
        if flow is None:
            return True

        self._writer.flush()
        level = self._state.table_level
        match word:
            case "cell":
                flow.end_cell(min(level, 1))
            case "nestcell":
                flow.end_cell(max(level, 2))
            case "trowd":
                self._cell = CellPlace(0)
                flow.define_row(level)
            case "row":
                flow.end_row(1)
            case "nestrow":
                flow.end_row(max(level, 2))
        return True

    def _end_paragraph(self) -> None:
        if self._state.flow is not None and self._state.has_breaks:
            self._writer.flush()
            self._state.flow.end_paragraph(self._state.table_level)

    # --- characters ---

    def _take_unicode(self, number: int | None) -> None:
        """Write a character of Unicode, or one of the two halves of a character beyond U+FFFF."""
        self._substitutes_left = self._state.substitutes
        if number is None:
            return
        code = number + 0x10000 if number < 0 else number
        if code in PRIVATE_USE:
            self._writer.write_symbol(code, self._fonts.find_symbol_codec(self._state.font), self._state)
        else:
            self._writer.write(chr(code) if 0 <= code <= _LAST_CHARACTER else "\ufffd", self._state)

    def _is_substitute(self) -> bool:
        """Whether the next character only stands for the one before it."""
        if not self._substitutes_left:
            return False
        self._substitutes_left -= 1
        return True
