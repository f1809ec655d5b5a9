"""`python -m agents.kg run` runs calls; `python -m agents.kg write` turns the questions of a file into calls."""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from agents.common.deadline import Deadline
from agents.common.files import append_rows, write_rows
from agents.common.queries import parse_query_time
from agents.encoders import load_dense_encoder
from agents.kg.client import KgClient
from agents.kg.executor import Executor, Task
from agents.kg.language import render
from agents.kg.results import Status
from agents.kg.schema import Domain
from agents.kg.writing import CallRequest, CallWriter, Written
from agents.llm import load_language_model
from agents.settings import KG_VARIABLE, KgWriterSettings, load_settings
from crag.command import (
    add_preset_arguments,
    command,
    form,
    in_batches,
    moment,
    number,
    overrides_of,
    parser_of,
    server,
    whole,
)
from evaluation.datasets import DatasetError, Record, read_records

_EXIT = {Status.OK: 0, Status.NOT_FOUND: 0, Status.INVALID: 1, Status.KG_DOWN: 3}


@command()
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line. Exit code of `run`: 0 every statement was run, whatever it found; 1 invalid; 3 no graph."""
    parser = parser_of("python -m agents.kg", __doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="run calls and print their results as JSON")
    run.add_argument("calls", metavar="CALLS", help="the text of the program")
    run.add_argument("--domain", required=True, choices=[str(domain) for domain in Domain])
    run.add_argument("--kg-url", type=server, default=os.environ.get(KG_VARIABLE), help=f"default: ${KG_VARIABLE}")
    run.add_argument("--query-time", type=form(moment), metavar="TIME", help="03/05/2024, 23:18:31 PT; default: now")
    run.add_argument("--seconds", type=number(0), default=30.0, help="time limit (default: 30)")
    write = commands.add_parser("write", help="write calls for the questions of a JSONL file")
    write.add_argument("--in", dest="source", metavar="FILE", type=Path, required=True, help="JSON lines with `query`")
    write.add_argument("--out", type=Path, required=True, help="JSON lines, compressed if it ends with .bz2")
    write.add_argument("--limit", type=whole(1), metavar="N", help="at most N questions")
    kept = write.add_mutually_exclusive_group()
    kept.add_argument("--resume", action="store_true", help="keep the rows of --out and continue after them")
    kept.add_argument("--overwrite", action="store_true", help="replace --out")
    add_preset_arguments(write)
    options = parser.parse_args(arguments)
    if options.command == "run":
        if not options.kg_url:
            parser.error(f"--kg-url is missing, and {KG_VARIABLE} is not set")
        return _run(options)
    _write(options)
    return 0


def _run(options: argparse.Namespace) -> int:
    task = Task(Domain(options.domain), options.calls, options.query_time and parse_query_time(options.query_time))
    with KgClient(options.kg_url) as client:
        outcome = Executor(client).run_batch([task], Deadline(options.seconds))[0]
    statements = [
        {
            "call": result.call,
            "status": str(result.status),
            "values": list(result.values),
            "text": result.text,
            "explanation": list(result.explanation),
        }
        for result in outcome.results
    ]
    sys.stdout.write(json.dumps({"statements": statements, "http_calls": outcome.calls}, ensure_ascii=False, indent=1))
    sys.stdout.write("\n")
    return max((_EXIT[result.status] for result in outcome.results), default=0)


# --- writing calls --------------------------------------------------------------------------------------------------


def _write(options: argparse.Namespace) -> None:
    settings = load_settings(options.preset, overrides_of(options))
    if options.out.exists() and not (options.resume or options.overwrite):
        raise DatasetError(f"{options.out} exists: --resume continues it, --overwrite replaces it")
    records = list(read_records(options.source, options.limit))
    asked = [(record.data, _question(record)) for record in records]
    done = _already_done(options.out, records) if options.resume else []
    write_rows(options.out, done)
    if len(done) == len(records):
        return
    model = load_language_model(settings.language_model)
    model.check_weights()
    dense = load_dense_encoder(settings.dense_encoder) if settings.dense_encoder else None
    if dense is not None:
        dense.check_weights()
    graph = settings.knowledge_graph
    writer = CallWriter(graph.writer if graph else KgWriterSettings(), model, dense)
    writer.warm_up()
    for batch in in_batches(asked, settings.batch_size, len(done)):
        limit = Deadline(len(batch) * settings.deadline.seconds_per_query)
        written = writer.write([question for _, question in batch], limit)
        append_rows(options.out, [row | _fields(each) for (row, _), each in zip(batch, written, strict=True)])


def _fields(written: Written) -> dict[str, Any]:
    """The fields of a row: `calls` (``["None"]``: the graph cannot answer; empty: unreadable), domain and faults."""
    return {
        "calls": render(written.program).split("\n") if written.program is not None else [],
        "kg_domain": str(written.domain),
        "kg_faults": [f"{fault.kind}: {fault.message}" for fault in written.faults],
    }


def _question(record: Record) -> CallRequest:
    row = record.data
    query, query_time = row.get("query"), row.get("query_time", "")
    for field, value in (("query", query), ("query_time", query_time)):
        if not isinstance(value, str):
            raise DatasetError(f'{record.place}: field "{field}" must be a text, found {value!r}')
    return CallRequest(row["query"], query_time, None)


def _already_done(path: Path, records: Sequence[Record]) -> list[dict[str, Any]]:
    """The rows of an earlier run over the same file, without a torn last line."""
    done: list[dict[str, Any]] = []
    with suppress(DatasetError):
        for earlier, record in zip(read_records(path), records, strict=False):
            if earlier.data.get("query") != record.data["query"] or "calls" not in earlier.data:
                break
            done.append(earlier.data)
    return done
