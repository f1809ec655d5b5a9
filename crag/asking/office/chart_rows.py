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


def series_tables(series: Sequence[Series]) -> Iterator[list[list[str]]]:
    """The tables of a plot: a row for each point, or for each category with a column for each series.

    Series whose categories differ are tables of their own. Series without categories have those of the first with some.
    """
    points = [one for one in series if one.is_points and one.values]
    if points:
        yield _point_rows(points)

    groups: list[list[Series]] = []
    for one in series:
        if one.is_points or not one.values:
            continue
        fitting = [group for group in groups if all(_agree(one, other) for other in group)]
        if fitting:
            fitting[0].append(one)
        else:
            groups.append([one])
    for group in groups:
        yield _category_rows(group)


def _agree(one: Series, other: Series) -> bool:
    """Whether two series name no point differently."""
    common = one.categories.keys() & other.categories.keys()
    return all(one.categories[index] == other.categories[index] for index in common)


def _category_rows(group: Sequence[Series]) -> list[list[str]]:
    categories: Texts = {}
    indices: set[int] = set()
    for one in group:
        categories |= one.categories
        indices |= one.values.keys()
    indices |= categories.keys()

    rows = [["category", *(one.name for one in group)]]
    for index in sorted(indices):
        # A chart without categories counts its points.
        category = categories.get(index, "") if categories else str(index + 1)
        rows.append([category, *(one.values.get(index, "") for one in group)])
    return rows


def _point_rows(series: Sequence[Series]) -> list[list[str]]:
    has_sizes = any(one.sizes for one in series)
    rows = [["series", "x", "y", *(["size"] if has_sizes else [])]]
    for one in series:
        for index in sorted(one.values):
            x = one.categories.get(index, "") if one.categories else str(index + 1)
            size = [one.sizes.get(index, "")] if has_sizes else []
            rows.append([one.name, x, one.values[index], *size])
    return rows
