"""The tokens of an RTF: braces, control words and symbols, and the bytes of its text."""

import codecs
import enum
import re
from collections.abc import Iterator
from typing import NamedTuple

_TOKEN = (
    rb"\\(?P<word>[a-zA-Z]+)(?P<number>-?\d+)?[ ]?"
    rb"|\\'(?P<hexadecimal>[0-9a-fA-F]{2})"
    rb"|\\(?P<symbol>[^a-zA-Z])"
    rb"|(?P<brace>[{}])"
    rb"|(?P<text>%b)"
)
_TEXT = rb"[^\\{}]+"
_DOUBLE_BYTE_TEXT = rb"(?:[%b][\x40-\xfe]|[^\\{}])+"
"""The second byte of a character may be a backslash or a brace."""
_LEAD_BYTES = {
    932: rb"\x81-\x9f\xe0-\xfc",
    936: rb"\x81-\xfe",
    949: rb"\x81-\xfe",
    950: rb"\x81-\xfe",
}
_NOT_TEXT = b"\r\n\0"
"""Line breaks of the file are none of the text."""
_ESCAPED = frozenset({b"{", b"}", b"\\"})
_MOST_DIGITS = 10


RTF_MARK = b"{\\rtf"
"""Begins an RTF."""
_UTF_16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class Kind(enum.Enum):
    """The kinds of tokens."""

    GROUP_START = enum.auto()
    GROUP_END = enum.auto()
    WORD = enum.auto()
    SYMBOL = enum.auto()
    r"""A backslash and a sign: `\~`, `\*`."""
    BYTE = enum.auto()
    r"""A byte of the text that was written as `\'e4`, or as `\{`."""
    TEXT = enum.auto()


class Token(NamedTuple):
    """A token. `content` are the bytes of a text, or the sign of a symbol."""

    kind: Kind
    word: str = ""
    number: int | None = None
    content: bytes = b""


def from_first_brace(content: bytes) -> bytes:
    """The content without what an editor of plain text may have added: a byte order mark, blank lines, UTF-16."""
    if content.startswith(_UTF_16_MARKS):
        content = content.decode("utf-16", "replace").encode()
    return content.removeprefix(codecs.BOM_UTF8).lstrip()


def read_tokens(content: bytes, lead_of_code_page: int = 0) -> Iterator[Token]:
    r"""The tokens, without data behind `\binN`: that are N bytes of a picture, of any value.

    Bytes above 127 that are not escaped lead characters of two bytes if the code page has such.
    """
    lead_bytes = _LEAD_BYTES.get(lead_of_code_page)
    text = _TEXT if lead_bytes is None else _DOUBLE_BYTE_TEXT % lead_bytes
    pattern = re.compile(_TOKEN % text, re.DOTALL)

    position = 0
    # The only thing that is no token is a backslash at the end.
    while match := pattern.match(content, position):
        position = match.end()
        token = _to_token(match)
        if token.word == "bin":
            position += max(0, token.number or 0)
        else:
            yield token


def _to_token(match: re.Match[bytes]) -> Token:
    kind = match.lastgroup
    if kind == "brace":
        return Token(Kind.GROUP_START if match["brace"] == b"{" else Kind.GROUP_END)
    if kind == "text":
        return Token(Kind.TEXT, content=match["text"].translate(None, _NOT_TEXT))
    if kind == "hexadecimal":
        return Token(Kind.BYTE, content=bytes.fromhex(match["hexadecimal"].decode()))
    if kind == "symbol":
        return Token(Kind.BYTE if match["symbol"] in _ESCAPED else Kind.SYMBOL, content=match["symbol"])

    number = match["number"]
    return Token(Kind.WORD, match["word"].decode(), None if number is None else int(number[:_MOST_DIGITS]))
