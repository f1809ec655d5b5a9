"""The lines of a table's cell: a list is often written as lines, ``Ann Berg<br>Bo Ek``, and a row is one line."""

import re
from itertools import pairwise

_MARKS = "\ue0f0-\ue0ff"
"""The private characters that the walk over a page puts round boxes and links."""
_LINE_END = re.compile(r"\n\s*")
_BESIDE_TEXT = " \ue0f0\ue0f7"
"""A blank, and the marks of a gap and of a box."""
_ITEM_BEGINS = re.compile(rf"[{_MARKS} “\"'‘]{{0,9}}(?:[^\W_a-zß-ÿ]|[$€£+−–-])")
_IN_BRACKETS = re.compile(rf"[{_MARKS} ]{{0,9}}\(")
_LONGEST_ITEM = 60
_LEAST_ITEMS = 3
_LEAST_WORDS = 4
"""Of a sentence."""


def set_lines_apart(text: str, item: str, link: str) -> str:
    """The text of a cell with the mark `item` between lines that are items of a list.

    Three short lines or more are, if each begins with a capital, a number or a bracket; else links below each other.
    `link` is the mark at both ends of a link.
    """
    if "\n" not in text:
        return text
    lines = [line for line in _LINE_END.split(text) if line.strip(_BESIDE_TEXT)]
    if len(lines) < 2:
        return text
    is_list = len(lines) >= _LEAST_ITEMS and item not in text and all(map(_may_be_item, lines))
    joined = lines[0]
    for before, line in pairwise(lines):
        are_links = before.rstrip(_BESIDE_TEXT).endswith(link) and line.lstrip(_BESIDE_TEXT).startswith(link)
        goes_on = _IN_BRACKETS.match(line) and not _IN_BRACKETS.match(before)
        is_item = (is_list or are_links) and not goes_on and not _is_sentence(before.strip())
        joined += (item if is_item else "\n") + line
    return joined


def _may_be_item(line: str) -> bool:
    is_short = len(line) <= _LONGEST_ITEM
    return is_short and (_ITEM_BEGINS.match(line) is not None or _IN_BRACKETS.match(line) is not None)


def _is_sentence(line: str) -> bool:
    return line.endswith((".", "!", "?")) and len(line.split()) >= _LEAST_WORDS
