"""Classify the questions of a file: every row gets "route", the classes of its question."""

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Any

from tqdm import tqdm

from crag.commands.argument_types import whole_number
from crag.commands.command_line import add_preset_arguments, command, parser_of, say, write_or_print
from crag.core.contracts import Query
from crag.core.deadline import Deadline
from crag.core.files import DatasetError, Record, check_output
from crag.core.queries import parse_row
from crag.core.text import counted
from crag.engines.llm import load_language_model
from crag.evaluation.datasets import read_records
from crag.router import QuestionRouter, open_router
from crag.settings import SettingsError, load_settings

BATCH_SIZE = 16
SECONDS_PER_BATCH = 600.0
"""Ample on any machine: only a hang takes longer."""


@command()
def main(arguments: Sequence[str] | None = None) -> None:
    """Write the classes."""
    options = _parse(arguments)

    # With --limit the other rows would be lost
    check_output(options.out, options.source)
    records = read_records(options.source, options.limit)
    settings = load_settings(options.preset, options.set)
    if settings.router is None:
        raise SettingsError(f"preset {settings.name} has no router")
    model = load_language_model(settings.language_model) if settings.router.engine == "prompt" else None
    router = open_router(settings.router, model)

    with ExitStack() as stack:
        for part in (model, router):
            if part is not None:
                stack.callback(part.close)
                part.check_weights()
                part.warm_up()

        started = time.perf_counter()
        with tqdm(unit="question", desc="classify", file=sys.stderr, disable=None) as bar:
            count = write_or_print(options.out, _routed(records, router, bar))

    milliseconds = 1000 * (time.perf_counter() - started) / max(1, count)
    say(f"{options.out}: {counted(count, 'row')}, {milliseconds:.1f} ms per question")


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = parser_of(
        "crag inspect route", __doc__, "Exit code: 0 every question has its classes; 2 an input is missing or wrong."
    )
    parser.add_argument(
        "--in",
        dest="source",
        metavar="FILE",
        type=Path,
        required=True,
        help="questions: .jsonl, .csv or .tsv",
    )
    parser.add_argument(
        "--out",
        metavar="FILE",
        type=Path,
        required=True,
        help="JSON lines, compressed if it ends with .bz2; -: standard output",
    )
    parser.add_argument("--limit", metavar="N", type=whole_number(1), help="at most N rows")
    add_preset_arguments(parser, "cpu")

    return parser.parse_args(arguments)


def _routed(
    records: Iterator[Record],
    router: QuestionRouter,
    bar: "tqdm[Any]",
) -> Iterator[dict[str, Any]]:
    """The rows with their routes; reads as it writes, because the file may be larger than memory."""
    while batch := list(islice(records, BATCH_SIZE)):
        queries = [_query(record) for record in batch]
        routes = router.route(queries, Deadline(SECONDS_PER_BATCH))
        for record, route in zip(batch, routes, strict=True):
            yield {**record.data, "route": route.to_dict()}
        bar.update(len(batch))


def _query(record: Record) -> Query:
    """The question of a row; routing needs neither pages nor a time."""
    row = record.data
    query = parse_row(
        row.get("interaction_id", ""),
        row.get("query"),
        (),
        row.get("query_time"),
    )
    if query.fault:
        raise DatasetError(f'{record.place}, field "query": {query.fault}')
    return query
