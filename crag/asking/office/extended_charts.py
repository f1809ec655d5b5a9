"""A chart of the kinds that Office 2016 added (waterfall, funnel, treemap and others) as HTML: namespace chartex."""

from typing import TYPE_CHECKING

from crag.asking.office.chart_rows import ChartText, Series, Texts, chart_text, series_tables
from crag.asking.office.charts import join_levels, show_point
from crag.asking.office.drawing_text import body_markup
from crag.asking.raised_text import to_html

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

EXTENDED_CHART = "{http://schemas.microsoft.com/office/drawing/2014/chartex}"


def read_extended_chart(space: "Element") -> ChartText:
    """The title of a chart and the values that are saved with it."""
    data = {one.get("id", ""): one for one in space.iter(f"{EXTENDED_CHART}data")}
    series = []
    for number, element in enumerate(space.iter(f"{EXTENDED_CHART}series"), start=1):
        source = element.find(f"{EXTENDED_CHART}dataId")
        found = data.get(source.get("val", "")) if source is not None else None
        if found is not None:
            name = element.findtext(f"{EXTENDED_CHART}tx/{EXTENDED_CHART}txData/{EXTENDED_CHART}v")
            series.append(_read_series(found, name or f"series {number}"))

    return chart_text([_title_markup(space)], series_tables(series))


def _title_markup(space: "Element") -> str:
    """The title of the chart: typed, or that of a cell."""
    text = space.find(f"{EXTENDED_CHART}chart/{EXTENDED_CHART}title/{EXTENDED_CHART}tx")
    if text is None:
        return ""
    body = text.find(f"{EXTENDED_CHART}rich")
    if body is not None:
        return "".join(body_markup(body))
    linked = text.findtext(f"{EXTENDED_CHART}txData/{EXTENDED_CHART}v") or ""
    return f"<p>{to_html(linked)}</p>\n" if linked.strip() else ""


def _read_series(data: "Element", name: str) -> Series:
    """A series with the categories and the values of its data; sizes of a treemap are values."""
    categories: Texts = {}
    values: Texts = {}
    for dimension in data:
        are_numbers = dimension.tag == f"{EXTENDED_CHART}numDim"
        levels = [_level_texts(level, are_numbers=are_numbers) for level in dimension.findall(f"{EXTENDED_CHART}lvl")]
        if are_numbers and levels and not values:
            values = levels[0]
        elif levels and dimension.get("type") == "cat":
            categories = join_levels(levels)
    return Series(name, categories, values)


def _level_texts(level: "Element", *, are_numbers: bool) -> Texts:
    """The points of a list of texts or numbers."""
    texts: Texts = {}
    for point in level.findall(f"{EXTENDED_CHART}pt"):
        text = (point.text or "").strip()
        if are_numbers:
            text = show_point(text, level.get("formatCode") or "General")
        if text:
            texts[int(point.get("idx", "0"))] = text
    return texts
