"""The slides of a PPTX as HTML, by python-pptx: titles, texts in reading order, tables, charts, notes."""

import io
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from crag.asking.office.number_formats import show_number
from crag.asking.office.time_formats import show_moment
from crag.asking.raised_text import raised, to_html
from crag.asking.tables import table_pages

if TYPE_CHECKING:
    from pptx.chart.chart import Chart
    from pptx.shapes.base import BaseShape
    from pptx.slide import Slide
    from pptx.text.text import TextFrame

_FIRST_DAY = datetime(1899, 12, 30)
"""Day 0 of Excel (ECMA-376, part 1, 18.17.4.1)."""


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
        yield f"<h1>{to_html(' '.join(_frame_text(title.text_frame).split()))}</h1>\n"

    for shape in _in_reading_order(slide.shapes):
        if title is None or shape.shape_id != title.shape_id:
            yield from _shape_markup(shape)
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        yield from _paragraphs(slide.notes_slide.notes_text_frame)


def _in_reading_order(shapes: Iterable["BaseShape"]) -> list["BaseShape"]:
    """From the top to the bottom, and from left to right; shapes without a place of their own come first."""
    return sorted(shapes, key=lambda shape: (shape.top or 0, shape.left or 0))


def _shape_markup(shape: Any) -> Iterator[str]:  # noqa: ANN401 - python-pptx finds out what a shape has at run time
    """The texts of a shape, and of those in it."""
    if hasattr(shape, "shapes"):  # a group
        for inner in _in_reading_order(shape.shapes):
            yield from _shape_markup(inner)
    elif shape.has_text_frame:
        yield from _paragraphs(shape.text_frame)
    elif getattr(shape, "has_table", False):
        yield from _table_markup([[_frame_text(cell.text_frame) for cell in row.cells] for row in shape.table.rows])
    elif getattr(shape, "has_chart", False):
        yield from _chart_markup(shape.chart)


def _paragraphs(frame: "TextFrame") -> Iterator[str]:
    for line in _frame_text(frame).splitlines():
        if line.strip():
            yield f"<p>{to_html(line.strip())}</p>\n"


def _frame_text(frame: "TextFrame") -> str:
    """A line for each paragraph, without what is struck out; superscripts have their marks."""
    lines = []
    for paragraph in frame.paragraphs:
        pieces = [_run_text(element) for element in paragraph._p.xpath("a:r | a:br | a:fld")]
        lines.append("".join(pieces))
    return "\n".join(lines)


def _run_text(element: Any) -> str:  # noqa: ANN401 - elements of python-pptx have no types
    """The text of a run, a field or a break (ECMA-376, part 1, 21.1.2.3)."""
    text = "".join(element.xpath("a:t/text()"))
    if not text:
        return " " if element.tag.endswith("}br") else ""
    strike, baseline = ("".join(element.xpath(f"a:rPr/@{name}")) for name in ("strike", "baseline"))
    if strike not in {"", "noStrike"}:
        return ""
    is_raised = baseline.strip("0%") != "" and not baseline.startswith("-")
    return raised(text) if is_raised else text


def _table_markup(rows: list[list[str]]) -> Iterator[str]:
    for page in table_pages(rows):
        yield page.html


def _chart_markup(chart: "Chart") -> Iterator[str]:
    """The title of a chart and its values as tables, one for each plot."""
    if chart.has_title and chart.chart_title.has_text_frame:
        yield from _paragraphs(chart.chart_title.text_frame)
    try:
        plots = list(chart.plots)
    except ValueError:  # of a kind that python-pptx 1.0.2 does not know, such as 3D
        plots = []
    for plot in plots:
        yield from _table_markup(_plot_rows(plot))


def _plot_rows(plot: Any) -> list[list[str]]:  # noqa: ANN401 - python-pptx does not export the kinds of plots
    """A row for each category with a column for each series; a row for each point of a scatter chart."""
    categories = [_category_text(plot, category) for category in plot.categories]
    if not categories:
        rows = [["series", "x", "y"]]
        for series in plot.series:
            abscissae = [float(value.text) for value in series._element.xpath("c:xVal//c:pt/c:v")]
            for x, y in zip(abscissae, series.values, strict=False):
                rows.append([str(series.name), show_number(x, "General"), _value_text(series, y)])
        return rows

    rows = [["category", *(str(series.name) for series in plot.series)]]
    for index, category in enumerate(categories):
        values = [series.values[index] if index < len(series.values) else None for series in plot.series]
        texts = [_value_text(series, value) for series, value in zip(plot.series, values, strict=True)]
        rows.append([category, *texts])
    return rows


def _category_text(plot: Any, category: Any) -> str:  # noqa: ANN401 - as above
    """The name of a category with those of the levels above it; days are numbers in the file."""
    formats = [code.text or "" for code in plot._element.xpath("c:ser/c:cat//c:formatCode")]
    if formats and any(letter in formats[0].lower() for letter in "ymd"):
        return show_moment(_FIRST_DAY + timedelta(days=float(category.label)), formats[0])
    if plot.categories.depth > 1:
        return " ".join(map(str, plot.categories.flattened_labels[category.idx]))
    return str(category.label)


def _value_text(series: Any, value: float | None) -> str:  # noqa: ANN401 - as above
    """A value as the chart's data show it; "" for a gap."""
    if value is None:
        return ""
    formats = series._element.xpath("(c:val|c:yVal)//c:formatCode")
    return show_number(value, (formats[0].text if formats else None) or "General")
