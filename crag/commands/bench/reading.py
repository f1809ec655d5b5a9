"""How much of what a person sees on a page each method of reading returns, and how much boilerplate with it.

    crag bench reading [--compare] [--lost READER ...] [--json FILE]

Over the pages of data/reading/facts.toml, whose facts were marked by hand: the share of facts that the text holds, in
all and by kind (headings, paragraphs, items of lists, boxes beside the article, captions, dates, rows of tables,
numbers with signs), the share of boilerplate that slips in, words of a page, and seconds of one core. A row of a table
counts if its cells are in order and near each other. Readers are the preset's methods (`web.extract.method`), and
with --compare the libraries trafilatura, readability-lxml, resiliparse and BeautifulSoup as they come, where they are
installed.
"""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from crag.benchmarks.common import markdown_table
from crag.benchmarks.readers import project_readers, rival_readers
from crag.benchmarks.reading import (
    KINDS,
    MARKED_FACTS,
    ReadingFigures,
    ReadPage,
    read_marked_pages,
    read_pages,
    reading_figures,
)
from crag.commands.command_line import add_preset_arguments, command, parser_of, say
from crag.core.files import UserError, write_json
from crag.settings import load_settings


@command()
def main(arguments: Sequence[str] | None = None) -> None:
    """Read and print."""
    options = _parse(arguments)
    pages = read_marked_pages(options.facts)
    readers = project_readers(load_settings(options.preset, options.set).web.extract)
    if options.compare:
        rivals, missing = rival_readers()
        readers |= rivals
        for name in missing:
            say(f"not installed, left out: {name}")

    for name in options.lost:
        if name not in readers:
            raise UserError(f"--lost {name}: no such reader, there are: {', '.join(readers)}")

    read_by_reader = {name: read_pages(pages, reader) for name, reader in readers.items()}
    figures = {name: reading_figures(read) for name, read in read_by_reader.items()}
    print(_table(figures))
    for name in options.lost:
        print(f"\n{name}:\n{_losses(read_by_reader[name])}")
    if options.json:
        write_json(options.json, {name: asdict(figure) for name, figure in figures.items()})


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = parser_of("crag bench reading", __doc__, "Exit code: 0 done; 2 a file or the preset cannot be used.")
    parser.add_argument(
        "--facts",
        type=Path,
        default=MARKED_FACTS,
        metavar="FILE",
        help="marked pages (default: data/reading/facts.toml)",
    )

    parser.add_argument(
        "--compare",
        action="store_true",
        help="also measure other libraries that are installed",
    )

    parser.add_argument(
        "--lost",
        nargs="+",
        default=[],
        metavar="READER",
        help="also print, by page, what these readers lose and what slips in",
    )

    parser.add_argument(
        "--json",
        type=Path,
        metavar="FILE",
        help="write the figures of all readers",
    )
    add_preset_arguments(parser)

    return parser.parse_args(arguments)


def _table(figures: Mapping[str, ReadingFigures]) -> str:
    """A row for each reader; recall of all facts, then of each kind."""
    rows: list[list[object]] = []
    for name, figure in figures.items():
        by_kind = [figure.recall_by_kind.get(kind, "") for kind in KINDS]
        milliseconds = f"{figure.median_seconds * 1000:.1f}"
        seconds = f"{figure.total_seconds:.2f}"
        words = round(figure.words)
        rows.append([name, figure.recall, *by_kind, figure.boilerplate, words, milliseconds, seconds])
    header = ["reader", "all", *KINDS, "boilerplate", "words", "ms, median", "s, total"]
    return markdown_table(header, rows)


def _losses(read: Sequence[ReadPage]) -> str:
    """A line for each lost fact and each piece of boilerplate."""
    lines: list[str] = []
    for result in read:
        for kind, facts in result.lost.items():
            lines += [f"{result.page.name}: lost {kind}: {' | '.join(fact)}" for fact in facts]
        lines += [f"{result.page.name}: slipped in: {' | '.join(mark)}" for mark in result.slipped_in]
    return "\n".join(lines)
