"""The slides of a PPTX as HTML, by python-pptx: titles, texts in reading order, tables, charts, diagrams, notes."""

import io
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from crag.asking.office.drawing_text import body_markup, body_text
from crag.asking.office.package_xml import slide_damage
from crag.asking.office.shapes import SLIDE, Place, ShapeReader, choose_alternatives, is_hidden
from crag.asking.office.slide_package import mend_presentation
from crag.asking.raised_text import to_html, without_marks

if TYPE_CHECKING:
    from lxml.etree import _Element as Element
    from pptx.slide import Slide

_EQUATION = "{http://schemas.openxmlformats.org/officeDocument/2006/math}oMath"


class Slides(NamedTuple):
    """The title of the first slide that has one, the slides as HTML by number, and a note on what is not read."""

    title: str
    slides: list[tuple[int, str]]
    note: str


def read_slides(content: bytes) -> Slides:
    """The slides that are shown. Of a slide that is damaged in part, the rest."""
    import pptx

    package = mend_presentation(content)
    presentation = pptx.Presentation(io.BytesIO(package.content))
    reading = _Reading()
    # `presentation.slides` fails as a whole if one is missing.
    for number, entry in enumerate(presentation.element.iter(f"{SLIDE}sldId"), start=1):
        try:
            slide = presentation.part.related_slide(entry.rId)
            if slide.element.get("show") in {"0", "false"}:
                reading.hidden_slides.append(str(number))
            else:
                reading.read(number, slide)
                if str(slide.part.partname).lstrip("/") in package.without_relations:
                    reading.faults.append(f"slide {number}: relations are damaged, notes may be left out")
        except slide_damage():
            reading.faults.append(f"slide {number} is damaged and not read")
    return Slides(reading.title, reading.slides, reading.note())


class _Reading:
    """What was read of a presentation so far, and what was not."""

    def __init__(self) -> None:
        self.title = ""
        self.slides: list[tuple[int, str]] = []
        self.hidden_slides: list[str] = []
        self.faults: list[str] = []
        self._hidden_shapes = 0
        self._equations = 0
        self._objects = 0

    def read(self, number: int, slide: "Slide") -> None:
        """Read a slide: the title as a heading, then all else, then the notes."""
        _prepare(slide.element)
        tree = slide.element.find(f"{SLIDE}cSld/{SLIDE}spTree")
        reader = ShapeReader(slide.part, _inherited_places(slide))
        pieces = []
        title = _find_title(tree)
        if title is not None:
            text = " ".join(body_text(title.find(f"{SLIDE}txBody")).split())
            pieces.append(f"<h1>{to_html(text)}</h1>\n")
            self.title = self.title or without_marks(text)

        pieces += reader.read(tree, title)
        try:
            pieces += _notes_markup(slide)
        except slide_damage():
            reader.faults.append("the notes are damaged and not read")

        self.slides.append((number, "".join(pieces)))
        self.faults += [f"slide {number}: {fault}" for fault in reader.faults]
        self._hidden_shapes += reader.hidden
        self._objects += reader.objects
        self._equations += sum(1 for _ in slide.element.iter(_EQUATION))

    def note(self) -> str:
        """What is not read."""
        counts = {
            "hidden slides": ", ".join(self.hidden_slides),
            "hidden shapes": self._hidden_shapes,
            "equations": self._equations,
            "embedded objects": self._objects,
        }
        left_out = [f"{name} are not read: {count}" for name, count in counts.items() if count]
        return "; ".join([*left_out, *self.faults])


def _prepare(root: "Element") -> None:
    """Change what python-pptx 1.0.2 does not read: alternatives for older programs, and ink, at which it fails."""
    from lxml import etree

    choose_alternatives(root)
    etree.strip_elements(root, f"{SLIDE}contentPart")


def _find_title(tree: "Element") -> "Element | None":
    """The shape that is the title, if it is shown and has text."""
    for shape in tree.findall(f"{SLIDE}sp"):
        kind = shape.find(f"{SLIDE}nvSpPr/{SLIDE}nvPr/{SLIDE}ph")
        is_title = kind is not None and kind.get("type") in {"title", "ctrTitle"}
        if is_title and shape.find(f"{SLIDE}txBody") is not None and not is_hidden(shape):
            return shape
    return None


def _inherited_places(slide: "Slide") -> dict["Element", Place]:
    """Where the placeholders of a slide stand; the layout gives those their place that have none of their own."""
    try:
        return {shape.element: (shape.top or 0, shape.left or 0) for shape in slide.placeholders}
    except slide_damage():  # of the layout
        return {}


def _notes_markup(slide: "Slide") -> Iterator[str]:
    """The speaker's notes."""
    if not slide.has_notes_slide:
        return
    notes = slide.notes_slide
    _prepare(notes.element)
    frame = notes.notes_text_frame
    if frame is not None:
        yield from body_markup(frame._txBody)
