"""``python -m agents.kg write``: writes calls for the questions of a JSONL file."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from agents.common.deadline import Deadline
from agents.common.files import append_rows, write_rows
from agents.encoders import load_dense_encoder
from agents.kg.language import render
from agents.kg.schema import Domain
from agents.kg.writing.writer import CallRequest, CallWriter, Written
from agents.llm import EngineUnavailableError, load_language_model
from agents.settings import (
    OVERRIDES_VARIABLE,
    KgWriterSettings,
    LanguageModelSettings,
    Settings,
    SettingsError,
    load_settings,
    usual_preset,
)
from evaluation.datasets import DatasetError, Record, read_records
from models.manifest import UnknownModelError, WeightsMissingError

EXPECTED_ERRORS = (DatasetError, SettingsError, WeightsMissingError, UnknownModelError, EngineUnavailableError, OSError)

_CHOSEN = "chosen"
"""The name of an adapter that is not in the preset; a folder name may have characters that engines refuse."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("--in", dest="source", metavar="FILE", type=Path, required=True, help="JSON lines with `query`")
    parser.add_argument("--out", type=Path, required=True, help="JSON lines, compressed if it ends with .bz2")
    parser.add_argument("--limit", type=int, metavar="N", help="at most N questions")
    kept = parser.add_mutually_exclusive_group()
    kept.add_argument("--resume", action="store_true", help="keep the rows of --out and continue after them")
    kept.add_argument("--overwrite", action="store_true", help="replace --out")
    parser.add_argument("--use-domain", action="store_true", help="trust the row's `domain` instead of choosing it")
    add_writer_arguments(parser)


def add_writer_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that choose and change a writer, shared with the benchmark."""
    parser.add_argument("--preset", default=usual_preset(), help="name, or TOML file; default: %(default)s")
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="change to the preset; can be repeated"
    )
    parser.add_argument("--batch-size", type=int, help="questions per batch; default: the preset's")
    parser.add_argument("--examples", choices=("similar", "fixed", "none"), help="how examples are chosen")
    parser.add_argument("--adapter", metavar="NAME|FOLDER|none", help="default: the preset's; none: the base model")


def chosen_settings(arguments: argparse.Namespace) -> Settings:
    """The preset with the changes of the environment, then of --set; raises `SettingsError`."""
    inherited = os.environ.get(OVERRIDES_VARIABLE, "").splitlines()
    return load_settings(arguments.preset, [*inherited, *arguments.set])


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


def run(arguments: argparse.Namespace) -> int:
    """Write the file; the exit code is 0 only if no question is left."""
    try:
        _write_file(arguments)
    except EXPECTED_ERRORS as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    return 0


def writer_settings(settings: Settings, arguments: argparse.Namespace) -> KgWriterSettings:
    """The preset's writer settings with the changes of the command line."""
    graph = settings.knowledge_graph
    chosen = (graph.writer if graph else KgWriterSettings()).model_dump()
    if arguments.examples is not None:
        chosen |= {"examples": 0} if arguments.examples == "none" else {"selection": arguments.examples}
    if arguments.adapter is not None:
        chosen["adapter"] = choose_adapter(settings.language_model, arguments.adapter).adapter
    return KgWriterSettings.model_validate(chosen)


def load_writer(settings: Settings, arguments: argparse.Namespace) -> CallWriter:
    """The preset's writer with the changes of the command line, not warmed up."""
    engine = settings.language_model
    if arguments.adapter is not None:
        engine = choose_adapter(engine, arguments.adapter).language_model
    model = load_language_model(engine)
    model.check_weights()
    dense = load_dense_encoder(settings.dense_encoder) if settings.dense_encoder else None
    if dense is not None:
        dense.check_weights()
    return CallWriter(writer_settings(settings, arguments), model, dense)


def _write_file(arguments: argparse.Namespace) -> None:
    from tqdm import tqdm

    settings = chosen_settings(arguments)
    if arguments.out.exists() and not (arguments.resume or arguments.overwrite):
        raise DatasetError(f"{arguments.out} exists: --resume continues it, --overwrite replaces it")
    records = list(read_records(arguments.source, arguments.limit))
    questions = [_question(record, use_domain=arguments.use_domain) for record in records]
    done = _already_done(arguments.out, records) if arguments.resume else []
    write_rows(arguments.out, done)
    if len(done) == len(records):
        return
    writer = load_writer(settings, arguments)
    writer.warm_up()
    size = arguments.batch_size or settings.batch_size
    with tqdm(total=len(records), initial=len(done), unit="question", disable=None) as progress:
        for start in range(len(done), len(records), size):
            batch = questions[start : start + size]
            written = writer.write(batch, Deadline(len(batch) * settings.deadline.seconds_per_query))
            rows = [record.data | as_fields(each) for record, each in zip(records[start:], written, strict=False)]
            append_rows(arguments.out, rows)
            progress.update(len(batch))


def as_fields(written: Written) -> dict[str, Any]:
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
        for found, record in zip(read_records(path), records, strict=False):
            if found.data.get("query") != record.data["query"] or "calls" not in found.data:
                break
            done.append(found.data)
    except (DatasetError, EOFError):
        return done
    return done
