"""How the runs of a DOCX are shown: hidden, struck out, raised or lowered, by their own properties and by styles.

ECMA-376, part 1, 17.7.2: a run's own properties come first, then its character style, its paragraph's style, its
table's style, and the document's defaults. A style has the properties of the one that it is based on.
"""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
VALUE = f"{WORD}val"

_OFF = frozenset({"0", "false", "off"})
_LEAST_SHIFT = 3
"""Half points: a smaller shift moves text on its line for the eye."""
_MEASURE = re.compile(r"([-+]?\d{1,5}(?:\.\d{1,5})?)(pt)?")

_STYLE_OWNERS = (("character", "r", "rStyle"), ("paragraph", "p", "pStyle"), ("table", "tbl", "tblStyle"))
"""The type of a style, the element that names one among its properties, and the name of that property."""


class _RunProperties(NamedTuple):
    """What decides how a run is shown: its own properties, and those of each of its styles, from near to far."""

    own: "Sequence[Element]"
    styles: "Sequence[Sequence[Element]]"


class RunLook(NamedTuple):
    """How a run is shown. `height`: "superscript", "subscript" or "baseline"."""

    is_hidden: bool
    is_struck: bool
    height: str


def is_on(mark: "Element | None") -> bool:
    """Whether a property is there and not switched off by its value."""
    return mark is not None and mark.get(VALUE) not in _OFF


class WordStyles:
    """The styles of a document; without their part, there are none."""

    def __init__(self, root: "Element | None") -> None:
        self._styles: dict[tuple[str, str], Element] = {}
        self._default_ids: dict[str, str] = {}
        self._defaults: Sequence[Element] = ()
        self._properties: dict[tuple[str, str], list[Element]] = {}
        if root is None:
            return

        self._defaults = root.findall(f"{WORD}docDefaults/{WORD}rPrDefault/{WORD}rPr")
        for style in root.findall(f"{WORD}style"):
            kind = style.get(f"{WORD}type", "")
            style_id = style.get(f"{WORD}styleId", "")
            self._styles.setdefault((kind, style_id), style)
            if style.get(f"{WORD}default", "0") not in _OFF:
                self._default_ids[kind] = style_id

    def look_of(self, run: "Element") -> RunLook:
        """How a run is shown."""
        properties = _RunProperties(
            own=run.findall(f"{WORD}rPr"),
            styles=[self._style_properties(run, *owner) for owner in _STYLE_OWNERS],
        )
        is_struck_twice = is_on(self._first("dstrike", properties))
        return RunLook(
            is_hidden=self._is_switched_on("vanish", properties),
            is_struck=is_struck_twice or self._is_switched_on("strike", properties),
            height=self._height(properties),
        )

    def _height(self, properties: _RunProperties) -> str:
        """Text is raised by an alignment, or by hand."""
        alignment = self._first("vertAlign", properties)
        height = "baseline" if alignment is None else alignment.get(VALUE, "baseline")
        position = self._first("position", properties)
        if height != "baseline" or position is None:
            return height

        shift = _half_points(position.get(VALUE, ""))
        if abs(shift) < _LEAST_SHIFT:
            return "baseline"
        return "superscript" if shift > 0 else "subscript"

    def _first(self, name: str, properties: _RunProperties) -> "Element | None":
        """A property where it is given first."""
        for elements in (properties.own, *properties.styles, self._defaults):
            mark = _find(name, elements)
            if mark is not None:
                return mark
        return None

    def _is_switched_on(self, name: str, properties: _RunProperties) -> bool:
        """Whether a toggle property is on: each style that has it switches it over (ECMA-376, part 1, 17.7.3)."""
        own_mark = _find(name, properties.own)
        if own_mark is not None:
            return is_on(own_mark)
        if is_on(_find(name, self._defaults)):
            return True
        return sum(is_on(_find(name, elements)) for elements in properties.styles) % 2 == 1

    def find(self, kind: str, style_id: str) -> "Element | None":
        """A style; None if there is none of this type and name."""
        return self._styles.get((kind, style_id))

    def paragraph_styles(self, paragraph: "Element") -> "list[Element]":
        """The style of a paragraph, and those that it is based on."""
        return self._with_bases("paragraph", self._style_id(paragraph, "paragraph", "p", "pStyle"))

    def _style_properties(self, run: "Element", kind: str, owner_name: str, property_name: str) -> "list[Element]":
        """The properties of the style of a run, of its paragraph or its table, its own before those it is based on."""
        owner = next(run.iterancestors(WORD + owner_name), None) if owner_name != "r" else run
        if owner is None:
            return []
        key = (kind, self._style_id(owner, kind, owner_name, property_name))
        if key not in self._properties:
            self._properties[key] = []
            for style in self._with_bases(*key):
                self._properties[key] += style.findall(f"{WORD}rPr")
        return self._properties[key]

    def _style_id(self, owner: "Element", kind: str, owner_name: str, property_name: str) -> str:
        """The style that an element names, else the default one of its type."""
        named = owner.find(f"{WORD}{owner_name}Pr/{WORD}{property_name}")
        style_id = "" if named is None else named.get(VALUE, "")
        return style_id if (kind, style_id) in self._styles else self._default_ids.get(kind, "")

    def _with_bases(self, kind: str, style_id: str) -> "list[Element]":
        styles: list[Element] = []
        seen: set[str] = set()
        style = self._styles.get((kind, style_id))
        while style is not None and style_id not in seen:
            seen.add(style_id)
            styles.append(style)
            base = style.find(f"{WORD}basedOn")
            style_id = "" if base is None else base.get(VALUE, "")
            style = self._styles.get((kind, style_id))
        return styles


def _find(name: str, properties: "Sequence[Element]") -> "Element | None":
    for group in properties:
        mark = group.find(WORD + name)
        if mark is not None:
            return mark
    return None


def _half_points(measure: str) -> float:
    """A shift in half points; in strict files a measure may have a unit: ``3pt``."""
    match = _MEASURE.fullmatch(measure)
    if match is None:
        return 0
    return float(match[1]) * (2 if match[2] else 1)
