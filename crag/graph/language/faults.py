"""The language's one error, and the diagnosis of unreadable text: brackets and quotes first, as they mislead."""

import enum
import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass

from lark import UnexpectedInput

from crag.graph.language.syntax import terminal

_CLOSERS = {"(": ")", "[": "]"}
_HALF_WIDTH = str.maketrans("（）［］【】", "()[][]")
_CALL = re.compile(r"\w[(（]|\bget_\w", re.IGNORECASE)
"""Signs of a call: a word directly before a bracket, or the start of a table's name."""
_CONTEXT_BEFORE = 60
_CONTEXT_AFTER = 40
"""Characters around an error that its caret line shows."""
_EXPECTED_BY_A_LIST = (",", "，", "、", "(", "（", "[", "［", "【")
"""What a line ends with if its list goes on in the next line."""


class ErrorKind(enum.StrEnum):
    """The kind of error; counts show what a tuned writer still has to learn."""

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
    """Where a program is wrong: `line` and `column` count from 1, `caret` is the line with a caret under the column."""

    kind: ErrorKind
    message: str
    line: int
    column: int
    caret: str


class KgQueryError(ValueError):
    """The only error that parsing raises; `fault` has the details."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(f"{fault.kind}: {fault.message} (line {fault.line}, column {fault.column})\n{fault.caret}")
        self.fault = fault


def error(
    kind: ErrorKind,
    message: str,
    text: str,
    position: int,
) -> KgQueryError:
    """The error at a position, an index into `text`."""
    # The mark makes a position after a line break count as the beginning of the next line.
    lines_before = (text[:position] + "|").splitlines()
    line = len(lines_before)
    column = len(lines_before[-1])

    # A long line is shown around the error only, and the caret moves with it
    start = max(0, column - _CONTEXT_BEFORE)
    lines = text.splitlines() or [""]
    faulty_line = lines[min(line, len(lines)) - 1]
    excerpt = faulty_line[start : column + _CONTEXT_AFTER]
    indent = " " * (column - 1 - start)
    return KgQueryError(Fault(kind, message, line, column, f"{excerpt}\n{indent}^"))


@functools.cache
def _mark_pattern() -> re.Pattern[str]:
    """Match strings, call names and words first, so that brackets and quotes inside them do not count."""
    return re.compile(
        f"(?P<text>{terminal('TEXT')})|(?P<call>{terminal('NAME')})|(?P<word>{terminal('WORD')})"
        rf"|(?P<mark>[()（）\[\]［］【】\"'“”„«»‘’‚])"
    )


def _marks(text: str) -> Iterator[tuple[str, int]]:
    """The brackets, stray quotes and names before a bracket (as `call`), with their positions."""
    for match in _mark_pattern().finditer(text):
        if match.lastgroup == "call":
            yield "call", match.start()
        elif match.lastgroup == "mark":
            yield match[0].translate(_HALF_WIDTH), match.start()


def depth_fault(text: str, limit: int) -> KgQueryError | None:
    """The error for brackets nested deeper than `limit`."""
    depth = 0
    for mark, position in _marks(text):
        if mark in _CLOSERS:
            depth += 1
        elif mark in ")]":
            # A stray closing bracket must not make room for a deeper nesting later
            depth = max(0, depth - 1)
        if depth > limit:
            return error(
                ErrorKind.TOO_DEEP,
                f"at most {limit} brackets may be open at once",
                text,
                position,
            )
    return None


def bracket_fault(text: str) -> KgQueryError | None:
    """The first missing or extra bracket, or unclosed quote.

    Closing brackets after a complete statement do not count: the parser skips them.
    """
    awaited: list[str] = []  # the closing brackets that are still to come, the next one last
    is_first = True
    for mark, position in _marks(text):
        if mark == "call":
            # A call on a new line cannot stand in the open brackets of the line before
            if awaited and _begins_new_line(text, position):
                end_of_line_before = len(text[:position].rstrip())
                return _missing_bracket(awaited[-1], text, end_of_line_before)
        elif mark in _CLOSERS:
            awaited.append(_CLOSERS[mark])
            is_first = False
        elif mark not in ")]":
            return error(
                ErrorKind.UNTERMINATED_STRING,
                "this quote is never closed",
                text,
                position,
            )
        elif awaited and mark == awaited[-1]:
            awaited.pop()
        # "([)": the square bracket is missing, the round one is right
        elif mark in awaited:
            return _missing_bracket(awaited[-1], text, position)
        elif awaited or is_first or _next_is_key(text, position):
            return error(
                ErrorKind.EXTRA_BRACKET,
                f"nothing is open that {mark} closes",
                text,
                position,
            )

    if awaited:
        return _missing_bracket(awaited[-1], text, len(text.rstrip()))
    return None


def _next_is_key(text: str, position: int) -> bool:
    """Whether a square bracket follows the mark: the statement goes on."""
    following = text[position + 1 :].lstrip()
    return following.startswith(("[", "［", "【"))


def _missing_bracket(bracket: str, text: str, position: int) -> KgQueryError:
    return error(
        ErrorKind.MISSING_BRACKET,
        f"{bracket} is missing here",
        text,
        position,
    )


def _begins_new_line(text: str, position: int) -> bool:
    """Whether a new line starts there that does not continue the previous line's list."""
    before = text[:position].rstrip()
    return "\n" in text[len(before) : position] and not before.endswith(_EXPECTED_BY_A_LIST)


def syntax_fault(text: str, raised: UnexpectedInput) -> KgQueryError:
    """The fault that stopped the parser, with what lark expected there."""
    if not _CALL.search(text):
        return prose(text)
    # Lark stumbles over a missing bracket far from its place
    fault = bracket_fault(text)
    if fault is not None:
        return fault

    position = min(raised.pos_in_stream or 0, len(text.rstrip()))
    next_words = text[position : position + 20].split(maxsplit=1)
    problem = f"{next_words[0]!r} cannot stand here" if next_words else "the text stops too early"
    return error(
        ErrorKind.SYNTAX,
        f"{problem}; expected {_expected_by_lark(raised)}",
        text,
        position,
    )


def _expected_by_lark(raised: UnexpectedInput) -> str:
    """The grammar's terminals that could follow, in words: "close, comma"."""
    # `accepts` is more precise, but only errors of the parser have it; those of the lexer have `expected`.
    terminals: set[str] = getattr(raised, "accepts", None) or getattr(raised, "expected", None) or set()

    # Lark's own terminals begin with a dollar sign: the end of the text.
    names: list[str] = []
    for terminal_name in terminals:
        if not terminal_name.startswith("$"):
            words = terminal_name.strip("_").lower()
            names.append(words.replace("_", " "))
    return ", ".join(sorted(names)) or "nothing more"


def prose(text: str) -> KgQueryError:
    """The fault of a text without calls, such as an answer or an apology."""
    start = len(text) - len(text.lstrip())
    return error(
        ErrorKind.PROSE,
        "no call here; write calls, one a line, or None",
        text,
        start,
    )
