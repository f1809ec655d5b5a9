"""The numbers of lists and headings of OpenDocument texts and slides, as LibreOffice counts and shows them.

OpenDocument 1.3 (part 3, 5.3 and 19) says how lists are numbered. Where it is silent, this is as in LibreOffice 7.4: a
level above that was left out counts as begun, hidden paragraphs count, a second list in an item begins again, and the
body, boxes and notes count by themselves.
"""

from typing import TYPE_CHECKING

from crag.asking.opendocument.list_places import ITEMS, LIST, Lists, Place, find_paragraphs, first_number
from crag.asking.opendocument.list_styles import LEVELS, Level
from crag.asking.opendocument.names import DRAW, DRAW_3D, TEXT
from crag.asking.opendocument.styles import Styles

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_Count = tuple[str, int]
"""A region, and a chain that is counted in it."""


def number_text(body: "Element", styles: Styles) -> "dict[Element, str]":
    """The number of each paragraph and heading of a text that has one, with what stands between it and the text."""
    lists = Lists(styles)
    counter = _Counter()
    numbers = {}
    for paragraph in find_paragraphs(body):
        place = lists.find_place(paragraph)
        if place is not None:
            number = counter.count(place, _find_region(paragraph))
            if number:
                numbers[paragraph] = number
    return numbers


def number_slides(body: "Element", styles: Styles) -> "dict[Element, str]":
    """The number of each paragraph of slides that has one. Each box and each cell counts by itself."""
    lists = Lists(styles)
    last_box = None
    counter = _BoxCounter()
    numbers = {}
    for paragraph in find_paragraphs(body):
        place = lists.find_place(paragraph)
        if place is None:
            continue

        box = next(ancestor for ancestor in paragraph.iterancestors() if ancestor.tag not in {LIST, *ITEMS})
        if box is not last_box:
            last_box = box
            counter = _BoxCounter()
        number = counter.count(place)
        if number:
            numbers[paragraph] = number
    return numbers


def _find_region(paragraph: "Element") -> str:
    for ancestor in paragraph.iterancestors():
        if ancestor.tag == f"{TEXT}note-body":
            return "notes"
        if ancestor.tag.startswith((DRAW, DRAW_3D)):
            return "boxes"
    return "body"


class _Counter:
    """Counts the paragraphs of lists in their order."""

    def __init__(self) -> None:
        self._counts: dict[_Count, list[int | None]] = {}
        """By count, the last number of each level; None: the level begins again."""
        self._last: dict[_Count, int] = {}
        """By count, the last number of any level."""

    def count(self, place: Place, region: str) -> str:
        """The number of the next paragraph; "" if none is shown."""
        key = (region, place.chain)
        counts = self._counts.setdefault(key, [None] * LEVELS)
        for above in range(place.level):
            if counts[above] is None:
                counts[above] = first_number(place.style, above)

        number = self._next(place, key)
        counts[place.level] = self._last[key] = number
        counts[place.level + 1 :] = [None] * (LEVELS - place.level - 1)
        return "" if place.style is None else place.style.show_number(place.level, [count or 0 for count in counts])

    def _next(self, place: Place, key: "_Count") -> int:
        if place.start is not None:
            return place.start
        is_consecutive = place.style is not None and place.style.is_consecutive
        last = self._last.get(key) if is_consecutive else self._counts[key][place.level]
        return first_number(place.style, 0 if is_consecutive else place.level) if last is None else last + 1


class _BoxCounter:
    """Counts the paragraphs of a box on a slide as LibreOffice Impress does.

    It goes on over lists and over text in none, until a paragraph of the level has other numbers or one above it comes.
    Levels above are not shown.
    """

    def __init__(self) -> None:
        self._open: dict[int, tuple[Level, int]] = {}
        """By level, how it is numbered, and its last number."""

    def count(self, place: Place) -> str:
        """The number of the next paragraph; "" if none is shown."""
        for below in [level for level in self._open if level > place.level]:
            del self._open[below]
        if place.style is None:
            self._open.pop(place.level, None)
            return ""

        level = place.style.levels[place.level]
        last_level, last = self._open.get(place.level, (None, 0))
        number = last + 1 if last_level == level else level.start
        number = number if place.start is None else place.start
        self._open[place.level] = (level, number)
        return place.style.show_own_number(place.level, number)
