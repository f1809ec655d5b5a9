"""Parses text by the lenient form of `calls.lark`, without the schema."""

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from lark import Lark, Token, Transformer

_GRAMMAR = Path(__file__).with_name("calls.lark").read_text(encoding="utf-8")
CANONICAL = _GRAMMAR.split("// ---- 2. lenient", maxsplit=1)[0]
"""The part of the grammar for printing and generation; parsing uses the whole grammar."""

_ESCAPE = re.compile(r"\\([\"'”’\\])")


@dataclass(frozen=True, slots=True)
class Text:
    """A name, number, key or `None`, in quotes or bare."""

    text: str
    quoted: bool
    position: int


@dataclass(frozen=True, slots=True)
class Star:
    """`*`."""

    position: int


@dataclass(frozen=True, slots=True)
class Group:
    """Arguments in square brackets."""

    items: "tuple[Slot, ...]"
    position: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """`year >= 2012`; a star precedes commas and closing brackets only, so it is never on the left."""

    left: Text
    operator: str
    right: Text | Star
    position: int


@dataclass(frozen=True, slots=True)
class Selected:
    """`["name"]`, `["len"]` or `[0]`."""

    value: Text | Star
    position: int
    is_alone: bool = True


@dataclass(frozen=True, slots=True)
class Sliced:
    """`[start:stop]`."""

    start: Text | Star | None
    stop: Text | Star | None
    position: int


@dataclass(frozen=True, slots=True)
class Invocation:
    """`name(items)` and the brackets after it; a table, an operator, `sort` or `average`."""

    name: str
    items: "tuple[Slot, ...]"
    trailers: tuple[Selected | Sliced, ...]
    position: int


Slot = Text | Star | Group | Comparison | Invocation | None
"""The content between two commas; None if empty."""


@dataclass(frozen=True, slots=True)
class Written:
    """One statement: `take` is `all`, digits or empty; a `body` of None is the bare word `average`."""

    take: str
    body: Invocation | None
    position: int


@dataclass(frozen=True, slots=True)
class Sign:
    """A token beside statements: the word `None`, `[` around all of them, or an extra closing bracket (`]`)."""

    text: Literal["None", "[", "]"]
    position: int


Item = Written | Sign


class _Builder(Transformer[Token, list[Item]]):
    """The parser calls it for each completed rule: bottom-up, so without recursion."""

    def start(self, items: list[Item | Token]) -> list[Item]:
        signs: dict[str, Literal["None", "["]] = {"NONE": "None", "OPEN_LIST": "["}
        return [Sign(signs[item.type], _start(item)) if isinstance(item, Token) else item for item in items]

    def surplus(self, tokens: list[Token]) -> Sign:
        return Sign("]", _start(tokens[0]))

    def take(self, tokens: list[Token]) -> Token:
        return tokens[0]

    def statement_read(self, children: list[Any]) -> Written:
        take, body = children
        is_call = isinstance(body, Invocation)
        return Written(str(take or "").lower(), body if is_call else None, body.position if is_call else _start(body))

    def invocation(self, children: list[Any]) -> Invocation:
        name, items, *trailers = children
        return Invocation(str(name), items, tuple(trailers), _start(name))

    def slots(self, items: list[Slot]) -> tuple[Slot, ...]:
        return tuple(items)

    def slot(self, content: list[Slot]) -> Slot:
        return content[0] if content else None

    def comparison(self, children: list[Any]) -> Comparison:
        left, operator, right = children
        return Comparison(left, str(operator), right, left.position)

    def group(self, children: list[Any]) -> Group:
        bracket, items = children
        return Group(items, _start(bracket))

    def value(self, tokens: list[Token]) -> Text | Star:
        first, last = tokens[0], tokens[-1]
        if first.type == "STAR":
            return Star(_start(first))
        quoted = last.type == "TEXT"
        text = "".join(tokens[:-1]) + _ESCAPE.sub(r"\1", last[1:-1]) if quoted else " ".join(tokens)
        return Text(" ".join(text.split()), quoted, _start(first))

    def select_read(self, children: list[Any]) -> Selected:
        bracket, value, *more = children
        return Selected(value, _start(bracket), is_alone=not more)

    def slice_read(self, children: list[Any]) -> Sliced:
        bracket, start, stop = children
        return Sliced(start, stop, _start(bracket))


def _start(token: Token) -> int:
    return token.start_pos or 0


@functools.cache
def _reader() -> Lark:
    """The parser, built on first use (30 ms)."""
    return Lark(_GRAMMAR, start="start", parser="lalr", lexer="contextual", transformer=_Builder())


def terminal(name: str) -> str:
    """The regular expression of a terminal of the grammar."""
    return _reader().get_terminal(name).pattern.to_regexp()


def read(text: str) -> Sequence[Item]:
    """Parse a text; raises `lark.UnexpectedInput` if it does not follow the grammar."""
    items: Any = _reader().parse(text)
    return list(items)
