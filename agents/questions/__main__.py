"""Classifies questions from the command line.

python -m agents.questions classify --in FILE --out FILE   every row gets "route": the classes of its question
"""

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from tqdm import tqdm

from agents.common.console import end_with
from agents.common.contracts import Query
from agents.common.deadline import Deadline
from agents.common.files import write_rows
from agents.common.queries import parse_row
from agents.llm import EngineUnavailableError, LanguageModel, load_language_model
from agents.questions.routes import QuestionRouter, open_router
from agents.settings import EncoderRouter, SettingsError, load_settings
from evaluation.datasets import DatasetError, Record, count_rows, dataset_files, read_records
from models.manifest import UnknownModelError, WeightsMissingError

SHIPPED_CLASSIFIER = "cpu"
SECONDS_PER_BATCH = 600.0
_COUNTED_BYTES = 100 << 20
"""The rows of larger files are not counted first: that would mean reading them twice."""

EXPECTED_ERRORS = (
    *(DatasetError, SettingsError, WeightsMissingError, UnknownModelError, EngineUnavailableError, OSError),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code is 0 only if every row was processed."""
    parser = argparse.ArgumentParser(
        prog="python -m agents.questions", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    classify = commands.add_parser("classify", help="add a route to every row of a question file")
    classify.add_argument(
        "--in", dest="source", metavar="FILE", type=Path, required=True, help="JSON lines with `query`"
    )
    classify.add_argument("--out", type=Path, required=True, help="JSON lines, compressed if it ends with .bz2")
    chosen = classify.add_mutually_exclusive_group()
    chosen.add_argument("--preset", help="the router of this preset, by name or as a TOML file")
    chosen.add_argument(
        "--classifiers",
        nargs="+",
        default=[SHIPPED_CLASSIFIER],
        metavar="NAME",
        help=f"trained classifiers (default: {SHIPPED_CLASSIFIER}, which is shipped)",
    )
    classify.add_argument("--batch-size", type=_positive, default=16, help="questions at a time (default: 16)")
    classify.add_argument("--device", default="cpu", help="torch device of --classifiers (default: cpu)")
    classify.add_argument("--limit", type=_positive, help="maximum number of rows")
    classify.set_defaults(run=_classify)
    options = parser.parse_args(arguments)
    try:
        return int(options.run(options))
    except EXPECTED_ERRORS as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def _classify(options: argparse.Namespace) -> int:
    records = read_records(options.source, options.limit)
    router, model = _router(options)
    try:
        router.check_weights()
        if model is not None:
            model.check_weights()
            model.warm_up()
        router.warm_up()
        size = sum(file.stat().st_size for file in dataset_files(options.source))
        total = count_rows(options.source, options.limit) if size <= _COUNTED_BYTES else None
        watch = _Stopwatch()
        with tqdm(total=total, unit="question", desc="classify", file=sys.stderr, disable=None) as bar:
            count = write_rows(options.out, _routed(records, router, options.batch_size, bar, watch))
    finally:
        router.close()
        if model is not None:
            model.close()
    pace = f", {1000 * watch.seconds / count:.1f} ms per question" if count else ""
    print(f"{options.out}: {count} rows{pace}", file=sys.stderr)
    return 0


class _Stopwatch:
    """Seconds spent in the router."""

    def __init__(self) -> None:
        self.seconds = 0.0


def _routed(
    records: Iterator[Record],
    router: QuestionRouter,
    size: int,
    bar: "tqdm[Any]",
    watch: _Stopwatch,
) -> Iterator[dict[str, Any]]:
    while batch := list(islice(records, size)):
        queries = [_query(record) for record in batch]
        started = time.perf_counter()
        routes = router.route(queries, Deadline(SECONDS_PER_BATCH))
        watch.seconds += time.perf_counter() - started
        for record, route in zip(batch, routes, strict=True):
            yield {**record.data, "route": route}
        bar.update(len(batch))


def _query(record: Record) -> Query:
    """The question of a row; routing needs neither pages nor a time."""
    query = parse_row(
        record.data.get("interaction_id", ""), record.data.get("query"), (), record.data.get("query_time")
    )
    if query.fault:
        raise DatasetError(f'{record.place}, field "query": {query.fault}')
    return query


def _router(options: argparse.Namespace) -> tuple[QuestionRouter, LanguageModel | None]:
    """The requested router, and the language model that it needs, if any."""
    if options.preset is None:
        settings = EncoderRouter(engine="encoder", classifiers=tuple(options.classifiers), device=options.device)
        _use_one_thread()
        return open_router(settings.model_copy(update={"batch_size": options.batch_size})), None
    preset = load_settings(options.preset)
    if preset.router is None:
        raise SettingsError(f"preset {options.preset} has no router")
    if preset.router.engine == "encoder":
        _use_one_thread()
    model = load_language_model(preset.language_model) if preset.router.engine == "prompt" else None
    return open_router(preset.router, model), model


def _use_one_thread() -> None:
    """More threads help a small encoder little and can hurt a lot if other work blocks them: on two busy cores two
    threads took 80 ms a question, one 12.
    """
    import torch

    torch.set_num_threads(1)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is not positive")
    return number


if __name__ == "__main__":
    end_with(main)
