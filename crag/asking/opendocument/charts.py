"""A chart as HTML: its titles, and the values in the table that is saved with it (OpenDocument 1.3, part 3, 11)."""

import math
import re
from collections.abc import Iterator
from itertools import islice, product
from typing import TYPE_CHECKING

from crag.asking.office.chart_rows import ChartText, Series, Texts, chart_text, series_tables
from crag.asking.office.shown_values import show_value
from crag.asking.opendocument.data_styles import GENERAL, to_number_format
from crag.asking.opendocument.grid import ROW, place_cells
from crag.asking.opendocument.names import CHART, OFFICE, TABLE, TEXT
from crag.asking.opendocument.styles import Styles
from crag.asking.raised_text import to_html

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_RANGE = f"{TABLE}cell-range-address"
_CORNER = re.compile(r"\$?([A-Z]{1,3})\$?([0-9]{1,7})$")
"""Of an address such as ``local-table.$B$2:.$B$5``."""
_MOST_CELLS = 100_000
"""Of an address."""

Place = tuple[int, int]
"""The row and the column of a cell, from 1."""


def read_chart(root: "Element", chart: "Element") -> ChartText:
    """The title of a chart, those of its axes, and its series. `root`: of the part with the chart and its styles."""
    reader = _ChartReader(Styles(root, None), chart)
    titles = [f"<p>{to_html(title)}</p>\n" for title in reader.find_titles()]
    return chart_text(titles, series_tables(reader.read_series()))


class _ChartReader:
    """Reads the series of a chart from its table."""

    def __init__(self, styles: Styles, chart: "Element") -> None:
        self._styles = styles
        self._chart = chart
        self._cells: dict[Place, Element] = {}
        table = chart.find(f"{TABLE}table")
        if table is not None:
            for number, row in enumerate(table.iter(ROW), start=1):
                for cell in place_cells(row):
                    self._cells[number, cell.column] = cell.element

    def find_titles(self) -> Iterator[str]:
        """The titles of the chart and of its axes."""
        for path in ("title", "subtitle", "plot-area/axis/title"):
            for title in self._chart.findall(_in_chart(path)):
                text = " ".join("".join(title.itertext()).split())
                if text:
                    yield text

    def read_series(self) -> list[Series]:
        """All series. Points without an x of their own have that of the first series."""
        categories = self._read_categories()
        first_x: Texts = {}
        series = []
        for number, element in enumerate(self._chart.findall(_in_chart("plot-area/series")), start=1):
            name = self._read_name(element.get(f"{CHART}label-cell-address", "")) or f"series {number}"
            values = self._read_points(element.get(f"{CHART}values-cell-range-address", ""), element)
            domains = [domain.get(_RANGE, "") for domain in element.findall(f"{CHART}domain")]

            kind = (element.get(f"{CHART}class") or self._chart.get(f"{CHART}class", "")).partition(":")[2]
            if kind == "bubble" and len(domains) > 1:
                y, x = (self._read_points(domain) for domain in domains[:2])
                series.append(Series(name, x, y, is_points=True, sizes=values))
            elif kind in {"scatter", "bubble"}:
                x = self._read_points(domains[0]) if domains else first_x
                first_x = first_x or x
                series.append(Series(name, x, values, is_points=True))
            else:
                series.append(Series(name, categories, values))
        return series

    def _read_categories(self) -> Texts:
        """The names of the points, in the format of their axis."""
        for axis in self._chart.findall(_in_chart("plot-area/axis")):
            for categories in axis.findall(f"{CHART}categories"):
                return self._read_points(categories.get(_RANGE, ""), axis)
        return {}

    def _read_points(self, address: str, styled: "Element | None" = None) -> Texts:
        """The texts of cells by their place in a list, in the format of an axis or a series; a gap has none."""
        style = None
        if styled is not None:
            style = self._styles.find_data_style("chart", styled.get(f"{CHART}style-name", ""))
        number_format = GENERAL if style is None else to_number_format(style)

        texts: Texts = {}
        for index, place in enumerate(_find_places(address)):
            cell = self._cells.get(place)
            text = "" if cell is None else _cell_text(cell, number_format)
            if text:
                texts[index] = text
        return texts

    def _read_name(self, address: str) -> str:
        """The text of the cells that name a series."""
        return " ".join(self._read_points(address).values())


def _in_chart(path: str) -> str:
    """The path of elements of a chart."""
    return "/".join(f"{CHART}{step}" for step in path.split("/"))


def _cell_text(cell: "Element", number_format: str) -> str:
    """The text of a cell; "" for a gap, which is saved as a number that is none."""
    value: str = cell.get(f"{OFFICE}value", "")
    if not value:
        # Names of several levels are joined in the first paragraph, and a list behind it.
        return " ".join((cell.findtext(f"{TEXT}p") or "").split())
    try:
        number = float(value)
    except ValueError:
        return value
    return show_value(number, number_format) if math.isfinite(number) else ""


def _find_places(address: str) -> Iterator[Place]:
    """The cells of addresses, whatever the table is called."""
    for area in address.split():
        corners = [_CORNER.search(corner) for corner in area.split(":")[:2]]
        places = [(int(corner[2]), _column_number(corner[1])) for corner in corners if corner is not None]
        if places:
            top, left = places[0]
            bottom, right = places[-1]
            cells = product(range(top, bottom + 1), range(left, right + 1))
            yield from islice(cells, _MOST_CELLS)


def _column_number(letters: str) -> int:
    """The number of a column: 27 of ``AA``."""
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - ord("A") + 1
    return number
