"""Tables of public facts from the files that db3 used.

python -m agents.public_data build --oscars CSV --films CSV ... --out DIR   a folder for public_data.tables of a preset
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from agents.public_data import TableError, build_companies, build_films, build_grammys, build_oscars
from crag.command import command, parser_of


@command()
def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command; the exit code is 0 only if it succeeded."""
    parser = parser_of("python -m agents.public_data", __doc__)
    build = parser.add_subparsers(required=True).add_parser("build", help="create a folder of tables")
    given = build.add_argument
    given("--oscars", type=Path, metavar="CSV", help='Kaggle "the-oscar-award"')
    given("--grammys", type=Path, metavar="CSV", help='Kaggle "grammy-awards"')
    given("--companies", type=Path, metavar="JSON", help="market capitalisation, EPS and P/E by ticker")
    given("--as-of", default="", metavar="DATE", help="day of the companies' figures")
    given("--films", type=Path, metavar="CSV", help='movies_metadata.csv of "The Movies Dataset"')
    given("--credits", type=Path, metavar="CSV", help="its credits.csv: directors and actors")
    given("--out", type=Path, required=True, metavar="DIR")
    options = parser.parse_args(arguments)
    built = {
        "oscars": options.oscars and build_oscars(options.oscars, options.out),
        "grammys": options.grammys and build_grammys(options.grammys, options.out),
        "companies": options.companies and build_companies(options.companies, options.out, options.as_of),
        "films": options.films and build_films(options.films, options.out, options.credits),
    }
    rows = {name: count for name, count in built.items() if count is not None}
    if not rows:
        raise TableError("nothing to build: give at least one of --oscars, --grammys, --companies, --films")
    sys.stdout.write(f"{options.out}: " + ", ".join(f"{count} rows of {name}" for name, count in rows.items()) + "\n")
