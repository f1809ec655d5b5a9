"""Figures of companies, from a CSV file, or from a JSON file of sentences by ticker in db3's form."""

import re
from pathlib import Path

from pydantic import BaseModel, TypeAdapter

from crag.facts.converters.folder import dollars_or_empty, number_or_empty, write_table
from crag.facts.tables import EntityTable, Row, TableError, read_json, read_table_rows

_NAMES = ("name", "ticker_symbol")
_FIGURE_COLUMNS = ("market_capitalisation", "earnings_per_share", "price_to_earnings_ratio")
_NO_FIGURE = frozenset({"", "-", "n/a", "nan", "none", "unknown"})

_FIGURES = re.compile(
    r"""
    information\ of\ (?P<name>.{1,400}) \((?P<ticker>[^()]{1,20})\):
    \ [^,]{1,40}capitalization\ is\ (?P<capitalisation>[^,]{1,40}),    # an amount, or "unknown"
      [^,]{1,40}\(eps\)\ is\ (?P<eps>[^,]{1,40}),
    \ [^,]{1,40}ratio\ is\ (?P<ratio>\S{1,40}?)
    \.?$                                                               # not the full stop
    """,
    re.VERBOSE,
)


class _Companies(BaseModel):
    ticker_info_map: dict[str, str]
    """Ticker -> a sentence with the figures."""


def build_companies(source: Path, out: Path, as_of: str) -> int:
    """Figures of companies, as of `as_of`; returns the number of rows. Raises TableError.

    A file whose name ends in ``.csv`` has the columns ``name``, ``ticker_symbol``, ``market_capitalisation`` (dollars),
    ``earnings_per_share`` and ``price_to_earnings_ratio``. Any other is JSON in db3's form:
    ``{"ticker_info_map": {TICKER: SENTENCE}}``.
    """
    is_csv = source.suffix.casefold() == ".csv"
    rows = _read_csv(source, as_of) if is_csv else _read_sentences(source, as_of)

    table = EntityTable(
        layout="entities",
        domain="finance",
        label="companies' figures",
        source=f"{source.name}, figures as of {as_of or 'an unknown day'}",
        licence="as of the source",
        names=_NAMES,
        companies=True,
    )
    return write_table(out, "companies.csv", rows, table)


def _read_csv(source: Path, as_of: str) -> list[Row]:
    rows: list[Row] = []
    for _, company in read_table_rows(source, (*_NAMES, *_FIGURE_COLUMNS)):
        capitalisation, earnings, ratio = (_read_figure(source, company, column) for column in _FIGURE_COLUMNS)
        rows.append(_build_row(company["name"], company["ticker_symbol"], (capitalisation, earnings, ratio), as_of))
    return rows


def _read_figure(source: Path, company: Row, column: str) -> str:
    """``1234567`` of ``$1,234,567``; raises TableError: the cell is neither empty nor a number."""
    cell = company[column]
    number = cell.replace(",", "").replace("$", "")
    if number.casefold() in _NO_FIGURE:
        return ""
    if not number_or_empty(number):
        raise TableError(
            f'{source}, company {company["ticker_symbol"]}, "{column}": {cell!r} is not a number, such as 1234567.5'
        )
    return number


def _read_sentences(source: Path, as_of: str) -> list[Row]:
    rows: list[Row] = []
    for sentence in read_json(source, TypeAdapter(_Companies)).ticker_info_map.values():
        match = _FIGURES.search(sentence)
        if match is None:
            continue
        figures = (match["capitalisation"], match["eps"], match["ratio"])
        rows.append(_build_row(match["name"], match["ticker"], figures, as_of))
    return rows


def _build_row(name: str, ticker: str, figures: tuple[str, str, str], as_of: str) -> Row:
    """`figures`: market capitalisation, earnings per share, price-to-earnings ratio; other text is unknown."""
    capitalisation, earnings, ratio = figures
    return {
        "name": name,
        "ticker_symbol": ticker.upper(),
        "market_capitalisation": dollars_or_empty(capitalisation),
        "earnings_per_share": number_or_empty(earnings),
        "price_to_earnings_ratio": number_or_empty(ratio),
        "date_of_the_figures": as_of,
    }
