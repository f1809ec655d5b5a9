"""CSS declarations, such as ``color: red; top: 0``: of an inline style or a rule."""

import re
from collections.abc import Iterable
from typing import NamedTuple

Declarations = dict[str, str]
"""The value of each property, in lower case and without blanks; those of `content` and counters as they are written."""


class Block(NamedTuple):
    """The declarations between two braces: a later one of the same property replaces the one before."""

    normal: Declarations
    important: Declarations


_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_DECLARATION = re.compile(
    r"""
    (?<! [\w-] ) ( [\w-]++ ) \s*+ : \s*+
    ( (?> (?: [^;"'] | "(?>(?:[^"\\]|\\.)*)" | '(?>(?:[^'\\]|\\.)*)' )* ) )    # a ";" in quotes ends nothing
    """,
    re.DOTALL | re.VERBOSE,
)
_IMPORTANT = re.compile(r"!\s*important", re.IGNORECASE)
_AS_WRITTEN = frozenset(["content", "counter-reset", "counter-increment"])
_SAME_PROPERTY = {"text-decoration-line": "text-decoration", "background-color": "background"}
"""Parts of a property that are read as if they were all of it."""
_WITH_COLOURS = frozenset(["color", "background"])
_BETWEEN_CHANNELS = re.compile(r"(?<=\d)[^\S\n]{1,9}(?=\d)")
"""``rgb(0 0 255)`` is ``rgb(0, 0, 255)``."""
_REPLACES = {
    "font": "font-size",
    "font-size": "font",
    "list-style": "list-style-type",
    "list-style-type": "list-style",
}


def parse_block(text: str) -> Block:
    """The declarations of a rule or an inline style.

    Example:
        parse_block("Top: 0 !important; color: RED")  # Block({"color": "red"}, {"top": "0"})
    """
    block = Block({}, {})
    for written_name, written in _DECLARATION.findall(_COMMENT.sub("", text)):
        name = written_name.lower()
        name = _SAME_PROPERTY.get(name, name)
        value, important_marks = _IMPORTANT.subn("", written)
        if name in _WITH_COLOURS:
            value = _BETWEEN_CHANNELS.sub(",", value)
        declarations = block.important if important_marks else block.normal
        declarations[name] = value.strip() if name in _AS_WRITTEN else "".join(value.lower().split())
    return block


def cascade(layers: Iterable[Declarations]) -> Declarations:
    """The declarations that count, where each layer wins over those before it."""
    winners: Declarations = {}
    for layer in layers:
        for name, value in layer.items():
            # The shorthand sets its parts too.
            winners.pop(_REPLACES.get(name, ""), None)
            winners[name] = value
    return winners
