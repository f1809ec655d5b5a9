"""Where paragraphs of OpenDocument are in lists, and which lists go on (OpenDocument 1.3, part 3, 5.3 and 19)."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from crag.asking.opendocument.list_styles import LEVELS, ListStyle, read_list_style, to_count
from crag.asking.opendocument.names import OFFICE, STYLE, TEXT, XML_ID
from crag.asking.opendocument.styles import Styles

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_HEADING = f"{TEXT}h"
_PARAGRAPHS = (f"{TEXT}p", _HEADING)
LIST = f"{TEXT}list"
_ITEM = f"{TEXT}list-item"
ITEMS = frozenset({_ITEM, f"{TEXT}list-header"})
_NUMBERED_PARAGRAPH = f"{TEXT}numbered-paragraph"
_UNREAD = (f"{TEXT}tracked-changes", f"{OFFICE}annotation")
_STYLE_NAME = f"{TEXT}style-name"
_START = f"{TEXT}start-value"
_CONTINUES = f"{TEXT}continue-numbering"
_OUTLINE = 0
"""The chain of the headings that are in no list."""


class Place(NamedTuple):
    """Where a paragraph is in a list.

    Attributes:
        chain: Lists of one chain count together.
        style: How it is numbered; None without numbers.
        level: From 0.
        start: The number with which it begins again.
    """

    chain: int
    style: ListStyle | None
    level: int
    start: int | None


def find_paragraphs(body: "Element") -> "Iterator[Element]":
    """All paragraphs and headings, without those of comments and deleted ones."""
    from lxml import etree

    walk = etree.iterwalk(body, events=("start",), tag=(*_PARAGRAPHS, *_UNREAD))
    for _, element in walk:
        if element.tag in _UNREAD:
            walk.skip_subtree()
        else:
            yield element


class Lists:
    """Finds the lists of a text, which are to be asked for in their order, and which of them continue others."""

    def __init__(self, styles: Styles) -> None:
        self._styles = styles
        self._known_styles: dict[str, ListStyle | None] = {}
        outline = styles.outline_style
        self._outline = None if outline is None else read_list_style(outline)
        if outline is not None:
            self._known_styles[outline.get(f"{STYLE}name", "Outline")] = self._outline

        self._chain_count = _OUTLINE
        self._chains: dict[Element, int] = {}
        self._chains_by_name: dict[str, int] = {}
        self._begun: set[Element] = set()
        self._last_chain = _OUTLINE
        self._last_style_name = ""

    def find_place(self, paragraph: "Element") -> Place | None:
        """Where a paragraph is in a list; None if in none."""
        parent = paragraph.getparent()
        if parent is not None and parent.tag in ITEMS:
            return self._find_place_in_list(paragraph, parent)
        if parent is not None and parent.tag == _NUMBERED_PARAGRAPH:
            return self._find_place_of_numbered(paragraph, parent)
        return self._find_place_in_outline(paragraph)

    def _find_place_in_list(self, paragraph: "Element", item: "Element") -> Place | None:
        """The place of the first paragraph of an item; None for the others, and for the head of a list."""
        lists = list(_find_lists(item))
        if not lists:
            return None
        chain = self._find_chain(lists[-1])
        if item.tag != _ITEM or not _is_first(paragraph):
            return None

        style_names = [item.get(f"{TEXT}style-override"), *(element.get(_STYLE_NAME) for element in lists)]
        style = self._find_style(next(filter(None, style_names), ""), paragraph)
        if style is not None and style is self._outline and paragraph.tag == _HEADING:
            chain = _OUTLINE  # so does OpenOffice 3 write headings
        level = min(len(lists), LEVELS) - 1
        begins_again = self._begins_again(lists[0])
        start = _start_value(item)
        if start is None and begins_again:
            start = first_number(style, level)
        return Place(chain, style, level, start)

    def _begins_again(self, inner: "Element") -> bool:
        """Whether the next paragraph is the first of a second list in an item that does not continue the one before."""
        if inner in self._begun or inner.get(_CONTINUES) == "true":
            return False
        self._begun.add(inner)
        parent = inner.getparent()
        return (
            parent is not None
            and parent.tag in ITEMS
            and next(inner.itersiblings(LIST, preceding=True), None) is not None
        )

    def _find_place_of_numbered(self, paragraph: "Element", parent: "Element") -> Place:
        """The place of a paragraph that is itself an item, and names its list."""
        style_name = parent.get(_STYLE_NAME, "")
        return Place(
            chain=self._find_named_chain(parent, style_name),
            style=self._find_style(style_name, paragraph),
            level=_to_level(parent.get(f"{TEXT}level")),
            start=_start_value(parent),
        )

    def _find_place_in_outline(self, paragraph: "Element") -> Place | None:
        """The place of a heading outside lists. LibreOffice also counts a paragraph in the style of a heading."""
        style_name = paragraph.get(_STYLE_NAME, "")
        level = paragraph.get(f"{TEXT}outline-level", "1") if paragraph.tag == _HEADING else ""
        level = level or self._styles.outline_level(style_name)
        is_numbered = level and paragraph.get(f"{TEXT}is-list-header") != "true"
        if not is_numbered or self._outline is None or self._styles.is_taken_from_outline(style_name):
            return None

        depth = _to_level(level)
        start = None
        if paragraph.get(f"{TEXT}restart-numbering") == "true":
            start = to_count(paragraph.get(_START), self._outline.levels[depth].start)
        return Place(_OUTLINE, self._outline, depth, start)

    def _find_style(self, name: str, paragraph: "Element") -> ListStyle | None:
        """A list style; without a name, that of the style of the paragraph."""
        name = name or self._styles.list_style_of_paragraph(paragraph.get(_STYLE_NAME, ""))
        if name not in self._known_styles:
            element = self._styles.find_list_style(name)
            self._known_styles[name] = None if element is None else read_list_style(element)
        return self._known_styles[name]

    def _find_chain(self, outermost: "Element") -> int:
        """The chain of a list that is in no other."""
        if outermost not in self._chains:
            chain = self._continued_chain(outermost)
            self._chains[outermost] = chain
            self._remember(chain, outermost.get(_STYLE_NAME, ""), outermost.get(XML_ID))
        return self._chains[outermost]

    def _continued_chain(self, outermost: "Element") -> int:
        """The chain of the list that another one continues, or a new one."""
        continues = outermost.get(_CONTINUES)
        named = self._chains_by_name.get(outermost.get(f"{TEXT}continue-list", ""))
        if named is not None and continues != "false":
            return named
        if continues == "true" and outermost.get(_STYLE_NAME, "") == self._last_style_name:
            return self._last_chain or self._next_chain()
        return self._next_chain()

    def _find_named_chain(self, numbered: "Element", style_name: str) -> int:
        """The chain of the list that a paragraph names; those without a name are one list for each style."""
        name = numbered.get(f"{TEXT}list-id") or f"style {style_name}"
        chain = self._chains_by_name.get(name) or self._next_chain()
        self._remember(chain, style_name, name)
        return chain

    def _next_chain(self) -> int:
        self._chain_count += 1
        return self._chain_count

    def _remember(self, chain: int, style_name: str, name: str | None) -> None:
        self._last_chain = chain
        self._last_style_name = style_name
        if name:
            self._chains_by_name[name] = chain


def _find_lists(item: "Element") -> "Iterator[Element]":
    """The lists around an item, the innermost first."""
    for ancestor in item.iterancestors():
        if ancestor.tag == LIST:
            yield ancestor
        elif ancestor.tag not in ITEMS:
            return


def _is_first(paragraph: "Element") -> bool:
    """Whether nothing of an item stands before a paragraph."""
    before = paragraph.itersiblings(*_PARAGRAPHS, LIST, preceding=True)
    return next(before, None) is None


def _start_value(element: "Element") -> int | None:
    return to_count(element.get(_START), 0) if element.get(_START) else None


def _to_level(text: str | None) -> int:
    """A level from 0, of one from 1."""
    return min(max(to_count(text, 1), 1), LEVELS) - 1


def first_number(style: ListStyle | None, level: int) -> int:
    """The number with which a level begins."""
    return 1 if style is None else style.levels[level].start
