"""Parses text by the lenient form of `calls.lark` into lark's tree, without the schema."""

import functools
import re
from pathlib import Path
from typing import TypeAlias

from lark import Lark, Token, Transformer, Tree

_GRAMMAR = Path(__file__).with_name("calls.lark").read_text(encoding="utf-8")
CANONICAL = _GRAMMAR.split("// ---- 2. lenient", maxsplit=1)[0]
"""The part of the grammar for printing and generation; parsing uses the whole grammar."""

Node: TypeAlias = Token | Tree[Token]
"""A token: `*` (STAR), or a name, number, key or `None`, in quotes (TEXT) or bare (WORD). A tree: see `calls.lark`."""

_ESCAPE = re.compile(r"\\([\"'”’\\])")


class _Values(Transformer[Token, Tree[Token]]):
    """Makes one token of each value, without quotes, escapes and extra blanks."""

    def value(self, tokens: list[Token]) -> Token:
        # Several bare words in a row are one value: `directed by`
        first_token = tokens[0]
        last_token = tokens[-1]
        if last_token.type == "TEXT":
            sign = "".join(tokens[:-1])  # a minus before the quotes, for a descending sort
            text = sign + _ESCAPE.sub(r"\1", last_token[1:-1])
        else:
            text = " ".join(tokens)
        return Token.new_borrow_pos(last_token.type, " ".join(text.split()), first_token)


def position(node: Node) -> int:
    """The index of its first character in the text."""
    return (node.start_pos if isinstance(node, Token) else node.meta.start_pos) or 0


def parts(node: Node) -> list[Node]:
    """The children of a tree; nothing for a token."""
    return node.children if isinstance(node, Tree) else []


@functools.cache
def _reader() -> Lark:
    """The parser, built on first use (30 ms)."""
    return Lark(
        _GRAMMAR,
        parser="lalr",
        lexer="contextual",
        transformer=_Values(),
        propagate_positions=True,
    )


def terminal(name: str) -> str:
    """The regular expression of a terminal of the grammar."""
    return _reader().get_terminal(name).pattern.to_regexp()


def read(text: str) -> list[Node]:
    """The statements, and tokens beside them; raises `lark.UnexpectedInput` if the text does not follow the grammar."""
    return _reader().parse(text).children
