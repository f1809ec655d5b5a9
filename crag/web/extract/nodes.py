"""A page as a plain tree of elements and texts, without what nobody sees.

Both parsers are turned into this tree, so one walk reads the pages of both (`crag.web.extract.writer`).
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from crag.web.extract.generated import Counters, write_content
from crag.web.extract.sheets import Place
from crag.web.extract.styles import FOR_SCREEN_READERS, PLAIN, Generated, PageStyles

DROPPED_ELEMENTS = frozenset(
    [
        # not text, or in a box of its own
        *("head", "script", "style", "template", "iframe", "svg", "canvas", "object", "embed", "applet"),
        # shown only where something is missing: scripts, frames, players, bars
        *("noscript", "noframes", "noembed", "audio", "video", "progress", "meter"),
        # what could be typed; brackets round a reading; a formula in a second notation
        *("datalist", "rp", "annotation", "annotation-xml"),
    ]
)
"""Their text is not read."""

CONTENT_ELEMENTS = frozenset(["h1", "main", "article"])

GAP = "\ue0f0"
"""Stands where something was dropped: two numbers on its sides are two numbers."""

_NAMES_BY_ROLE = {
    "list": "ul",
    "listitem": "li",
}
_TABLE_PARTS_BY_ROLE = {
    "table": "table",
    "grid": "table",
    "treegrid": "table",
    "rowgroup": "tbody",
    "row": "tr",
    "cell": "td",
    "gridcell": "td",
    "columnheader": "th",
    "rowheader": "th",
}
"""Elements without a meaning may say what they are (WAI-ARIA 1.2)."""
_ELEMENTS_WITHOUT_MEANING = frozenset(["div", "span"])
_MAY_BE_TABLE_PARTS = frozenset(["div", "span", "p", "section", "ul", "ol", "li", "dl", "dt", "dd"])
"""As every element of a page's own making."""

_ROW_GROUPS = frozenset(["thead", "tbody", "tfoot"])
_WITHOUT_CONTENT = frozenset(["area", "br", "embed", "hr", "img", "input", "textarea", "wbr"])

_TEXT_FIELDS = frozenset(
    ["", "text", "number", "date", "time", "datetime-local", "month", "week", "tel", "url", "email"]
)
"""Types of `<input>` whose value is written on the page."""
_TICKED_FIELDS = frozenset(["checkbox", "radio"])
_FORMULA_BOXES = frozenset(["katex", "MathJax", "mwe-math-element"])
"""Classes of KaTeX, MathJax and MediaWiki, which write a formula in signs or as a picture, and in MathML."""
_FORMULA_FOR_SCREEN_READERS = frozenset(["katex-mathml", "MJX_Assistive_MathML", "mwe-math-mathml-a11y"])
"""Classes of the MathML in these."""

