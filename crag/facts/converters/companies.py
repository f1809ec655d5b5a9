"""Figures of companies, from a CSV file, or from a JSON file of sentences by ticker in db3's form."""

import re
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, TypeAdapter

from crag.facts.converters.folder import dollars_or_empty, number_or_empty, write_table
from crag.facts.tables import EntityTable, Row, TableError, read_json, read_table_rows

_NAMES = ("name", "ticker_symbol")
_NO_FIGURE = frozenset({"", "-", "n/a", "nan", "none", "unknown"})

_SENTENCE = re.compile(
    r"""
    information\ of\ (?P<name>.{1,400}) \((?P<ticker>[^()]{1,20})\):
    \ [^,]{1,40}capitalization\ is\ (?P<capitalisation>[^,]{1,40}),    # an amount, or "unknown"
      [^,]{1,40}\(eps\)\ is\ (?P<eps>[^,]{1,40}),
    \ [^,]{1,40}ratio\ is\ (?P<ratio>\S{1,40}?)
    \.?$                                                               # not the full stop
    """,
    re.VERBOSE,
)


class _Figures(NamedTuple):
    """A company's figures as a file writes them; text that is no number is unknown."""

    market_capitalisation: str
    earnings_per_share: str
    price_to_earnings_ratio: str


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
    for _, company in read_table_rows(source, (*_NAMES, *_Figures._fields)):
        figures = _Figures(
            market_capitalisation=_read_figure(source, company, "market_capitalisation"),
            earnings_per_share=_read_figure(source, company, "earnings_per_share"),
            price_to_earnings_ratio=_read_figure(source, company, "price_to_earnings_ratio"),
        )
        rows.append(_build_row(company["name"], company["ticker_symbol"], figures, as_of))
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
        match = _SENTENCE.search(sentence)
        if match is not None:
            figures = _Figures(match["capitalisation"], match["eps"], match["ratio"])
            rows.append(_build_row(match["name"], match["ticker"], figures, as_of))
    return rows


def _build_row(name: str, ticker: str, figures: _Figures, as_of: str) -> Row:
    return {
        "name": name,
        "ticker_symbol": ticker.upper(),
        "market_capitalisation": dollars_or_empty(figures.market_capitalisation),
        "earnings_per_share": number_or_empty(figures.earnings_per_share),
        "price_to_earnings_ratio": number_or_empty(figures.price_to_earnings_ratio),
        "date_of_the_figures": as_of,
    }
