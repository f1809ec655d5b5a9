"""The numbers of paragraphs of slides and boxes, as PowerPoint counts them (ECMA-376, part 1, 21.1.2.4.1)."""

import re
from typing import TYPE_CHECKING

from crag.text.list_counts import show_count

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_NUMBERING = f"{_DRAWING}buAutoNum"
_OTHER_BULLETS = (f"{_DRAWING}buNone", f"{_DRAWING}buChar", f"{_DRAWING}buBlip")
_KIND = re.compile(r"(alphaLc|alphaUc|romanLc|romanUc|arabic)(ParenBoth|ParenR|Period|Plain)")
_FORMATS = {
    "alphaLc": "lowerLetter",
    "alphaUc": "upperLetter",
    "romanLc": "lowerRoman",
    "romanUc": "upperRoman",
    "arabic": "decimal",
}
_SIGNS = {"ParenBoth": "({})", "ParenR": "{})", "Period": "{}.", "Plain": "{}"}
_NUMBER = re.compile(r"[0-9]{1,5}")

_Numbering = tuple[str, int]
"""The kind of numbers, such as ``alphaLcParenR``, and the first one."""


class ParagraphNumbers:
    """Counts the paragraphs of a text: those of a level on, until one of it or above it has no such number."""

    def __init__(self, body: "Element") -> None:
        self._styles = body.find(f"{_DRAWING}lstStyle")
        self._open: dict[int, tuple[_Numbering, int]] = {}
        """By level, the numbering that goes on, and its last number."""

    def next(self, paragraph: "Element") -> str:
        """The number of the next paragraph that has text, with a blank behind it; "" if it has none."""
        properties = paragraph.find(f"{_DRAWING}pPr")
        level = _to_number(properties.get("lvl", "") if properties is not None else "", 0)
        numbering = self._find_numbering(properties, level)
        for below in [other for other in self._open if other > level]:
            del self._open[below]
        if numbering is None:
            self._open.pop(level, None)
            return ""

        kind, start = numbering
        last_numbering, last = self._open.get(level, (None, 0))
        count = last + 1 if last_numbering == numbering else start
        self._open[level] = (numbering, count)
        return f"{_show(kind, count)} "

    def _find_numbering(self, properties: "Element | None", level: int) -> _Numbering | None:
        """The numbering that a paragraph has itself, else that of its level in the text."""
        style = None if self._styles is None else self._styles.find(f"{_DRAWING}lvl{level + 1}pPr")
        for owner in (properties, style):
            if owner is None:
                continue
            numbering = owner.find(_NUMBERING)
            if numbering is not None:
                return numbering.get("type", "arabicPeriod"), _to_number(numbering.get("startAt", ""), 1)
            if any(owner.find(bullet) is not None for bullet in _OTHER_BULLETS):
                return None
        return None


def _show(kind: str, count: int) -> str:
    """A number; one of another script or in a circle is shown as digits."""
    match = _KIND.fullmatch(kind)
    if match is None:
        return f"{count}."
    return _SIGNS[match[2]].format(show_count(count, _FORMATS[match[1]]))


def _to_number(text: str, default: int) -> int:
    return int(text) if _NUMBER.fullmatch(text) else default
