"""How the levels of a list are numbered in OpenDocument (1.3, part 3, 16 and 19)."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from crag.asking.opendocument.names import LOEXT, STYLE, TEXT
from crag.text.list_counts import letters_in_turn, show_count

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

LEVELS = 10
_NUMBERED = (f"{TEXT}list-level-style-number", f"{TEXT}outline-level-style")
_OTHERS = (f"{TEXT}list-level-style-bullet", f"{TEXT}list-level-style-image")
_COUNT = re.compile(r"\d{1,6}")
_PLACE = re.compile(r"%(\d{1,2})%")
"""Stands for the number of a level, from 1, in the form of LibreOffice."""
_UNSEEN = re.compile("[\ue000-\uf8ff]")
"""Signs of a font of symbols."""

_LETTERS_IN_TURN = {"a", "A"}
"""Behind ``z`` comes ``aa``, then ``ab``; where letters are synchronized, ``bb``."""
_FORMATS = {
    "1": "decimal",
    "a": "lowerLetter",
    "A": "upperLetter",
    "i": "lowerRoman",
    "I": "upperRoman",
    # those of LibreOffice
    "1st": "ordinal",
    "One": "cardinalText",
    "First": "ordinalText",
}
"""The names of the formats in `crag.text.list_counts`."""


class Level(NamedTuple):
    """How the paragraphs of a level are numbered.

    Attributes:
        start: The first number.
        number_format: That of the number; "" for none.
        has_letters_in_turn: Whether letters go on with ``aa``, ``ab``.
        label: What is shown: texts, and levels from 0, which stand for their numbers.
        own_label: The same without the levels above.
    """

    start: int = 1
    number_format: str = ""
    has_letters_in_turn: bool = False
    label: Sequence[str | int] = ()
    own_label: Sequence[str | int] = ()

    def show(self, count: int) -> str:
        """A number of the level."""
        if self.has_letters_in_turn and self.number_format in _LETTERS_IN_TURN:
            letters = letters_in_turn(count)
            return letters if self.number_format == "a" else letters.upper()
        return show_count(count, _FORMATS.get(self.number_format, self.number_format))


class ListStyle(NamedTuple):
    """The levels of a list, each by its depth, from 0, and whether the paragraphs of all levels count together."""

    levels: Sequence[Level]
    is_consecutive: bool

    def show_number(self, depth: int, counts: Sequence[int]) -> str:
        """The text of a number with a blank behind it, whatever the style says, so that words stay words.

        "" for a sign that is none. `counts`: by level.
        """
        return self._show(depth, self.levels[depth].label, counts)

    def show_own_number(self, depth: int, count: int) -> str:
        """The same without the levels above; "" without a number."""
        level = self.levels[depth]
        return self._show(depth, level.own_label, [count] * LEVELS) if level.number_format else ""

    def _show(self, depth: int, label: Sequence[str | int], counts: Sequence[int]) -> str:
        pieces = []
        is_left_out = False
        for piece in label:
            if isinstance(piece, int):
                # A level above without a number goes with the sign behind it.
                is_left_out = piece != depth and not self.levels[piece].number_format
                if self.levels[piece].number_format:
                    pieces.append(self.levels[piece].show(counts[piece]))
            elif not is_left_out:
                pieces.append(piece)

        text = _UNSEEN.sub("", "".join(pieces)).strip()
        if not any(character.isalnum() for character in text):
            return ""
        return f"{text} "


def read_list_style(element: "Element") -> ListStyle:
    """A style of lists, or of headings. LibreOffice numbers a level of a list that the style leaves out."""
    is_outline = element.tag == f"{TEXT}outline-style"
    levels: list[Level] = []
    for depth in range(LEVELS):
        label = (depth, ".")
        levels.append(Level() if is_outline else Level(1, "1", label=label, own_label=label))

    for child in element:
        depth = to_count(child.get(f"{TEXT}level"), 0) - 1
        if 0 <= depth < LEVELS and child.tag in _NUMBERED:
            levels[depth] = _read_level(child, depth)
        elif 0 <= depth < LEVELS and child.tag in _OTHERS:
            levels[depth] = Level()
    return ListStyle(levels, element.get(f"{TEXT}consecutive-numbering") == "true")


def to_count(text: str | None, default: int) -> int:
    """A number from 0; the default for what is none."""
    return int(text) if text and text.isascii() and _COUNT.fullmatch(text) else default


def _read_level(element: "Element", depth: int) -> Level:
    prefix, suffix = (element.get(f"{STYLE}num-{name}", "") for name in ("prefix", "suffix"))
    return Level(
        start=to_count(element.get(f"{TEXT}start-value"), 1),
        number_format=element.get(f"{STYLE}num-format", ""),
        has_letters_in_turn=element.get(f"{STYLE}num-letter-sync") != "true",
        label=_read_label(element, depth),
        own_label=(prefix, depth, suffix),
    )


def _read_label(element: "Element", depth: int) -> Sequence[str | int]:
    """What is shown for a level: in the form of LibreOffice if it is there, as it can say more."""
    form = element.get(f"{LOEXT}num-list-format")
    if form is not None:
        pieces = _PLACE.split(form)  # each second one is a level
        levels = [min(max(int(piece), 1), depth + 1) - 1 for piece in pieces[1::2]]
        return [piece if index % 2 == 0 else levels[index // 2] for index, piece in enumerate(pieces)]

    shown_levels = max(to_count(element.get(f"{TEXT}display-levels"), 1), 1)
    label: list[str | int] = [element.get(f"{STYLE}num-prefix", "")]
    for level in range(max(depth + 1 - shown_levels, 0), depth + 1):
        label += [level, "."]
    label[-1] = element.get(f"{STYLE}num-suffix", "")
    return label
