"""`python -m agents.kg run` runs calls; `python -m agents.kg write` turns the questions of a file into calls."""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from agents.common.deadline import Deadline
from agents.common.files import append_rows, write_rows
from agents.common.queries import parse_query_time
from agents.encoders import load_dense_encoder
from agents.kg.trainable import (
    CallRequest,
    CallWriter,
    Domain,
    Executor,
    KgClient,
    Result,
    Status,
    Task,
    Written,
    render,
)
from agents.llm import load_language_model
from agents.settings import KG_VARIABLE, KgWriterSettings, LanguageModelSettings, Settings
from crag.command import add_preset_arguments, chosen_settings, exit_code, number, parser_of, server, whole
from evaluation.datasets import DatasetError, Record, read_records

_ROWS_SHOWN = 200
_EXIT = {Status.OK: 0, Status.NOT_FOUND: 0, Status.INVALID: 1, Status.KG_DOWN: 3}
_CHOSEN = "chosen"
"""The name of an adapter that is not in the preset; a folder name may have characters that engines refuse."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line. Exit code of `run`: 0 every statement was run, whatever it found; 1 invalid; 3 no graph."""
    parser = parser_of("python -m agents.kg", __doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="run calls and print their results as JSON")
    run.add_argument(
        "calls", metavar="CALLS", help="the program: its text, a file that holds it, or - for standard input"
    )
    run.add_argument("--domain", required=True, choices=[str(domain) for domain in Domain])
    run.add_argument("--kg-url", type=server, default=os.environ.get(KG_VARIABLE), help=f"default: ${KG_VARIABLE}")
    run.add_argument("--query-time", type=_moment, metavar="TIME", help="03/05/2024, 23:18:31 PT; default: now")
    run.add_argument("--seconds", type=number(0), default=30.0, help="time limit (default: 30)")
    run.add_argument("--rows", action="store_true", help="also print the records")
    write = commands.add_parser("write", help="write calls for the questions of a JSONL file")
    write.add_argument("--in", dest="source", metavar="FILE", type=Path, required=True, help="JSON lines with `query`")
    write.add_argument("--out", type=Path, required=True, help="JSON lines, compressed if it ends with .bz2")
    write.add_argument("--limit", type=whole(1), metavar="N", help="at most N questions")
    kept = write.add_mutually_exclusive_group()
    kept.add_argument("--resume", action="store_true", help="keep the rows of --out and continue after them")
    kept.add_argument("--overwrite", action="store_true", help="replace --out")
    write.add_argument("--use-domain", action="store_true", help="trust the row's `domain` instead of choosing it")
    add_writer_arguments(write)
    options = parser.parse_args(arguments)
    if options.command == "write":
        return exit_code(lambda: _write(options))
    if not options.kg_url:
        parser.error(f"--kg-url is missing, and {KG_VARIABLE} is not set")
    return exit_code(lambda: _run(options))


def _moment(text: str) -> datetime:
    moment = parse_query_time(text)
    if moment is None:
        raise argparse.ArgumentTypeError(f'{text!r} is not like "03/05/2024, 23:18:31 PT"')
    return moment


def _run(options: argparse.Namespace) -> int:
    task = Task(Domain(options.domain), _calls(options.calls), options.query_time)
    with KgClient(options.kg_url) as client:
        outcome = Executor(client).run_batch([task], Deadline(options.seconds))[0]
    statements = [_shown(result, rows=options.rows) for result in outcome.results]
    sys.stdout.write(json.dumps({"statements": statements, "http_calls": outcome.calls}, ensure_ascii=False, indent=1))
    sys.stdout.write("\n")
    return max((_EXIT[result.status] for result in outcome.results), default=0)


def _shown(result: Result, *, rows: bool) -> dict[str, object]:
    shown: dict[str, object] = {
        "call": result.call,
        "status": str(result.status),
        "values": list(result.values),
        "text": result.text,
        "explanation": list(result.explanation),
    }
    return shown | ({"rows": [asdict(row) for row in result.rows[:_ROWS_SHOWN]]} if rows else {})


def _calls(source: str) -> str:
    if source == "-":
        return sys.stdin.read()
    looks_like_a_path = len(source) < 256 and not set(source) & set("\n(\0")
    return Path(source).read_text(encoding="utf-8") if looks_like_a_path and Path(source).is_file() else source


# --- writing calls --------------------------------------------------------------------------------------------------


