"""The one error of the language: data that a person, a log and the writer's repair prompt can use."""

import enum
from dataclasses import dataclass


class ErrorKind(enum.StrEnum):
    """What is wrong, by name; counts of these tell what a tuned writer still has to learn."""

    PROSE = "prose"
    """No call at all, but sentences."""
    UNKNOWN_TABLE = "unknown_table"
    UNKNOWN_KEY = "unknown_key"
    MISSING_BRACKET = "missing_bracket"
    EXTRA_BRACKET = "extra_bracket"
    UNTERMINATED_STRING = "unterminated_string"
    WRONG_ARGUMENT = "wrong_argument"
    """Too many arguments, or one of the wrong kind."""
    NOTHING_BEFORE = "nothing_before"
    """`sort`, `average` or `*` in the first statement."""
    TOO_LONG = "too_long"
    TOO_DEEP = "too_deep"
    TOO_MANY_STATEMENTS = "too_many_statements"
    SYNTAX = "syntax"
    """Anything else that cannot be read."""


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
