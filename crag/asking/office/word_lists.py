"""The lists of a DOCX: which list and level a paragraph is of, and how a level is numbered (ECMA-376, part 1, 17.9)."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from crag.asking.office.word_styles import VALUE, WORD, WordStyles, is_on

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

LEVELS = 9
_NUMBER = re.compile(r"-?\d{1,6}")
_NO_LIST = "0"
"""As the number of its list, takes a paragraph out of the list of its style."""


class Level(NamedTuple):
    """How the paragraphs of a level are numbered.

    Attributes:
        start: The first number.
        number_format: That of the number (`crag.text.list_counts`).
        text: What is shown, with ``%1`` for the number of the first level.
        separator: What stands between the number and the text.
        restarts_below: A paragraph of a level above this one, counted from 0, begins the numbers again.
        is_legal: Whether the numbers of all levels are shown as digits.
        is_hidden: Whether the number is counted, but not shown.
    """

    start: int
    number_format: str
    text: str
    separator: str
    restarts_below: int
    is_legal: bool
    is_hidden: bool


class WordList(NamedTuple):
    """A list that paragraphs name.

    Attributes:
        number: The name by which paragraphs know it.
        definition: The name of its definition. Lists of one definition count together.
        levels: Its levels by their depth, from 0.
        new_starts: By level, the number with which this list begins, whatever came before.
        style_levels: The levels of the styles that the definition ties to one.
    """

    number: str
    definition: str
    levels: dict[int, Level]
    new_starts: dict[int, int]
    style_levels: dict[str, int]


class ListPlace(NamedTuple):
    """A list, and the level of a paragraph in it, from 0."""

    word_list: WordList
    level: int


class WordLists:
    """The lists of a document; without their part, there are none."""

    def __init__(self, root: "Element | None", styles: WordStyles) -> None:
        self._styles = styles
        self._definitions: dict[str, Element] = {}
        self._lists: dict[str, Element] = {}
        self._known: dict[str, WordList | None] = {}
        if root is None:
            return
        for definition in root.findall(f"{WORD}abstractNum"):
            self._definitions[definition.get(f"{WORD}abstractNumId", "")] = definition
        for word_list in root.findall(f"{WORD}num"):
            self._lists[word_list.get(f"{WORD}numId", "")] = word_list

    def find_place(self, paragraph: "Element") -> ListPlace | None:
        """Where a paragraph is in a list, by its own properties or those of its style; None if in none."""
        styles = self._styles.paragraph_styles(paragraph)
        list_number = _first_of([paragraph, *styles], "numId")
        if not list_number or list_number == _NO_LIST:
            return None
        word_list = self._find_list(list_number)
        if word_list is None:
            return None

        tied = [word_list.style_levels[name] for name in map(_style_name, styles) if name in word_list.style_levels]
        # A style that is tied to a level is of this level, whatever it says itself.
        level_text = _first_of([paragraph], "ilvl") or (str(tied[0]) if tied else _first_of(styles, "ilvl"))
        level = _to_number(level_text, 0)
        return ListPlace(word_list, level) if level in word_list.levels else None

    def _find_list(self, number: str) -> WordList | None:
        if number not in self._known:
            self._known[number] = self._read_list(number)
        return self._known[number]

    def _read_list(self, number: str) -> WordList | None:
        """A list; None if there is none of this number, or it has no definition."""
        element = self._lists.get(number)
        definition = self._find_definition(number)
        if element is None or definition is None:
            return None

        levels = _read_levels(definition)
        new_starts = {}
        for override in element.findall(f"{WORD}lvlOverride"):
            levels |= _read_levels(override)
            start = override.find(f"{WORD}startOverride")
            if start is not None:
                new_starts[_to_number(override.get(f"{WORD}ilvl", ""), 0)] = _to_number(start.get(VALUE, ""), 0)
        name = definition.get(f"{WORD}abstractNumId", "")
        return WordList(number, name, levels, new_starts, _read_style_levels(definition))

    def _find_definition(self, number: str) -> "Element | None":
        """The definition of a list. One that only names a style for lists is that of the style's list."""
        seen = set()
        while number in self._lists and number not in seen:
            seen.add(number)
            reference = self._lists[number].find(f"{WORD}abstractNumId")
            definition = self._definitions.get("" if reference is None else reference.get(VALUE, ""))
            link = None if definition is None else definition.find(f"{WORD}numStyleLink")
            if link is None:
                return definition
            style = self._styles.find("numbering", link.get(VALUE, ""))
            number = "" if style is None else _first_of([style], "numId")
        return None


def _read_levels(parent: "Element") -> dict[int, Level]:
    """The levels of a definition, or the one that a list has in place of it."""
    levels = {}
    for element in parent.findall(f"{WORD}lvl"):
        depth = _to_number(element.get(f"{WORD}ilvl", ""), 0)
        if 0 <= depth < LEVELS:
            levels[depth] = _read_level(element, depth)
    return levels


def _read_style_levels(definition: "Element") -> dict[str, int]:
    style_levels = {}
    for element in definition.findall(f"{WORD}lvl"):
        for style in element.findall(f"{WORD}pStyle"):
            style_levels[style.get(VALUE, "")] = _to_number(element.get(f"{WORD}ilvl", ""), 0)
    return style_levels


def _read_level(element: "Element", depth: int) -> Level:
    separator = _value(element, "suff", "tab")
    marks = element.find(f"{WORD}rPr")
    return Level(
        start=_to_number(_value(element, "start", "0"), 0),
        number_format=_number_format(element),
        text=_value(element, "lvlText", ""),
        separator="" if separator == "nothing" else " ",
        restarts_below=min(_to_number(_value(element, "lvlRestart", ""), depth), depth),
        is_legal=is_on(element.find(f"{WORD}isLgl")),
        is_hidden=marks is not None and is_on(marks.find(f"{WORD}vanish")),
    )


def _number_format(level: "Element") -> str:
    """The number format: a known one, or the example of a custom one, which stands among alternatives."""
    for element in level.iter(f"{WORD}numFmt"):
        number_format = element.get(VALUE, "decimal")
        return str(element.get(f"{WORD}format", "decimal") if number_format == "custom" else number_format)
    return "decimal"


def _style_name(style: "Element") -> str:
    return str(style.get(f"{WORD}styleId", ""))


def _first_of(owners: "Sequence[Element]", name: str) -> str:
    """A value among the list properties of a paragraph or its styles, where it is given first; "" if nowhere."""
    for owner in owners:
        mark = owner.find(f"{WORD}pPr/{WORD}numPr/{WORD}{name}")
        if mark is not None and mark.get(VALUE):
            return str(mark.get(VALUE))
    return ""


def _value(element: "Element", name: str, default: str) -> str:
    mark = element.find(WORD + name)
    return default if mark is None else str(mark.get(VALUE, default))


def _to_number(text: str, default: int) -> int:
    return int(text) if _NUMBER.fullmatch(text) and text.isascii() else default
