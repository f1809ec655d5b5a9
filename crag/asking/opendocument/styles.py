"""The styles of an OpenDocument file: what of them changes what is read (OpenDocument 1.3, part 3, 16)."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from crag.asking.opendocument.names import NUMBER, OFFICE, STYLE, TEXT

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_NAME = f"{STYLE}name"
_LIST_STYLE_NAME = f"{STYLE}list-style-name"
_PERCENT = re.compile(r"([-+]?\d{1,4}(?:\.\d{1,9})?)%")
_LEAST_SHIFT = 10
"""Percent of the height of letters: a smaller shift moves text on its line for the eye."""

Properties = dict[str, str]


class Look(NamedTuple):
    """How text is shown. `height`: "superscript", "subscript" or "baseline"."""

    is_hidden: bool = False
    is_struck: bool = False
    height: str = "baseline"


class Styles:
    """The styles of a file by their family and name."""

    def __init__(self, content: "Element", styles: "Element | None") -> None:
        """`content`: the root of the part with the body; `styles`: of that with the named styles, if there is one."""
        self._styles: dict[tuple[str, str], Element] = {}
        self._defaults: dict[str, Element] = {}
        self._data_styles: dict[str, Element] = {}
        self._list_styles: dict[str, Element] = {}
        self.outline_style: Element | None = None
        """How headings are numbered."""
        self._changes: dict[tuple[str, str], list[Properties]] = {}

        groups = [content.find(f"{OFFICE}automatic-styles"), content.find(f"{OFFICE}styles")]
        if styles is not None:
            # The automatic styles of this part are those of heads and feet of pages.
            groups.append(styles.find(f"{OFFICE}styles"))
        for group in groups:
            if group is not None:
                self._add(group)

    def _add(self, group: "Element") -> None:
        for style in group:
            if not isinstance(style.tag, str):
                continue
            family = style.get(f"{STYLE}family", "")
            name = style.get(_NAME, "")
            if style.tag == f"{STYLE}style":
                self._styles.setdefault((family, name), style)
            elif style.tag == f"{STYLE}default-style":
                self._defaults.setdefault(family, style)
            elif style.tag == f"{TEXT}list-style":
                self._list_styles.setdefault(name, style)
            elif style.tag == f"{TEXT}outline-style":
                self.outline_style = style
            elif style.tag.startswith(NUMBER):
                self._data_styles.setdefault(name, style)

    def find_property(self, family: str, name: str, properties: str, attribute: str) -> str:
        """A property of a style, or of one that it is based on; "" without it."""
        for style in self._chain(family, name):
            for group in style.findall(f"{STYLE}{properties}"):
                if attribute in group.attrib:
                    return str(group.get(attribute))
        return ""

    def is_based_on(self, family: str, name: str, base: str) -> bool:
        """Whether a style is another, or based on it."""
        return any(style.get(_NAME) == base for style in self._chain(family, name))

    def find_data_style(self, family: str, name: str) -> "Element | None":
        """The format of the numbers of a cell or a series; the one for numbers above zero if it depends on them."""
        for style in self._chain(family, name):
            data_style = self._data_styles.get(style.get(f"{STYLE}data-style-name", ""))
            if data_style is not None:
                condition = data_style.find(f"{STYLE}map")
                positive = "" if condition is None else condition.get(f"{STYLE}apply-style-name", "")
                return self._data_styles.get(positive, data_style)
        return None

    def find_list_style(self, name: str) -> "Element | None":
        """A style of lists."""
        return self._list_styles.get(name)

    def list_style_of_paragraph(self, name: str) -> str:
        """The name of the list style that a style of paragraphs gives them, or one that it is based on; "" if none."""
        for style in self._chain("paragraph", name):
            if _LIST_STYLE_NAME in style.attrib:
                return str(style.get(_LIST_STYLE_NAME))
        return ""

    def outline_level(self, name: str) -> str:
        """The level of the headings of a style of paragraphs, from 1; "" if it has none.

        An automatic style has that of the style it is based on; others do not inherit it (LibreOffice 7.4).
        """
        style = next((style for style in self._chain("paragraph", name) if not _is_automatic(style)), None)
        return "" if style is None else str(style.get(f"{STYLE}default-outline-level", ""))

    def is_taken_from_outline(self, name: str) -> bool:
        """Whether an automatic style gives its heading another list style or none, as for one heading alone."""
        style = self._styles.get(("paragraph", name))
        return style is not None and _is_automatic(style) and _LIST_STYLE_NAME in style.attrib

    def default_look(self, family: str) -> Look:
        """How text without a style is shown."""
        default = self._defaults.get(family)
        return Look() if default is None else _apply(Look(), _text_properties(default))

    def look(self, look: Look, family: str, name: str | None) -> Look:
        """How text is shown that a style changes."""
        if not name:
            return look
        key = (family, name)
        if key not in self._changes:
            own_first = [_text_properties(style) for style in self._chain(family, name)]
            self._changes[key] = own_first[::-1]
        for changes in self._changes[key]:
            look = _apply(look, changes)
        return look

    def _chain(self, family: str, name: str) -> "Iterator[Element]":
        """A style and those that it is based on."""
        seen = set()
        style = self._styles.get((family, name))
        while style is not None and name not in seen:
            seen.add(name)
            yield style
            name = style.get(f"{STYLE}parent-style-name", "")
            style = self._styles.get((family, name))


def _is_automatic(style: "Element") -> bool:
    parent = style.getparent()
    return parent is not None and parent.tag == f"{OFFICE}automatic-styles"


def _text_properties(style: "Element") -> Properties:
    """The properties of its text that a style itself has."""
    properties: Properties = {}
    for group in style.findall(f"{STYLE}text-properties"):
        for name, value in group.items():
            properties[str(name)] = str(value)
    return properties


def _apply(look: Look, changes: Properties) -> Look:
    display = changes.get(f"{TEXT}display")
    if display:
        look = look._replace(is_hidden=display == "none")

    # A line has a style, a type, or both; either can say that there is none.
    line = {changes.get(f"{STYLE}text-line-through-{name}") for name in ("style", "type")} - {None}
    if line:
        look = look._replace(is_struck="none" not in line)

    position = changes.get(f"{STYLE}text-position", "").split()
    if position:
        look = look._replace(height=_read_height(position[0]))
    return look


def _read_height(position: str) -> str:
    """The height of "super", "sub", or a share of the height of letters such as "33%"."""
    share = _PERCENT.fullmatch(position)
    shift = float(share[1]) if share else 0.0
    if position == "super" or shift >= _LEAST_SHIFT:
        return "superscript"
    if position == "sub" or shift <= -_LEAST_SHIFT:
        return "subscript"
    return "baseline"