_RATING = re.compile(
    r"""
    (?: rat (?: ed | ing :? ) \s )?
    \d{1,3} (?: [.,]\d{1,2} )?
    (?: \s out \s of \s \d{1,3} (?: \s stars? )? | \s? (?: / | of ) \s? \d{1,3} \s (?: stars? | points | bubbles ) )
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""The words for a picture of a rating: ``3.5/5 stars``."""

_BETWEEN_ITEMS = frozenset("·•|/,;›»")
"""What sheets write beside the items of a list, which are apart anyway."""
_NOTHING: frozenset[str] = frozenset()

MAX_TREE_DEPTH = 120
"""Deeper elements lose their tags, not their text; the walk over the tree is recursive."""

ParsedNode = TypeVar("ParsedNode")


class Element:
    """An element with what a reader sees of it.

    Attributes:
        name: Of the tag, or of the role that it has.
        letters: Its characters without the blanks round texts; `link_letters` those inside of its `link_count` links.
        holds_table: A table is inside of it; `holds_header_cell` a header cell; `holds_formula` a formula;
            `holds_picture` a picture.
        holds_content: The page's main heading, `main` or an article is inside of it.
        is_boilerplate: It is the outermost element of a part that is not content (`crag.web.extract.boilerplate`).
        style: What its styles mean for its words.
    """

    __slots__ = (
        "attributes",
        "children",
        "holds_content",
        "holds_formula",
        "holds_header_cell",
        "holds_picture",
        "holds_table",
        "is_boilerplate",
        "letters",
        "link_count",
        "link_letters",
        "name",
        "style",
    )

    def __init__(self, name: str, attributes: "dict[str, str | None] | None" = None) -> None:
        self.name = name
        self.attributes = attributes or {}
        self.children: list[Element | str] = []
        self.letters = 0
        self.link_letters = 0
        self.link_count = 0
        self.holds_content = False
        self.holds_formula = False
        self.holds_header_cell = False
        self.holds_picture = False
        self.holds_table = False
        self.is_boilerplate = False
        self.style = PLAIN

    @property
    def plain_letters(self) -> int:
        """The characters outside links."""
        return self.letters - self.link_letters

    def get(self, attribute: str) -> str:
        """The value of an attribute; "" if it is missing or has none."""
        return self.attributes.get(attribute) or ""

    def elements(self) -> "Iterator[Element]":
        """The children that are elements."""
        for child in self.children:
            if isinstance(child, Element):
                yield child

    def texts(self) -> Iterator[str]:
        """All texts inside."""
        for child in self.children:
            if isinstance(child, str):
                yield child
            else:
                yield from child.texts()

    def descendants(self) -> "Iterator[Element]":
        """All elements below this one, in order of the page."""
        for child in self.elements():
            yield child
            yield from child.descendants()


_OpenElement = tuple[Element, Place, frozenset[str], Iterator[ParsedNode]]
"""An element whose children are read, its place among those that selectors see, and what hides its text."""


def build_tree(
    path: Sequence[ParsedNode],
    read: Callable[[ParsedNode], "Element | str | None"],
    children_of: Callable[[ParsedNode], Iterator[ParsedNode]],
    styles: PageStyles,
) -> Element:
    """The tree of a body without hidden and struck out elements.

    Args:
        path: The parser's nodes from the root to the body.
        read: What one node is; None for comments and the like.
        children_of: The nodes directly below a node.
        styles: The styles of the page.
    """
    top = Element("body")
    counters = Counters()
    open_elements = [(top, _place_of(path, read, styles, counters), _NOTHING, children_of(path[-1]))]
    while open_elements:
        parent, place_of_parent, unseen_by, rest = open_elements[-1]
        child = next(rest, None)
        if child is None:
            _close_element(open_elements, counters)
            continue

        seen = read(child)
        if seen is None:
            continue
        if isinstance(seen, str):
            if unseen_by:
                parent.children.append(GAP)
            else:
                parent.children.append(seen)
                parent.letters += len(seen.strip())
            continue

        boxes = parent.style.boxes
        place, style = styles.look_up(place_of_parent, seen.name, seen.attributes, boxes=boxes)
        seen.style = style
        if style.unseen or (unseen_by and style.seen):
            unseen_by = (unseen_by - style.seen) | style.unseen
        if _is_unseen(seen):
            parent.children.append(GAP)
            is_for_screen_readers = "class" in seen.attributes and FOR_SCREEN_READERS.search(seen.get("class"))
            if seen.name == "svg" or is_for_screen_readers:
                _add_words_for(parent, seen, _words_in(child, read, children_of))
        elif len(open_elements) >= MAX_TREE_DEPTH:
            open_elements.append((parent, place, unseen_by, children_of(child)))
        else:
            _add_element(parent, seen, counters, len(open_elements), is_seen=not unseen_by)
            open_elements.append((seen, place, unseen_by, children_of(child)))
    return top


def _add_words_for(parent: Element, unseen: Element, words: str) -> None:
    """Keep the words for a drawing, and those for screen readers alone: they may say what a cell shows as a tick."""
    words = unseen.get("aria-label") or words
    if words:
        sizes: dict[str, str | None] = {side: unseen.get(side) for side in ("width", "height")}
        parent.children.append(Element("svg" if unseen.name == "svg" else "span", {"aria-label": words, **sizes}))
        parent.holds_picture = parent.holds_picture or unseen.name == "svg"


def _words_in(
    node: ParsedNode,
    read: Callable[[ParsedNode], Element | str | None],
    children_of: Callable[[ParsedNode], Iterator[ParsedNode]],
) -> str:
    """The text of an element and of those directly in it; of a drawing that of its title."""
    texts: list[str] = []
    is_drawing = getattr(read(node), "name", "") == "svg"
    for child in children_of(node):
        inner = read(child)
        if isinstance(inner, str):
            texts.append(inner)
        elif inner is not None and (inner.name == "title" or not is_drawing):
            texts += [text for text in map(read, children_of(child)) if isinstance(text, str)]
    return " ".join("".join(texts).split())


def _place_of(
    path: Sequence[ParsedNode],
    read: Callable[[ParsedNode], Element | str | None],
    styles: PageStyles,
    counters: Counters,
) -> Place:
    """The place of the last node of a path among those that selectors see; these nodes may begin counters."""
    place = styles.top
    for node in path:
        seen = read(node)
        if isinstance(seen, Element):
            place, style = styles.look_up(place, seen.name, seen.attributes)
            counters.change(style.changes, 0)
    return place


def _add_element(parent: Element, element: Element, counters: Counters, depth: int, *, is_seen: bool) -> None:
    """Add an element by the name that its role gives it, with the text that a sheet puts at its beginning."""
    style = element.style
    if style.changes:
        counters.change(style.changes, depth)
    if "role" in element.attributes:
        element.name = _name_by_role(element)
    parent.children.append(element)
    if not is_seen:
        return
    if style.before is not None:
        _add_generated(element, style.before, counters, depth)
    if element.name == "input":
        _add_text(element, _typed_text(element))
    elif element.name == "img" or element.get("role") == "img":
        _add_text(element, _read_rating(element))


def _typed_text(field: Element) -> str:
    """What is written in a field of a form, or the mark in a box that is ticked; a button is none."""
    kind = field.get("type").lower()
    if kind in _TICKED_FIELDS:
        return "☒" if "checked" in field.attributes else ""
    return field.get("value") if kind in _TEXT_FIELDS else ""


def _read_rating(picture: Element) -> str:
    """The rating that stars show; "" for any other picture. Its words could say what no reader sees."""
    words = picture.get("aria-label") or picture.get("alt")
    return words if _RATING.fullmatch(words) else ""


def _name_by_role(element: Element) -> str:
    """The name of what an element says that it is; its own name if that is nothing that is read in another way."""
    name, role = element.name, element.get("role")
    if role in _TABLE_PARTS_BY_ROLE and (name in _MAY_BE_TABLE_PARTS or "-" in name):
        return _TABLE_PARTS_BY_ROLE[role]
    if role in _NAMES_BY_ROLE and name in _ELEMENTS_WITHOUT_MEANING:
        return _NAMES_BY_ROLE[role]
    return name


def _is_unseen(element: Element) -> bool:
    """Whether a reader does not see the element and all in it, or sees it struck out."""
    attributes = element.attributes
    if element.name in DROPPED_ELEMENTS:
        return True
    if element.style.is_hidden:
        return not _is_formula_in_words(element)
    # Of the choices of a list only the one that was made is seen.
    if element.name == "option":
        return "selected" not in attributes
    is_closed_dialog = element.name == "dialog" and "open" not in attributes
    return is_closed_dialog or "popover" in attributes


def _is_formula_in_words(element: Element) -> bool:
    """Whether a hidden element holds a formula for screen readers, of which others see a picture or signs in boxes."""
    return not _FORMULA_FOR_SCREEN_READERS.isdisjoint(element.get("class").split())


def _add_generated(parent: Element, generated: Generated, counters: Counters, depth: int) -> None:
    """Add a text that the page's sheet holds to an element at a depth of the tree."""
    if parent.name in _WITHOUT_CONTENT:
        return
    counters.change(generated.style.changes, depth + 1)
    text = write_content(generated.pieces, parent.attributes, counters)
    if not text.strip() or (parent.name == "li" and text.strip() in _BETWEEN_ITEMS):
        return
    element = Element("span")
    element.style = generated.style
    _add_text(element, text)
    parent.children.append(element)
    parent.letters += element.letters


def _add_text(element: Element, text: str) -> None:
    if text.strip():
        element.children.append(text)
        element.letters += len(text.strip())


def _close_element(open_elements: list[_OpenElement[ParsedNode]], counters: Counters) -> None:
    """Finish the innermost open element, and add its letters to those of its parent."""
    element, _, unseen_by, _ = open_elements.pop()
    parent = open_elements[-1][0] if open_elements else element
    if parent is element:  # the top, or an element that lost its tags
        return

    if element.style is not PLAIN:
        _finish_by_style(element, counters, len(open_elements), is_seen=not unseen_by)
    if counters.are_used:
        counters.close(len(open_elements))
    if element.holds_formula and not _FORMULA_BOXES.isdisjoint(element.get("class").split()):
        _keep_formula(element)
    # Scripts make links of elements without an address; those with a name are places, not links.
    if element.name == "a" and ("href" in element.attributes or "name" not in element.attributes):
        element.link_letters = element.letters
        element.link_count = 1
    parent.letters += element.letters
    parent.link_letters += element.link_letters
    parent.link_count += element.link_count
    parent.holds_formula = parent.holds_formula or element.holds_formula or element.name == "math"
    parent.holds_picture = parent.holds_picture or element.holds_picture or element.name == "img"
    parent.holds_table = parent.holds_table or element.holds_table or element.name == "table"
    parent.holds_content = parent.holds_content or element.holds_content or element.name in CONTENT_ELEMENTS
    parent.holds_header_cell = parent.holds_header_cell or element.holds_header_cell or element.name == "th"


def _finish_by_style(element: Element, counters: Counters, depth: int, *, is_seen: bool) -> None:
    """Change the children of an element as its style demands."""
    style = element.style
    if style.after is not None and is_seen:
        _add_generated(element, style.after, counters, depth)
    if style.boxes:
        element.children.sort(key=_order_of)
        if style.boxes_are_reversed:
            element.children.reverse()
    if style.table_part == "table":
        _name_table_parts(element)


def _order_of(box: Element | str) -> int:
    return 0 if isinstance(box, str) else box.style.order


def _keep_formula(box: Element) -> None:
    """Keep of a formula that is written twice the notation with a meaning: MathML, not signs in their places."""
    formula = next((inner for inner in box.descendants() if inner.name == "math"), None)
    if formula is not None and formula.letters > 0:
        box.children = [formula]
        box.letters = formula.letters


def _name_table_parts(table: Element) -> None:
    """Name the parts of what is shown as a table, such as ``tr``, if it has rows."""
    groups = [child for child in table.elements() if child.style.table_part in _ROW_GROUPS]
    rows: list[Element] = []
    for group in (table, *groups):
        rows.extend(child for child in group.elements() if child.style.table_part == "tr")
    if not rows:
        return

    table.name = "table"
    for part in (*groups, *rows):
        part.name = part.style.table_part
    for row in rows:
        for cell in row.elements():
            if cell.style.table_part == "td" and cell.name != "th":
                cell.name = "td"
