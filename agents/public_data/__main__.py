"""The public-data path from the command line.

python -m agents.public_data show TEXT [--tables DIR]                        what a name links to, and at which level
python -m agents.public_data build --oscars FILE --films FILE ... --out DIR  tables from the public files db3 used
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from agents.common.console import end_with
from agents.common.deadline import Deadline
from agents.public_data.build import build_companies, build_films, build_grammys, build_oscars
from agents.public_data.entity import verbalise
from agents.public_data.link import Linker
from agents.public_data.mentions import Mention
from agents.public_data.tables import SHIPPED_TABLES, TableError, load_entities
from agents.settings import LinkSettings, PublicDataSettings, SettingsError, load_settings
from models.manifest import UnknownModelError, WeightsMissingError

SECONDS = 60.0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code is 0 only if it succeeded."""
    parser = argparse.ArgumentParser(prog="python -m agents.public_data", description="Facts shipped as tables.")
    commands = parser.add_subparsers(required=True)
    show = commands.add_parser("show", help="print the paragraphs linked to a name, with their levels")
    show.add_argument("text", help="a name")
    show.add_argument("--tables", type=Path, default=SHIPPED_TABLES, help="folder; default: the shipped tables")
    show.add_argument("--preset", help="also link by similarity, with this preset's dense encoder")
    show.set_defaults(run=run_show)
    build = commands.add_parser("build", help="create a folder of tables for public_data.tables of a preset")
    build.add_argument("--oscars", type=Path, metavar="CSV", help='Kaggle "the-oscar-award"')
    build.add_argument("--grammys", type=Path, metavar="CSV", help='Kaggle "grammy-awards"')
    build.add_argument("--companies", type=Path, metavar="JSON", help="market capitalisation, EPS and P/E by ticker")
    build.add_argument("--as-of", default="", metavar="DATE", help="day of the companies' figures")
    build.add_argument("--films", type=Path, metavar="CSV", help='movies_metadata.csv of "The Movies Dataset"')
    build.add_argument("--credits", type=Path, metavar="CSV", help="its credits.csv: directors and actors")
    build.add_argument("--out", type=Path, required=True, metavar="DIR")
    build.set_defaults(run=run_build)
    options = parser.parse_args(arguments)
    try:
        return int(options.run(options))
    except (TableError, SettingsError, WeightsMissingError, UnknownModelError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def run_show(options: argparse.Namespace) -> int:
    """Print the links of a name in every domain; 1 if there are none."""
    dense = None
    level = LinkSettings(level="substring")
    if options.preset:
        from agents.encoders import load_dense_encoder

        settings = load_settings(options.preset)
        if settings.dense_encoder is None:
            raise SettingsError(f"preset {options.preset!r} has no dense_encoder")
        dense = load_dense_encoder(settings.dense_encoder)
        level = LinkSettings(level="similarity")
    domains = ("movie", "music", "finance")
    linker = Linker(load_entities(options.tables), dict.fromkeys(domains, level), dense)
    linker.warm_up()
    found = linker.link([Mention(options.text, domain) for domain in domains], Deadline(SECONDS))
    for link in (link for own in found for link in own):
        print(f"{link.level} {link.score:.2f}  [{link.entity.table}]")
        print(f"    {verbalise(link.entity, PublicDataSettings().max_items)}")
    if not any(found):
        print(f"nothing links to {options.text!r}", file=sys.stderr)
        return 1
    return 0


def run_build(options: argparse.Namespace) -> int:
    """Convert the given files."""
    rows = {}
    if options.oscars:
        rows["oscars"] = build_oscars(options.oscars, options.out)
    if options.grammys:
        rows["grammys"] = build_grammys(options.grammys, options.out)
    if options.companies:
        rows["companies"] = build_companies(options.companies, options.out, options.as_of)
    if options.films:
        rows["films"] = build_films(options.films, options.out, options.credits)
    if not rows:
        raise TableError("nothing to build: give at least one of --oscars, --grammys, --companies, --films")
    print(f"{options.out}: " + ", ".join(f"{count} rows of {name}" for name, count in rows.items()))
    return 0


if __name__ == "__main__":
    end_with(main)
