"""Figures of companies, from a JSON file of sentences by ticker."""

import re
from pathlib import Path

from pydantic import BaseModel, TypeAdapter

from crag.facts.converters.folder import dollars_or_empty, number_or_empty, write_table
from crag.facts.tables import EntityTable, Row, read_json

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
    """Figures of companies, as of `as_of`; returns the number of rows. Raises TableError."""
    rows: list[Row] = []
    for sentence in read_json(source, TypeAdapter(_Companies)).ticker_info_map.values():
        match = _FIGURES.search(sentence)
        if match is None:
            continue
        rows.append(
            {
                "name": match["name"],
                "ticker_symbol": match["ticker"].upper(),
                "market_capitalisation": dollars_or_empty(match["capitalisation"]),
                "earnings_per_share": number_or_empty(match["eps"]),
                "price_to_earnings_ratio": number_or_empty(match["ratio"]),
                "date_of_the_figures": as_of,
            }
        )

    table = EntityTable(
        layout="entities",
        domain="finance",
        label="companies' figures",
        source=f"{source.name}, figures as of {as_of or 'an unknown day'}",
        licence="as of the source",
        names=("name", "ticker_symbol"),
        companies=True,
    )
    return write_table(out, "companies.csv", rows, table)
