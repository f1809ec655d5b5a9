"""Text of DrawingML: of shapes, tables, diagrams and charts of a presentation (ECMA-376, part 1, 21.1.2)."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from crag.asking.office.drawing_numbers import ParagraphNumbers
from crag.asking.office.escapes import blank_controls
from crag.asking.raised_text import raised, to_html

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_STRIKES = frozenset({"sngStrike", "dblStrike"})


def body_text(body: "Element") -> str:
    """A line for each paragraph, with its number, without what is struck out; superscripts have their marks."""
    numbers = ParagraphNumbers(body)
    lines = []
    for paragraph in body.findall(f"{DRAWING}p"):
        line = "".join(map(_piece_text, paragraph))
        # A paragraph without text shows no number.
        lines.append(numbers.next(paragraph) + line if line.strip() else line)
    return "\n".join(lines)


def body_markup(body: "Element") -> Iterator[str]:
    """A paragraph of HTML for each that is not blank."""
    for line in body_text(body).split("\n"):
        if line.strip():
            yield f"<p>{to_html(' '.join(line.split()))}</p>\n"


def _piece_text(piece: "Element") -> str:
    """The text of a run, a field or a break; "" of properties and equations."""
    if piece.tag == f"{DRAWING}br":
        return " "
    if piece.tag not in {f"{DRAWING}r", f"{DRAWING}fld"}:
        return ""

    text = blank_controls(piece.findtext(f"{DRAWING}t") or "")
    properties = piece.find(f"{DRAWING}rPr")
    if properties is None:
        return text
    if properties.get("strike") in _STRIKES:
        return ""
    # "30000" or "30%": the part of the letter's height by which it is raised.
    baseline = properties.get("baseline", "")
    is_raised = baseline.strip("0%") != "" and not baseline.startswith("-")
    return raised(text) if is_raised else text
