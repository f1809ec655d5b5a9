"""A chart as HTML: its titles, and the values of its series in tables, whatever kind of chart or file it is."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from crag.asking.tables import table_pages

Texts = dict[int, str]
"""Texts of points by their index; a gap has none."""


@dataclass(frozen=True, slots=True)
class Series:
    """A series of values.

    Attributes:
        name: Its name in the legend.
        categories: What each value is of; for a chart of points, x.
        values: For a chart of points, y.
        is_points: Whether the series is of a chart of points.
        sizes: Of the bubbles of a bubble chart.
    """

    name: str
    categories: Texts
    values: Texts
    is_points: bool = False
    sizes: Texts = field(default_factory=dict)


class ChartText(NamedTuple):
    """The HTML of a chart, and whether values are saved with it; without, they are in another file."""

    html: str
    has_values: bool


def chart_text(titles: Iterable[str], tables: Iterable[list[list[str]]]) -> ChartText:
    """The chart with these titles, which are HTML, above these tables."""
    pieces = list(titles)
    has_values = False
    for table in tables:
        has_values = True
        pieces += [page.html for page in table_pages(table)]
    return ChartText("".join(pieces), has_values)


def series_tables(all_series: Sequence[Series]) -> Iterator[list[list[str]]]:
    """The tables of a plot: a row for each point, or for each category with a column for each series.

    Series whose categories differ are tables of their own. Series without categories have those of the first with some.
    """
    with_values = [series for series in all_series if series.values]
    points = [series for series in with_values if series.is_points]
    if points:
        yield _point_rows(points)

    groups: list[list[Series]] = []
    for series in with_values:
        if series.is_points:
            continue
        fitting = [group for group in groups if _fits(series, group)]
        if fitting:
            fitting[0].append(series)
        else:
            groups.append([series])
    for group in groups:
        yield _category_rows(group)


def _fits(series: Series, group: Sequence[Series]) -> bool:
    """Whether a series names no point differently than those of a table do."""
    for other in group:
        common = series.categories.keys() & other.categories.keys()
        if any(series.categories[index] != other.categories[index] for index in common):
            return False
    return True


def _category_rows(group: Sequence[Series]) -> list[list[str]]:
    categories: Texts = {}
    indices: set[int] = set()
    for series in group:
        categories |= series.categories
        indices |= series.values.keys()
    indices |= categories.keys()

    rows = [["category", *(series.name for series in group)]]
    for index in sorted(indices):
        # A chart without categories counts its points.
        category = categories.get(index, "") if categories else str(index + 1)
        rows.append([category, *(series.values.get(index, "") for series in group)])
    return rows


def _point_rows(points: Sequence[Series]) -> list[list[str]]:
    has_sizes = any(series.sizes for series in points)
    rows = [["series", "x", "y", *(["size"] if has_sizes else [])]]
    for series in points:
        for index in sorted(series.values):
            x = series.categories.get(index, "") if series.categories else str(index + 1)
            size = [series.sizes.get(index, "")] if has_sizes else []
            rows.append([series.name, x, series.values[index], *size])
    return rows
