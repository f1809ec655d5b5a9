"""The shapes of a slide or a sheet as HTML: texts, tables, charts, diagrams and groups of them.

Both have the same elements under names of their own (ECMA-376, part 1, 19.3.1 and 20.5.2).
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Protocol

from crag.asking.archive_xml import parse_xml
from crag.asking.office.charts import CHART, read_chart
from crag.asking.office.diagrams import DIAGRAM, diagram_markup
from crag.asking.office.drawing_text import DRAWING, body_markup, body_text
from crag.asking.office.extended_charts import EXTENDED_CHART, read_extended_chart
from crag.asking.office.package_xml import DAMAGE
from crag.asking.tables import table_pages

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

SLIDE = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_ALTERNATIVES = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_FRAME_CONTENT = f"{DRAWING}graphic/{DRAWING}graphicData/*"
_ON = frozenset({"1", "true"})
_SHAPES = frozenset({"sp", "grpSp", "graphicFrame"})
"""Those that may have text; lines, pictures and ink have none."""

Place = tuple[int, int]
"""From the top, and from the left."""


class Part(Protocol):
    """A part of a package: its bytes, and the parts that it is related to."""

    @property
    def blob(self) -> bytes:
        """Its bytes."""

    def related_part(self, relation: str) -> "Part":
        """The part behind a relation. Raises KeyError: there is none."""


def _name_of(element: "Element") -> str:
    """The name of an element without its name space; "" of a comment."""
    return str(element.tag).rpartition("}")[2] if isinstance(element.tag, str) else ""


def choose_alternatives(root: "Element") -> None:
    """Replace alternatives for older programs by the first that has something to read (ECMA-376, part 3, 7.5)."""
    for alternatives in list(root.iter(f"{_ALTERNATIVES}AlternateContent")):
        parent = alternatives.getparent()
        branches = [branch for branch in alternatives if len(branch)]
        readable = [branch for branch in branches if _has_content(branch)]
        if parent is not None:
            place = parent.index(alternatives)
            parent[place : place + 1] = list((readable or branches or [alternatives])[0])


def _has_content(branch: "Element") -> bool:
    """Whether there is a text, or a frame, in which a table, a chart or a diagram is."""
    has_text = any((text.text or "").strip() for text in branch.iter(f"{DRAWING}t"))
    return has_text or next(branch.iter("{*}graphicFrame"), None) is not None


class ShapeReader:
    """Reads the shapes of a slide or a sheet.

    Attributes:
        faults: What of them is not read, and why.
        hidden: How many are hidden.
        objects: How many are objects of other programs.
    """

    def __init__(self, part: Part, places: Mapping["Element", Place]) -> None:
        """`places`: of shapes that have the place that their layout gives them."""
        self.faults: list[str] = []
        self.hidden = 0
        self.objects = 0
        self._part = part
        self._places = places

    def read(self, parent: "Element", title: "Element | None" = None) -> Iterator[str]:
        """The shapes of a tree or a group but the title, from the top to the bottom and from left to right."""
        shapes = [child for child in parent if _name_of(child) in _SHAPES and child is not title]
        for shape in sorted(shapes, key=self._find_place):
            if is_hidden(shape):
                self.hidden += 1
            elif _name_of(shape) == "grpSp":
                yield from self.read(shape)
            else:
                yield from self._read_shape(shape)

    def _find_place(self, shape: "Element") -> Place:
        """Shapes without a place come first."""
        if shape in self._places:
            return self._places[shape]
        offset = shape.find(f"./*/{DRAWING}xfrm/{DRAWING}off")
        if offset is None:
            offset = shape.find(f"{{*}}xfrm/{DRAWING}off")
        try:
            return (0, 0) if offset is None else (int(offset.get("y", "0")), int(offset.get("x", "0")))
        except ValueError:  # a length with a unit, which Office reads but does not write
            return 0, 0

    def _read_shape(self, shape: "Element") -> list[str]:
        """The text of a shape, or the content of a frame."""
        body = shape.find("{*}txBody")
        if body is not None:
            return list(body_markup(body))
        pieces: list[str] = []
        for content in shape.iterfind(_FRAME_CONTENT):
            pieces += self.read_content(content)
        return pieces

    def read_content(self, content: "Element") -> list[str]:
        """The content of a frame: a table, or a reference to the part of a chart or a diagram."""
        names = {
            f"{DRAWING}tbl": "table",
            f"{CHART}chart": "chart",
            f"{EXTENDED_CHART}chart": "chart",
            f"{DIAGRAM}relIds": "diagram",
        }
        name = names.get(str(content.tag))
        if name is None:
            self.objects += 1
            return []

        try:
            if name == "table":
                return [page.html for page in table_pages(_table_rows(content))]
            if name == "diagram":
                return [diagram_markup(self._related_xml(content, "dm"))]
            return [self._chart_markup(content)]
        except DAMAGE:
            self.faults.append(f"a {name} is damaged and not read")
            return []

    def _chart_markup(self, reference: "Element") -> str:
        read = read_extended_chart if reference.tag == f"{EXTENDED_CHART}chart" else read_chart
        chart = read(self._related_xml(reference, "id"))
        if not chart.has_values:
            self.faults.append("a chart has no saved values")
        return chart.html

    def _related_xml(self, reference: "Element", name: str) -> "Element":
        """The part that a reference names. Raises KeyError, XMLSyntaxError: it is missing or damaged."""
        return parse_xml(self._part.related_part(reference.get(f"{RELATION}{name}", "")).blob)


def _table_rows(table: "Element") -> list[list[str]]:
    """The texts of the cells. A cell that was merged over rows has its value in each of them."""
    rows: list[list[str]] = []
    for row in table.findall(f"{DRAWING}tr"):
        texts: list[str] = []
        for cell in row.findall(f"{DRAWING}tc"):
            column = len(texts)
            body = cell.find(f"{DRAWING}txBody")
            if cell.get("hMerge") in _ON:
                texts.append("")
            elif cell.get("vMerge") in _ON:
                texts.append(rows[-1][column] if rows and column < len(rows[-1]) else "")
            else:
                texts.append("" if body is None else body_text(body))
        rows.append(texts)
    return rows


def is_hidden(shape: "Element") -> bool:
    """Whether a shape was hidden in the selection pane."""
    properties = shape.find("./*/{*}cNvPr")
    return properties is not None and properties.get("hidden") in _ON
