"""A chart of a presentation as HTML: its titles and the values that are saved with it, of any kind of chart.

python-pptx 1.0.2 knows no 3D, stock and surface charts, and fails at texts where it expects numbers, so the XML is read
(ECMA-376, part 1, 21.2).
"""

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from crag.asking.office.chart_rows import ChartText, Series, Texts, chart_text, series_tables
from crag.asking.office.drawing_text import body_markup
from crag.asking.office.escapes import unescape
from crag.asking.office.shown_values import FIRST_DAY, FIRST_DAY_1904, show_value
from crag.asking.raised_text import to_html

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

CHART = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_OFF = frozenset({"0", "false"})


def read_chart(space: "Element") -> ChartText:
    """The title of a chart, those of its axes, and a table for each plot."""
    titles: list[str] = []
    for titled in _titled_parts(space):
        titles += _title_markup(titled)

    first_day = FIRST_DAY_1904 if _is_on(space, "date1904") else FIRST_DAY
    tables: list[list[list[str]]] = []
    for plot in space.findall(f"{CHART}chart/{CHART}plotArea/*"):
        series = [_read_series(one, first_day) for one in plot.findall(f"{CHART}ser")]
        tables += series_tables(series)
    return chart_text(titles, tables)


def _titled_parts(space: "Element") -> Iterator["Element"]:
    """The chart and its axes that are shown."""
    yield from space.findall(f"{CHART}chart")
    for part in space.findall(f"{CHART}chart/{CHART}plotArea/*"):
        if part.tag.endswith("Ax") and not _is_on(part, "delete"):
            yield part


def _is_on(element: "Element", name: str) -> bool:
    """Whether an element has a child that switches something on; without a value it does (CT_Boolean)."""
    switch = element.find(f"{CHART}{name}")
    return switch is not None and switch.get("val") not in _OFF


def _title_markup(titled: "Element") -> Iterator[str]:
    """A title that was typed, or that a cell gives."""
    text = titled.find(f"{CHART}title/{CHART}tx")
    if text is None:
        return
    for body in text.findall(f"{CHART}rich"):
        yield from body_markup(body)
    linked = _join_points(text)
    if linked:
        yield f"<p>{to_html(linked)}</p>\n"


def _join_points(text: "Element") -> str:
    """The texts of the cells that a title or a name is linked to, or a name that was typed."""
    values = [unescape(value.text or "") for value in text.iter(f"{CHART}v")]
    return " ".join(" ".join(values).split())


def _read_series(element: "Element", first_day: datetime) -> Series:
    """A series of any kind of chart."""
    name = element.find(f"{CHART}tx")
    text = _join_points(name) if name is not None else ""
    if not text:
        number = element.find(f"{CHART}idx")
        text = f"series {int(number.get('val', '0')) + 1}" if number is not None else "series"

    def read(part: str) -> Texts:
        found = element.find(f"{CHART}{part}")
        return {} if found is None else _read_points(found, first_day)

    if element.find(f"{CHART}yVal") is not None:
        return Series(text, read("xVal"), read("yVal"), is_points=True, sizes=read("bubbleSize"))
    return Series(text, read("cat"), read("val"))


def _read_points(data: "Element", first_day: datetime) -> Texts:
    """The saved texts or numbers of categories or values, as the chart's data show them."""
    levels = list(data.iter(f"{CHART}lvl"))
    if levels:
        return join_levels([_level_texts(level, "", first_day) for level in levels])

    texts: Texts = {}
    for kind in ("strRef/strCache", "strLit", "numRef/numCache", "numLit"):
        for saved in data.findall("/".join(f"{CHART}{step}" for step in kind.split("/"))):
            number_format = saved.findtext(f"{CHART}formatCode") or "General"
            texts |= _level_texts(saved, number_format if kind.startswith("num") else "", first_day)
    return texts


def join_levels(levels: Sequence[Texts]) -> Texts:
    """Categories with those of the levels above them, which begin where they are named; the lowest level is first."""
    starts = [sorted(level) for level in levels]
    joined: Texts = {}
    for index in sorted(set().union(*starts)):
        names = [levels[0][index]] if index in levels[0] else []
        for level, begun in zip(levels[1:], starts[1:], strict=True):
            place = bisect_right(begun, index)
            if place:
                names.append(level[begun[place - 1]])
        joined[index] = " ".join(reversed(names))
    return joined


def _level_texts(saved: "Element", number_format: str, first_day: datetime) -> Texts:
    """The points of a list; without a format they are texts."""
    texts: Texts = {}
    for point in saved.findall(f"{CHART}pt"):
        text = unescape(point.findtext(f"{CHART}v") or "").strip()
        if number_format:
            text = show_point(text, point.get("formatCode") or number_format, first_day)
        if text:
            texts[int(point.get("idx", "0"))] = text
    return texts


def show_point(text: str, number_format: str, first_day: datetime = FIRST_DAY) -> str:
    """A value of a list of numbers; "" for an error such as ``#N/A``, which a chart shows as a gap."""
    try:
        number = float(text)
    except ValueError:
        return "" if text.startswith("#") else text
    return show_value(number, number_format, first_day) if math.isfinite(number) else ""
