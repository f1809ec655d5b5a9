"""Writes the numbers of lists and headings of a DOCX before their text, as Word counts and shows them.

mammoth 1.13.0 tells only that a list has numbers. ECMA-376 says little on how they are counted (part 1, 17.9); the rest
is as in Word: lists of one definition count together, and a level above that was left out counts as begun.
"""

import re
from typing import TYPE_CHECKING

from crag.asking.office.word_lists import LEVELS, ListPlace, WordList, WordLists
from crag.asking.office.word_styles import WORD, WordStyles
from crag.text.list_counts import show_count

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_PLACE = re.compile(r"%([1-9])")
"""Stands for the number of a level, from 1."""
_PRIVATE_USE = re.compile("[\ue000-\uf8ff]")
"""Signs of a font of symbols."""
_DIGITS = frozenset({"decimal", "decimalZero", "none"})
"""Formats that stay as they are where all numbers are shown as digits."""


def write_numbers(root: "Element", lists: WordLists, styles: WordStyles) -> None:
    """Write the numbers into a part of a document, whose lists are counted by themselves."""
    counter = _Counter()
    for paragraph in root.iter(f"{WORD}p"):
        place = lists.find_place(paragraph)
        if place is None:
            continue
        properties = paragraph.find(f"{WORD}pPr")
        # The look of a paragraph's end is that of its number.
        look = None if properties is None else styles.look_of(properties)
        if look is not None and look.is_hidden:
            continue
        number = counter.count(place)
        if number and (look is None or not look.is_struck):
            _write_number(paragraph, number)


def _write_number(paragraph: "Element", number: str) -> None:
    """Write a number into the first run if that has no marks, for each run costs mammoth time; else into its own."""
    text = paragraph.makeelement(f"{WORD}t")
    text.text = number
    properties = paragraph.find(f"{WORD}pPr")
    first = next(iter(paragraph), None) if properties is None else properties.getnext()
    if first is not None and first.tag == f"{WORD}r" and first.find(f"{WORD}rPr") is None:
        first.insert(0, text)
        return

    run = paragraph.makeelement(f"{WORD}r")
    run.append(text)
    if properties is None:
        paragraph.insert(0, run)
    else:
        properties.addnext(run)


class _Counter:
    """Counts the paragraphs of lists in their order."""

    def __init__(self) -> None:
        self._counts: dict[str, list[int | None]] = {}
        """By definition, the last number of each level; None: the level begins again."""
        self._begun: set[tuple[str, int]] = set()
        """Lists and their levels that have begun with a number of their own."""

    def count(self, place: ListPlace) -> str:
        """The number of the next paragraph, with what stands between it and the text; "" if none is shown."""
        word_list, level = place
        counts = self._counts.setdefault(word_list.definition, [None] * LEVELS)
        for above in range(level):
            if counts[above] is None:
                counts[above] = _start(word_list, above)
        counts[level] = self._next(word_list, level, counts[level])

        for below in range(level + 1, LEVELS):
            definition = word_list.levels.get(below)
            if definition is None or level < definition.restarts_below:
                counts[below] = None
        return _show_number(place, counts)

    def _next(self, word_list: WordList, level: int, last: int | None) -> int:
        """The number behind the last one."""
        new_start = word_list.new_starts.get(level)
        is_new = (word_list.number, level) not in self._begun
        self._begun.add((word_list.number, level))
        if new_start is not None and (is_new or last is None):
            return new_start
        return _start(word_list, level) if last is None else last + 1


def _start(word_list: WordList, level: int) -> int:
    return word_list.levels[level].start if level in word_list.levels else 1


def _show_number(place: ListPlace, counts: list[int | None]) -> str:
    """The text of a number, such as ``Article 4``; "" for a sign that is none, and for a hidden one."""
    word_list, level = place
    definition = word_list.levels[level]
    if definition.number_format == "bullet" or definition.is_hidden:
        return ""

    def show(match: re.Match[str]) -> str:
        shown = int(match[1]) - 1
        count = counts[shown]
        if count is None or shown not in word_list.levels:
            return ""
        number_format = word_list.levels[shown].number_format
        if definition.is_legal and number_format not in _DIGITS:
            number_format = "decimal"
        return show_count(count, number_format)

    text = _PRIVATE_USE.sub("", _PLACE.sub(show, definition.text))
    return text + definition.separator if text.strip() else ""
