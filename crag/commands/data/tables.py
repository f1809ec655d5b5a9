"""Make a folder of tables for the key public_data.tables of a preset, from the files that db3 used.

The figures of companies (price-to-earnings ratio, earnings per share, market capitalisation) are not published for
download. --companies takes a CSV file with the columns name, ticker_symbol, market_capitalisation (dollars),
earnings_per_share and price_to_earnings_ratio, or JSON in db3's form: {"ticker_info_map": {TICKER: SENTENCE}}. Tables
that are not made again are those that ship.
"""

import argparse
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from crag.commands.argument_types import argument_type
from crag.commands.command_line import command, parser_of
from crag.core.text import counted
from crag.facts import TableError, build_companies, build_films, build_grammys, build_oscars


@command()
def main(arguments: Sequence[str] | None = None) -> None:
    """Make the tables."""
    options = _parse(arguments)

    rows: dict[str, int] = {}
    if options.oscars:
        rows["oscars"] = build_oscars(options.oscars, options.out)
    if options.grammys:
        rows["grammys"] = build_grammys(options.grammys, options.out)
    if options.companies:
        rows["companies"] = build_companies(options.companies, options.out, options.as_of or "")
    if options.films:
        rows["films"] = build_films(options.films, options.out, options.credits)
    if not rows:
        raise TableError("nothing to build: give at least one of --oscars, --grammys, --companies, --films")

    counts = ", ".join(f"{counted(count, 'row')} of {name}" for name, count in rows.items())
    print(f"{options.out}: {counts}")


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = parser_of("crag data tables", __doc__, "Exit code: 0 done; 2 a file cannot be used, or none is given.")
    parser.add_argument(
        "--oscars",
        type=Path,
        metavar="CSV",
        help='Kaggle "the-oscar-award"',
    )

    parser.add_argument(
        "--grammys",
        type=Path,
        metavar="CSV",
        help='Kaggle "grammy-awards"',
    )

    parser.add_argument(
        "--companies",
        type=Path,
        metavar="CSV|JSON",
        help="figures of companies, a file of your own",
    )

    parser.add_argument(
        "--as-of",
        type=argument_type(_day, "a day such as 2024-03-01"),
        metavar="DATE",
        help="day of the companies' figures, such as 2024-03-01",
    )

    parser.add_argument(
        "--films",
        type=Path,
        metavar="CSV",
        help='movies_metadata.csv of "The Movies Dataset"',
    )

    parser.add_argument(
        "--credits",
        type=Path,
        metavar="CSV",
        help="its credits.csv: directors and actors",
    )

    parser.add_argument(
        "--out",
        type=Path,
        required=True,
        metavar="DIR",
        help="the folder to write",
    )

    options = parser.parse_args(arguments)
    _refuse_options_without_source(parser, options)
    return options


def _refuse_options_without_source(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    for name, source in (("as_of", "companies"), ("credits", "films")):
        if getattr(options, name) and not getattr(options, source):
            parser.error(f"--{name.replace('_', '-')} needs --{source}")


def _day(text: str) -> str:
    return date.fromisoformat(text).isoformat()
