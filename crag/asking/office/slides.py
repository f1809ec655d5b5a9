"""The slides of a PPTX as HTML, by python-pptx: titles, texts in reading order, tables, charts, notes."""

import html
import io
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from crag.asking.tables import table_pages

if TYPE_CHECKING:
    from pptx.chart.chart import Chart
    from pptx.shapes.base import BaseShape
    from pptx.slide import Slide


class Slides(NamedTuple):
    """The title of a presentation, its slides as HTML by number, and a note on what is not read."""

    title: str
    slides: list[tuple[int, str]]
    note: str


def read_slides(content: bytes) -> Slides:
    """The slides that are shown."""
    import pptx

    presentation = pptx.Presentation(io.BytesIO(content))
    slides = []
    hidden = []
    for number, slide in enumerate(presentation.slides, start=1):
        if slide.element.get("show") == "0":
            hidden.append(str(number))
        else:
            slides.append((number, "".join(_slide_markup(slide))))

    title = presentation.core_properties.title or ""
    if not title or title == "PowerPoint Presentation":
        title = _find_first_title(presentation.slides)
    return Slides(title, slides, f"hidden slides are not read: {', '.join(hidden)}" if hidden else "")


def _find_first_title(slides: Iterable["Slide"]) -> str:
    """The title of the first slide that has one."""
    for slide in slides:
        shape = slide.shapes.title
        if shape is not None and shape.has_text_frame and shape.text_frame.text.strip():
            return " ".join(shape.text_frame.text.split())
    return ""


def _slide_markup(slide: "Slide") -> Iterator[str]:
    """The title as a heading, then all else from the top to the bottom, then the notes."""
    title = slide.shapes.title
    if title is not None and title.has_text_frame:
        yield f"<h1>{html.escape(' '.join(title.text_frame.text.split()))}</h1>\n"

    for shape in _in_reading_order(slide.shapes):
        if title is None or shape.shape_id != title.shape_id:
            yield from _shape_markup(shape)
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        yield from _paragraphs(slide.notes_slide.notes_text_frame.text)


def _in_reading_order(shapes: Iterable["BaseShape"]) -> list["BaseShape"]:
    """From the top to the bottom, and from left to right; shapes without a place of their own come first."""
    return sorted(shapes, key=lambda shape: (shape.top or 0, shape.left or 0))


def _shape_markup(shape: Any) -> Iterator[str]:  # noqa: ANN401 - python-pptx finds out what a shape has at run time
    """The texts of a shape, and of those in it."""
    from pptx.enum.shapes import MSO_SHAPE_TYPE

    if shape.shape_type == MSO_SHAPE_TYPE.GROUP:
        for inner in _in_reading_order(shape.shapes):
            yield from _shape_markup(inner)
    elif shape.has_text_frame:
        yield from _paragraphs(shape.text_frame.text)
    elif getattr(shape, "has_table", False):
        yield from _table_markup([[cell.text for cell in row.cells] for row in shape.table.rows])
    elif getattr(shape, "has_chart", False):
        yield from _table_markup(_chart_rows(shape.chart))


def _paragraphs(text: str) -> Iterator[str]:
    for line in text.replace("\v", " ").splitlines():
        if line.strip():
            yield f"<p>{html.escape(line.strip())}</p>\n"


def _table_markup(rows: list[list[str]]) -> Iterator[str]:
    for page in table_pages(rows):
        yield page.html


def _chart_rows(chart: "Chart") -> list[list[str]]:
    """The values of a chart as a table: a row for each category, a column for each series."""
    rows: list[list[str]] = []
    for plot in chart.plots:
        names = [str(series.name) for series in plot.series]
        rows.append(["category", *names])
        for index, category in enumerate(plot.categories):
            values = [f"{series.values[index]:g}" if index < len(series.values) else "" for series in plot.series]
            rows.append([str(category), *values])
    return rows
