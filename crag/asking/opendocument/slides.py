"""The slides of an OpenDocument presentation as HTML (OpenDocument 1.3, part 3, 10.2.4)."""

import re
from typing import TYPE_CHECKING, NamedTuple

from crag.asking.markdown import without_tags
from crag.asking.marked_tables import mark_table_heads
from crag.asking.opendocument.list_numbers import number_slides
from crag.asking.opendocument.names import DRAW, OFFICE, PRESENTATION, SVG
from crag.asking.opendocument.objects import ObjectReader, is_unseen
from crag.asking.opendocument.package import Package
from crag.asking.opendocument.styles import Styles
from crag.asking.opendocument.text import BlockReader, shapes_in

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_CLASS = f"{PRESENTATION}class"
_GROUPS = frozenset({f"{DRAW}g", f"{DRAW}a"})
_BLOCK_TAGS = re.compile(r"</?(?:p|ul|li|h[1-6])>")
_LENGTH = re.compile(r"(-?\d{1,6}(?:\.\d{1,9})?)(cm|mm|in|pt|pc|px)")
_POINTS = {"cm": 72 / 2.54, "mm": 72 / 25.4, "in": 72.0, "pt": 1.0, "pc": 12.0, "px": 0.75}
_MOVED_BY = re.compile(r"translate\s*\(\s*(\S{1,20})\s+(\S{1,20}?)\s*\)")

Place = tuple[float, float]
"""Points from the top, and from the left."""


class OpenSlides(NamedTuple):
    """The title of the first slide that has one, the slides as HTML by number, and notes on what is not read."""

    title: str
    slides: list[tuple[int, str]]
    notes: list[str]


def read_slides(package: Package, styles: Styles, objects: ObjectReader) -> OpenSlides:
    """The slides that are shown."""
    root = package.read_content()
    body = root.find(f"{OFFICE}body/{OFFICE}presentation")
    pages = [] if body is None else body.findall(f"{DRAW}page")
    numbers = {} if body is None else number_slides(body, styles)
    reader = _SlideReader(styles, objects, numbers)
    slides = []
    hidden = []
    title = ""
    for number, page in enumerate(pages, start=1):
        if reader.is_hidden(page):
            hidden.append(str(number))
            continue
        slide_title, markup = reader.read(page)
        title = title or slide_title
        slides.append((number, markup))

    notes = [f"hidden slides are not read: {', '.join(hidden)}"] if hidden else []
    return OpenSlides(package.read_title() or title, slides, notes)


class _SlideReader:
    """Reads slides."""

    def __init__(self, styles: Styles, objects: ObjectReader, numbers: "dict[Element, str]") -> None:
        self._styles = styles
        self._objects = objects
        self._look = styles.default_look("graphic")
        self._blocks = BlockReader(styles, objects, numbers)

    def is_hidden(self, page: "Element") -> bool:
        """Whether a slide is left out when the presentation is shown."""
        style_name = page.get(f"{DRAW}style-name", "")
        attribute = f"{PRESENTATION}visibility"
        return self._styles.find_property("drawing-page", style_name, "drawing-page-properties", attribute) == "hidden"

    def read(self, page: "Element") -> tuple[str, str]:
        """The title of a slide, and its HTML: the title as a heading, then all else, then the notes."""
        title = ""
        pieces: list[str] = []
        for shape in self._shown_shapes(page):
            markup = self._read_shape(shape)
            if shape.get(_CLASS) == "title" and not title:
                title = without_tags(markup)
                pieces.insert(0, f"<h1>{_BLOCK_TAGS.sub(' ', markup).strip()}</h1>" if title else "")
            else:
                pieces.append(markup)

        for notes in page.findall(f"{PRESENTATION}notes"):
            pieces += [self._read_shape(shape) for shape in self._shown_shapes(notes) if shape.get(_CLASS) == "notes"]
        return title, mark_table_heads("\n".join(filter(None, pieces)))

    def _read_shape(self, shape: "Element") -> str:
        """A shape, or those of a group."""
        if shape.tag in _GROUPS:
            return "\n".join(filter(None, map(self._read_shape, self._shown_shapes(shape))))
        look = self._styles.look(self._look, "presentation", shape.get(f"{PRESENTATION}style-name"))
        return self._blocks.read_shape(shape, look)

    def _shown_shapes(self, parent: "Element") -> "list[Element]":
        """The shapes of a slide or a group that are shown, by lines from the top; those that are hidden are counted."""
        shown = []
        for shape in shapes_in(parent):
            if shape.get(f"{PRESENTATION}placeholder") == "true":
                continue  # "Click to add text"
            if is_unseen(shape):
                self._objects.unread["hidden shapes"] += 1
            else:
                shown.append(shape)
        return sorted(shown, key=_find_place)


def _find_place(shape: "Element") -> Place:
    """Where a shape stands. One that was turned has a transformation instead; shapes without a place come first."""
    if shape.tag in _GROUPS:
        return min(map(_find_place, shapes_in(shape)), default=(0.0, 0.0))
    moved = _MOVED_BY.search(shape.get(f"{DRAW}transform", ""))
    left, top = moved.groups() if moved else (shape.get(f"{SVG}x", ""), shape.get(f"{SVG}y", ""))
    return _points(top), _points(left)


def _points(length: str) -> float:
    match = _LENGTH.fullmatch(length)
    return float(match[1]) * _POINTS[match[2]] if match else 0.0
