"""Write the context of every question of a data set: what the answering model reads.

A line of the file is a JSON object: interaction_id, context, passages, events, seconds.
"""

import argparse
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from crag.commands.argument_types import whole_number
from crag.commands.command_line import add_preset_arguments, command, parser_of, write_or_print
from crag.core.contracts import Passage
from crag.core.deadline import BatchClock
from crag.core.files import check_output
from crag.core.progress import batches_with_progress
from crag.core.queries import BATCH_KEYS, parse_batch
from crag.engines.encoders import load_cross_encoder, load_dense_encoder
from crag.engines.llm import load_language_model
from crag.evaluation.datasets import read_rows
from crag.settings import Settings, load_settings
from crag.web import WebPath

Row = dict[str, Any]


@command()
def main(arguments: Sequence[str] | None = None) -> None:
    """Write the contexts."""
    options = _parse(arguments)

    check_output(options.out, options.dataset)
    settings = load_settings(options.preset, options.set)
    rows = list(read_rows(options.dataset, options.limit))
    web = load_web_path(settings)
    try:
        web.warm_up()
        write_or_print(options.out, _all_contexts(settings, web, rows))
    finally:
        web.close()


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = parser_of(
        "crag inspect context", __doc__, "Exit code: 0 every question has one; 2 an input is missing or wrong."
    )
    parser.add_argument(
        "--dataset",
        metavar="FILE",
        type=Path,
        required=True,
        help="questions with pages: .jsonl",
    )
    parser.add_argument(
        "--out",
        metavar="FILE",
        type=Path,
        required=True,
        help="JSON lines, compressed if it ends with .bz2; -: standard output",
    )
    parser.add_argument("--limit", metavar="N", type=whole_number(1), help="at most N questions")
    add_preset_arguments(parser)

    return parser.parse_args(arguments)


def load_web_path(settings: Settings) -> WebPath:
    """The web path of a preset. Only the language model's tokenizer is used, so its weights are not loaded."""
    dense = load_dense_encoder(settings.dense_encoder) if settings.dense_encoder else None
    cross = load_cross_encoder(settings.cross_encoder) if settings.cross_encoder else None
    for encoder in (dense, cross):
        if encoder is not None:
            encoder.check_weights()
    return WebPath(settings.web, dense, cross, load_language_model(settings.language_model))


def _all_contexts(settings: Settings, web: WebPath, rows: Sequence[Row]) -> Iterator[Row]:
    for batch in batches_with_progress(rows, settings.batch_size):
        yield from _contexts(settings, web, batch)


def _contexts(settings: Settings, web: WebPath, rows: Sequence[Row]) -> Iterator[Row]:
    """The records of one batch; `seconds` is each question's share of the batch's time."""
    batch: dict[str, list[Any]] = {}
    for key in BATCH_KEYS:
        # A file without times or pages is a batch too
        batch[key] = [row.get(key, []) for row in rows]
    queries = parse_batch(batch)

    times = settings.deadline
    limit = len(rows) * times.seconds_per_query
    clock = BatchClock(limit, times.reserve_seconds, times.shares())

    started = time.perf_counter()
    all_retrieved = web.prepare(queries, clock)
    seconds = (time.perf_counter() - started) / len(rows)

    for query, retrieved in zip(queries, all_retrieved, strict=True):
        yield {
            "interaction_id": query.interaction_id,
            "context": retrieved.context,
            "passages": [_passage_fields(passage) for passage in retrieved.passages],
            "events": list(retrieved.events),
            "seconds": round(seconds, 3),
        }


def _passage_fields(passage: Passage) -> dict[str, Any]:
    return {"text": passage.text, "url": passage.url, "score": passage.score}
