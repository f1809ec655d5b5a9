"""Texts that only a sheet holds (`content`), with the attributes and counters in them (CSS 2.2, 12)."""

import re
import sys
import unicodedata
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from crag.web.extract.number_styles import SHOWN


class Attribute(NamedTuple):
    """The value of an attribute: ``attr(data-unit)``."""

    name: str


class Counter(NamedTuple):
    """The count of a counter: ``counter(part)``. With a separator also those outside of it: ``counters(part, ".")``."""

    name: str
    style: str
    separator: str | None = None


Piece = str | Attribute | Counter
"""Of a generated text."""


class Change(NamedTuple):
    """What an element does to a counter: begins it with a number, or adds one."""

    counter: str
    number: int
    begins: bool


_STRING = r"""(?:"((?>(?:[^"\\]|\\.){0,200}))"|'((?>(?:[^'\\]|\\.){0,200}))')"""
_NAME = r"-?[A-Za-z_][\w-]{0,80}"
_PIECE = re.compile(
    rf"""
    {_STRING}
    | attr \( \s* (?P<attribute> {_NAME} ) \s* \)
    | counter \( \s* (?P<counter> {_NAME} ) \s* (?: , \s* (?P<style> [a-z-]{{1,40}} ) \s* )? \)
    | counters \( \s* (?P<counters> {_NAME} ) \s* , \s* (?P<separator> {_STRING} ) \s*
      (?: , \s* (?P<styles> [a-z-]{{1,40}} ) \s* )? \)
    | (?P<quote> open | close ) -quote
    """,
    re.VERBOSE | re.DOTALL,
)
_QUOTATION_MARKS = {"open": "“", "close": "”"}
_MAX_CHARACTERS = 1_000
"""Of what a sheet writes, and of the text that this makes."""
_MOST_BEGUN_AT_ONCE = 50
"""Counters: where more begin at one depth, those of the first are begun once more."""
_ESCAPE = re.compile(r"\\(?:([0-9a-fA-F]{1,6})\s?|(.))", re.DOTALL)
_CHANGE = re.compile(rf"({_NAME})(?:\s+([-+]?\d{{1,9}}))?(?!\S)")


# --- reading ----------------------------------------------------------------------------------------------------------


def read_content(value: str) -> tuple[Piece, ...]:
    """The pieces of ``"No. " counter(part) attr(title)``; none for pictures and characters of an icon font."""
    pieces: list[Piece] = []
    rest = value[:_MAX_CHARACTERS]
    while found := _PIECE.match(rest):
        pieces.append(_read_piece(found))
        rest = rest[found.end() :].lstrip()
    is_read = rest[:1] in ("", "/")  # behind the slash is what screen readers say
    has_icons = any(isinstance(piece, str) and _is_icon(piece) for piece in pieces)
    return tuple(pieces) if is_read and not has_icons else ()


def _read_piece(found: re.Match[str]) -> Piece:
    if found["attribute"]:
        return Attribute(found["attribute"].lower())
    if found["counter"]:
        return Counter(found["counter"], found["style"] or "decimal")
    if found["counters"]:
        return Counter(found["counters"], found["styles"] or "decimal", _read_string(found["separator"][1:-1]))
    if found["quote"]:
        return _QUOTATION_MARKS[found["quote"]]
    return _read_string(found[1] or found[2] or "")


def _read_string(written: str) -> str:
    return _ESCAPE.sub(_read_escape, written)


def _read_escape(escape: re.Match[str]) -> str:
    if not escape[1]:
        return "" if escape[2] == "\n" else escape[2]
    number = int(escape[1], 16)
    return chr(number) if 0 < number <= sys.maxunicode else "\ufffd"


def _is_icon(text: str) -> bool:
    return any(unicodedata.category(character) in ("Co", "Cs", "Cn") for character in text)


def read_changes(declarations: Mapping[str, str]) -> tuple[Change, ...]:
    """What declarations do to counters, in the order in which a browser does it.

    Example:
        read_changes({"counter-reset": "part", "counter-increment": "chapter 2"})
        # (Change("part", 0, begins=True), Change("chapter", 2, begins=False))
    """
    changes = []
    for name, number, begins in (("counter-reset", 0, True), ("counter-increment", 1, False)):
        for counter, written in _CHANGE.findall(declarations.get(name, "")):
            if counter.lower() != "none":
                changes.append(Change(counter, int(written) if written else number, begins))
    return tuple(changes)


# --- writing ----------------------------------------------------------------------------------------------------------


class Counters:
    """The counters of a page while it is read in order.

    A counter that an element begins is that of the elements behind it inside of its parent, and of all in them.
    """

    def __init__(self) -> None:
        self.are_used = False
        self._counts: dict[str, list[int]] = {}
        """The name of each counter -> its counts, the outermost first."""
        self._begun: list[tuple[int, str]] = []
        """The depths at which counters were begun, in order."""

    def change(self, changes: Sequence[Change], depth: int) -> None:
        """Change counters as an element does at a depth of the tree."""
        for counter, number, begins in changes:
            self.are_used = True
            counts = self._counts.setdefault(counter, [])
            if begins and (depth, counter) in self._begun[-_MOST_BEGUN_AT_ONCE:]:
                counts[-1] = number
            elif begins or not counts:
                counts.append(number)
                self._begun.append((depth, counter))
            else:
                counts[-1] += number

    def close(self, depth: int) -> None:
        """End the counters that were begun inside of an element at a depth."""
        while self._begun and self._begun[-1][0] > depth:
            _, counter = self._begun.pop()
            self._counts[counter].pop()

    def counts_of(self, counter: str) -> list[int]:
        """Its counts, that of the innermost last; 0 for one that nothing has begun."""
        return self._counts.get(counter) or [0]


def write_content(pieces: Sequence[Piece], attributes: Mapping[str, str | None], counters: Counters) -> str:
    """The text of a generated content of an element with these attributes; "" if a style of numbers is not known."""
    texts = []
    for piece in pieces:
        if isinstance(piece, Attribute):
            texts.append((attributes.get(piece.name) or "")[:_MAX_CHARACTERS])
        elif isinstance(piece, Counter):
            show = SHOWN.get(piece.style)
            if show is None:
                return ""
            counts = counters.counts_of(piece.name)
            texts.append(show(counts[-1]) if piece.separator is None else piece.separator.join(map(show, counts)))
        else:
            texts.append(piece)
    return "".join(texts)[:_MAX_CHARACTERS]