def add_writer_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that choose and change a writer, shared with the benchmark."""
    add_preset_arguments(parser)
    parser.add_argument("--batch-size", type=whole(1), help="questions per batch; default: the preset's")
    parser.add_argument("--examples", choices=("similar", "fixed", "none"), help="how examples are chosen")
    parser.add_argument("--adapter", metavar="NAME|FOLDER|none", help="default: the preset's; none: the base model")


class AdapterChoice(NamedTuple):
    """An engine, and its name for the adapter; None: the base model."""

    language_model: LanguageModelSettings
    adapter: str | None


def choose_adapter(language_model: LanguageModelSettings, chosen: str) -> AdapterChoice:
    """The engine with only the chosen adapter, or none, to save memory.

    `chosen`: ``none``, the name of one of the engine's adapters, a folder, or a manifest name.
    """
    adapters: dict[str, str] = {}
    if chosen in language_model.adapters:
        adapters = {chosen: language_model.adapters[chosen]}
    elif chosen != "none":
        # Relative paths start at the working directory; the engine's own paths start at the repository.
        adapters = {_CHOSEN: str(Path(chosen).resolve()) if Path(chosen).is_dir() else chosen}
    return AdapterChoice(language_model.model_copy(update={"adapters": adapters}), next(iter(adapters), None))


def writer_settings(settings: Settings, options: argparse.Namespace) -> KgWriterSettings:
    """The preset's writer settings with the changes of the command line."""
    graph = settings.knowledge_graph
    chosen = (graph.writer if graph else KgWriterSettings()).model_dump()
    if options.examples is not None:
        chosen |= {"examples": 0} if options.examples == "none" else {"selection": options.examples}
    if options.adapter is not None:
        chosen["adapter"] = choose_adapter(settings.language_model, options.adapter).adapter
    return KgWriterSettings.model_validate(chosen)


def load_writer(settings: Settings, options: argparse.Namespace) -> CallWriter:
    """The preset's writer with the changes of the command line, not warmed up."""
    engine = settings.language_model
    if options.adapter is not None:
        engine = choose_adapter(engine, options.adapter).language_model
    model = load_language_model(engine)
    model.check_weights()
    dense = load_dense_encoder(settings.dense_encoder) if settings.dense_encoder else None
    if dense is not None:
        dense.check_weights()
    return CallWriter(writer_settings(settings, options), model, dense)


def _write(options: argparse.Namespace) -> None:
    from tqdm import tqdm

    settings = chosen_settings(options)
    if options.out.exists() and not (options.resume or options.overwrite):
        raise DatasetError(f"{options.out} exists: --resume continues it, --overwrite replaces it")
    records = list(read_records(options.source, options.limit))
    questions = [_question(record, use_domain=options.use_domain) for record in records]
    done = _already_done(options.out, records) if options.resume else []
    write_rows(options.out, done)
    if len(done) == len(records):
        return
    writer = load_writer(settings, options)
    writer.warm_up()
    size = options.batch_size or settings.batch_size
    with tqdm(total=len(records), initial=len(done), unit="question", disable=None) as progress:
        for start in range(len(done), len(records), size):
            batch = questions[start : start + size]
            written = writer.write(batch, Deadline(len(batch) * settings.deadline.seconds_per_query))
            rows = [record.data | _fields(each) for record, each in zip(records[start:], written, strict=False)]
            append_rows(options.out, rows)
            progress.update(len(batch))


def _fields(written: Written) -> dict[str, Any]:
    """The fields of a row: `calls` (``["None"]``: the graph cannot answer; empty: unreadable), domain and faults."""
    return {
        "calls": render(written.program).split("\n") if written.program is not None else [],
        "kg_domain": str(written.domain),
        "kg_faults": [f"{fault.kind}: {fault.message}" for fault in written.faults],
    }


def _question(record: Record, *, use_domain: bool) -> CallRequest:
    row = record.data
    query, query_time, domain = row.get("query"), row.get("query_time", ""), row.get("domain")
    for field, value in (("query", query), ("query_time", query_time)):
        if not isinstance(value, str):
            raise DatasetError(f'{record.place}: field "{field}" must be a text, found {value!r}')
    if use_domain and domain not in list(Domain):
        raise DatasetError(f'{record.place}: field "domain" must be one of {", ".join(Domain)}, found {domain!r}')
    return CallRequest(row["query"], query_time, Domain(str(domain)) if use_domain else None)


def _already_done(path: Path, records: Sequence[Record]) -> list[dict[str, Any]]:
    """The rows of an earlier run over the same file, without a torn last line."""
    done: list[dict[str, Any]] = []
    try:
        for earlier, record in zip(read_records(path), records, strict=False):
            if earlier.data.get("query") != record.data["query"] or "calls" not in earlier.data:
                break
            done.append(earlier.data)
    except (DatasetError, EOFError):
        return done
    return done
