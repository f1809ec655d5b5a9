"""The one error of the language, and how the named fault of an unreadable text is found.

Brackets and quotes are checked first, because they mislead every parser.
"""

import enum
import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from lark import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from agents.kg.language.syntax import terminal

_CLOSERS = {"(": ")", "[": "]"}
_HALF_WIDTH = str.maketrans("（）［］【】", "()[][]")
_QUOTES = "\"'“”„«»‘’‚"
_CALL = re.compile(r"\w[(（]|\bget_\w", re.IGNORECASE)
"""Marks of a call: a word directly before a bracket, or the beginning of a table's name."""

_READABLE = {
    "NAME": "a call",
    "TEXT": "a text in quotes",
    "WORD": "a word",
    "STAR": "*",
    "OPEN_LIST": "[",
    "_OPEN": "(",
    "_CLOSE": ")",
    "_CLOSE_LIST": "]",
    "_COMMA": "a comma",
    "_COLON": ":",
    "COMPARISON": "a comparison",
    "AVERAGE": "average",
    "NONE": "None",
    "$END": "the end",
}
"""Terminals that a message names; the others are slips that are read but not recommended."""

_AFTER_STATEMENT = frozenset({"_CLOSE", "_CLOSE_LIST", "_COMMA"})
"""Expected together only where the parser skips them."""


class ErrorKind(enum.StrEnum):
    """What is wrong, by name; counts of these say what a tuned writer still has to learn."""

    PROSE = "prose"
    UNKNOWN_TABLE = "unknown_table"
    UNKNOWN_KEY = "unknown_key"
    MISSING_BRACKET = "missing_bracket"
    EXTRA_BRACKET = "extra_bracket"
    UNTERMINATED_STRING = "unterminated_string"
    WRONG_ARGUMENT = "wrong_argument"
    NOTHING_BEFORE = "nothing_before"
    TOO_LONG = "too_long"
    TOO_DEEP = "too_deep"
    TOO_MANY_STATEMENTS = "too_many_statements"
    SYNTAX = "syntax"


@dataclass(frozen=True, slots=True)
class Fault:
    """Where a program is wrong: `position` counts characters from 0, `line` and `column` from 1."""

    kind: ErrorKind
    message: str
    text: str
    position: int
    line: int
    column: int

    @property
    def caret(self) -> str:
        """The faulty line with a caret under the place."""
        lines = self.text.splitlines() or [""]
        line = lines[min(self.line, len(lines)) - 1]
        start = max(0, self.column - 60)
        shown = line[start : self.column + 40]
        return f"{shown}\n{' ' * (self.column - 1 - start)}^"


class KgQueryError(ValueError):
    """The only error that reading a program raises; `fault` says all of it."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(f"{fault.kind}: {fault.message} (line {fault.line}, column {fault.column})\n{fault.caret}")
        self.fault = fault


def error(kind: ErrorKind, message: str, text: str, position: int) -> KgQueryError:
    """The error for a place in a text."""
    before = (text[:position] + "|").splitlines()
    return KgQueryError(Fault(kind, message, text, position, line=len(before), column=len(before[-1])))


@functools.cache
def _mark_pattern() -> re.Pattern[str]:
    """Texts, call names and words first, so that brackets and quotes inside them do not count."""
    return re.compile(
        f"(?P<text>{terminal('TEXT')})|(?P<call>{terminal('NAME')})|(?P<word>{terminal('WORD')})"
        rf"|(?P<mark>[()（）\[\]［］【】{_QUOTES}])"
    )


@dataclass(frozen=True, slots=True)
class _Mark:
    """A bracket, a quote that opens no text, or (`call`) a name before a bracket."""

    character: str
    position: int


def _marks(text: str) -> Iterator[_Mark]:
    for match in _mark_pattern().finditer(text):
        if match.lastgroup == "call":
            yield _Mark("call", match.start())
        elif match.lastgroup == "mark":
            yield _Mark(match[0].translate(_HALF_WIDTH), match.start())


def depth_fault(text: str, limit: int) -> KgQueryError | None:
    """The fault of brackets nested deeper than `limit`."""
    depth = 0
    for mark in _marks(text):
        if mark.character in _CLOSERS:
            depth += 1
        elif mark.character in ")]":
            depth = max(0, depth - 1)
        if depth > limit:
            return error(ErrorKind.TOO_DEEP, f"at most {limit} brackets may be open at once", text, mark.position)
    return None


def bracket_fault(text: str) -> KgQueryError | None:
    """The first bracket that is missing or too many, or quote that is not closed.

    Closing brackets after a complete statement are not among them: the parser passes over those.
    """
    awaited: list[str] = []
    for mark in _marks(text):
        kind, place = None, mark.position
        if mark.character == "call":
            if awaited and _begins_new_line(text, mark.position):
                kind, place = ErrorKind.MISSING_BRACKET, len(text[: mark.position].rstrip())
        elif mark.character in _CLOSERS:
            awaited.append(_CLOSERS[mark.character])
        elif mark.character not in ")]":
            return error(ErrorKind.UNTERMINATED_STRING, "this quote is never closed", text, mark.position)
        elif awaited and mark.character == awaited[-1]:
            awaited.pop()
        elif awaited:
            kind = ErrorKind.MISSING_BRACKET if mark.character in awaited else ErrorKind.EXTRA_BRACKET
        elif text[mark.position + 1 :].lstrip().startswith(("[", "［", "【")):
            kind = ErrorKind.EXTRA_BRACKET
        if kind is ErrorKind.EXTRA_BRACKET:
            return error(kind, f"nothing is open that {mark.character} closes", text, place)
        if kind is ErrorKind.MISSING_BRACKET:
            return error(kind, f"{awaited[-1]} is missing here", text, place)
    if awaited:
        return error(ErrorKind.MISSING_BRACKET, f"{awaited[-1]} is missing here", text, len(text.rstrip()))
    return None


def _begins_new_line(text: str, position: int) -> bool:
    """Whether a line begins there that does not carry on a list of the line before."""
    before = text[:position].rstrip()
    return "\n" in text[len(before) : position] and not before.endswith((",", "，", "、", "(", "（", "[", "［", "【"))


def name_fault(text: str, raised: UnexpectedInput) -> KgQueryError:
    """What kind of fault made the parser stop."""
    if not _CALL.search(text):
        return prose(text)
    fault = bracket_fault(text)
    if fault is not None:
        return fault
    position = _position(text, raised)
    found = text[position : position + 20].split(maxsplit=1)
    shown = f"{found[0]!r} cannot stand here" if found else "the text stops too early"
    names = _expected(raised)
    if names >= _AFTER_STATEMENT:
        names -= _AFTER_STATEMENT
    expected = [_READABLE[name] for name in sorted(names) if name in _READABLE]
    return error(ErrorKind.SYNTAX, f"{shown}; expected {', '.join(expected) or 'nothing more'}", text, position)


def prose(text: str) -> KgQueryError:
    """The fault of a text without any call."""
    start = len(text) - len(text.lstrip())
    return error(ErrorKind.PROSE, "no call here; write calls, one a line, or None", text, start)


def _position(text: str, raised: UnexpectedInput) -> int:
    if isinstance(raised, UnexpectedToken) and raised.token.type == "$END":
        return len(text.rstrip())
    return min(raised.pos_in_stream or 0, len(text))


def _expected(raised: UnexpectedInput) -> set[str]:
    if isinstance(raised, UnexpectedToken):
        return set(raised.accepts or raised.expected)
    if isinstance(raised, UnexpectedCharacters):
        return set(raised.allowed or ())
    return set()
