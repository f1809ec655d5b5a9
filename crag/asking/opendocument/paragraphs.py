"""The text of a paragraph, with its notes, boxes and fields (OpenDocument 1.3, part 3, 6)."""

import re
from typing import TYPE_CHECKING, NamedTuple

from crag.asking.opendocument.names import DRAW, DRAW_3D, OFFICE, PRESENTATION, SVG, TEXT
from crag.asking.opendocument.objects import ObjectReader, is_unseen
from crag.asking.opendocument.styles import Look, Styles
from crag.asking.raised_text import lowered, raised

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

LINE_BREAK = "\n"

_BLANKS = {f"{TEXT}s": " ", f"{TEXT}tab": " ", f"{TEXT}line-break": LINE_BREAK}
_UNREAD = frozenset(
    [
        # the reading above a word, the number of a list's item, and the source of a script
        *(f"{TEXT}{name}" for name in ("ruby-text", "number", "script")),
        # comments
        *(f"{OFFICE}{name}" for name in ("annotation", "annotation-end", "binary-data")),
        *(f"{SVG}{name}" for name in ("title", "desc")),
    ]
)
_SHAPES = (DRAW, DRAW_3D)
_HIDDEN_PARAGRAPH = f"{TEXT}hidden-paragraph"
_HEIGHTS = {"superscript": raised, "subscript": lowered}

_GONE = "\ufdd4"
"""Stands where text was struck out: two numbers on its sides are two numbers."""
_GONE_BETWEEN_DIGITS = re.compile(rf"(?<=\d){_GONE}+(?=\d)")
_CHARACTERS = {**dict.fromkeys(map(ord, "\t\n\r"), " "), **dict.fromkeys(range(0xFDD0, 0xFDF0))}
"""The end of a line in XML is a blank; what Unicode keeps out of texts goes."""


class Note(NamedTuple):
    """A footnote or an endnote: its mark in the text, and the element that holds its text."""

    mark: str
    body: "Element"


class Paragraph(NamedTuple):
    """A paragraph.

    Attributes:
        text: With the marks of superscripts and of breaks of lines.
        shapes: The frames and shapes that stand in it, without its equations, which are text.
        notes: Its footnotes and endnotes.
    """

    text: str
    shapes: "list[Element]"
    notes: list[Note]


class _Run(NamedTuple):
    """A piece of text with one look."""

    text: str
    look: Look


def is_hidden(element: "Element") -> bool:
    """Whether a section or a field is hidden, always or by a condition that held when the file was saved."""
    display = element.get(f"{TEXT}display")
    may_be_hidden = display in {None, "condition"}
    return display == "none" or (may_be_hidden and element.get(f"{TEXT}is-hidden") == "true")


class ParagraphReader:
    """Reads paragraphs, and counts the notes."""

    def __init__(self, styles: Styles, objects: ObjectReader) -> None:
        self._styles = styles
        self._objects = objects
        self._note_count = 0
        self._runs: list[_Run] = []
        self._shapes: list[Element] = []
        self._notes: list[Note] = []

    def read(self, element: "Element", look: Look, number: str = "") -> Paragraph:
        """A paragraph or a heading; `look`: of text around it; `number`: what it shows before its text."""
        self._runs = []
        self._shapes = []
        self._notes = []

        shown_number = ""
        if not any(is_hidden(field) for field in element.iter(_HIDDEN_PARAGRAPH)):
            look = self._styles.look(look, "paragraph", element.get(f"{TEXT}style-name"))
            self._read_children(element, look)
            if _is_shown(look) and (not self._runs or any(_is_shown(run.look) for run in self._runs)):
                shown_number = number.translate(_CHARACTERS)
        return Paragraph(shown_number + _join(self._runs), self._shapes, self._notes)

    def _read_children(self, element: "Element", look: Look) -> None:
        self._add(element.text, look)
        for child in element:
            if isinstance(child.tag, str):
                self._read_child(child, look)
            self._add(child.tail, look)

    def _read_child(self, child: "Element", look: Look) -> None:
        if child.tag in _BLANKS:
            self._runs.append(_Run(_BLANKS[child.tag], look))
        elif child.tag == f"{TEXT}note":
            self._read_note(child, look)
        elif child.tag.startswith(_SHAPES):
            self._read_shape(child, look)
        elif child.tag == f"{TEXT}span":
            self._read_children(child, self._styles.look(look, "text", child.get(f"{TEXT}style-name")))
        elif child.tag not in _UNREAD and not child.tag.startswith(PRESENTATION) and not is_hidden(child):
            self._read_children(child, look)

    def _read_note(self, note: "Element", look: Look) -> None:
        """The mark of a note, and the note for later; a note in deleted text goes with it."""
        if look.is_hidden or look.is_struck:
            return
        self._note_count += 1
        mark = (note.findtext(f"{TEXT}note-citation") or "").strip() or str(self._note_count)
        self._notes += [Note(mark, body) for body in note.findall(f"{TEXT}note-body")]
        self._runs.append(_Run(raised(f"[{mark}]"), look._replace(height="baseline")))

    def _read_shape(self, shape: "Element", look: Look) -> None:
        if look.is_hidden:
            return
        equation = None if is_unseen(shape) else self._objects.read_equation(shape)
        if equation is None:
            self._shapes.append(shape)
        else:
            # 2 before 1/2 is 2 1/2, not 21/2.
            is_apart = equation[:1].isdigit() and bool(self._runs) and self._runs[-1].text[-1:].isdigit()
            self._runs.append(_Run(" " * is_apart + equation, look))

    def _add(self, text: str | None, look: Look) -> None:
        """Text of the XML."""
        if text:
            self._runs.append(_Run(text.translate(_CHARACTERS), look))


def _is_shown(look: Look) -> bool:
    return not look.is_hidden and not look.is_struck


def _join(runs: list[_Run]) -> str:
    """The text that is shown. It is raised beside other text: where all of a paragraph is, nothing is."""
    shown = [run for run in runs if not run.look.is_hidden]
    has_line = any(run.text.strip() for run in shown if run.look.height == "baseline")
    pieces = []
    for text, look in shown:
        if look.is_struck:
            pieces.append(_GONE)
        elif has_line and look.height in _HEIGHTS:
            pieces.append(_HEIGHTS[look.height](text))
        else:
            pieces.append(text)
    return _GONE_BETWEEN_DIGITS.sub(" ", "".join(pieces)).replace(_GONE, "")
