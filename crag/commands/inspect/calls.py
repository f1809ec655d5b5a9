"""Write the calls for the questions of a file, as the preset's call writer does."""

import argparse
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from crag.commands.argument_types import STANDARD_OUTPUT, whole_number
from crag.commands.call_writer import load_call_writer
from crag.commands.command_line import add_preset_arguments, command, parser_of, write_or_print
from crag.core.deadline import Deadline
from crag.core.files import DatasetError, Record, append_rows, check_output, shorten_repr, write_rows
from crag.core.progress import batches_with_progress
from crag.evaluation.datasets import read_records
from crag.evaluation.question_fields import question_of, with_query_time
from crag.graph.language import render
from crag.graph.writing import CallRequest, WrittenCalls
from crag.settings import load_settings


@command()
def main(arguments: Sequence[str] | None = None) -> None:
    """Write calls."""
    options = _parse(arguments)

    settings = load_settings(options.preset, options.set)
    may_replace = options.resume or options.overwrite
    prints = options.out == STANDARD_OUTPUT
    check_output(options.out, options.source)
    if options.out.is_file() and not (may_replace or prints):
        raise DatasetError(f"{options.out} exists: --resume continues it, --overwrite replaces it")

    # The whole file is read before a model is loaded: a wrong row is reported at once.
    records = [with_query_time(record) for record in read_records(options.source, options.limit)]
    requests = [_request(record) for record in records]
    done = _already_done(options.out, records) if options.resume else []
    if not prints:
        # Written again, without a torn last line; new rows are appended
        write_rows(options.out, done)
    if len(done) == len(records):
        return

    writer = load_call_writer(settings)
    questions = list(zip(records, requests, strict=True))
    for batch in batches_with_progress(questions, settings.batch_size, len(done)):
        deadline = Deadline(len(batch) * settings.deadline.seconds_per_query)
        written = writer.write([request for _, request in batch], deadline)

        rows: list[dict[str, Any]] = []
        for (record, _), calls in zip(batch, written, strict=True):
            rows.append(record.data | _fields(calls))
        if prints:
            write_or_print(options.out, rows)
        else:
            append_rows(options.out, rows)


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = parser_of(
        "crag inspect calls", __doc__, "Exit code: 0 every question was asked; 2 an input is missing or wrong."
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

    parser.add_argument(
        "--limit",
        type=whole_number(1),
        metavar="N",
        help="at most N questions",
    )
    existing = parser.add_mutually_exclusive_group()
    existing.add_argument(
        "--resume",
        action="store_true",
        help="keep the rows of --out and continue after them",
    )
    existing.add_argument("--overwrite", action="store_true", help="replace --out")
    add_preset_arguments(parser)

    options = parser.parse_args(arguments)
    if options.resume and options.out == STANDARD_OUTPUT:
        parser.error("--resume continues a file, not standard output")
    return options


def _fields(written: WrittenCalls) -> dict[str, Any]:
    """The fields of a row: `calls` (``["None"]``: the graph cannot answer; empty: unreadable), domain and faults."""
    return {
        "calls": render(written.program).split("\n") if written.program is not None else [],
        "kg_domain": str(written.domain),
        "kg_faults": [f"{fault.kind}: {fault.message}" for fault in written.faults],
    }


def _request(record: Record) -> CallRequest:
    query = question_of(record)
    query_time = record.data.get("query_time") or ""  # null, as in a row without one
    if not isinstance(query_time, str):
        raise DatasetError(f'{record.place}, field "query_time": expected a string, found {shorten_repr(query_time)}')
    return CallRequest(query, query_time, domain=None)


def _already_done(path: Path, records: Sequence[Record]) -> list[dict[str, Any]]:
    """The rows of an earlier run over the same file, without a torn last line."""
    done: list[dict[str, Any]] = []
    # A row that cannot be read ends what is kept: a killed run may have torn it
    with suppress(DatasetError):
        for earlier, record in zip(read_records(path), records, strict=False):
            row = earlier.data
            # Rows count only as long as they follow the questions of this file
            is_same_question = row.get("query") == record.data["query"]
            if not is_same_question or "calls" not in row:
                break
            done.append(row)
    return done
