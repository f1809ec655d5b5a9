"""Extract page text and build contexts.

python -m agents.web extract FILE.html [--preset P]                  the text that retrieval sees
python -m agents.web context --dataset FILE --preset P --out FILE    the context of every question, as JSON lines
"""

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from agents.common.deadline import BatchClock
from agents.common.files import write_rows
from agents.common.queries import BATCH_KEYS, parse_batch
from agents.encoders import load_cross_encoder, load_dense_encoder
from agents.llm import load_language_model
from agents.settings import Settings, load_settings
from agents.web import WebPath, page_text
from crag.command import add_preset_arguments, command, in_batches, parser_of, whole
from evaluation.datasets import read_rows


@command()
def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command; the exit code is 0 only if it succeeded."""
    parser = parser_of("python -m agents.web", __doc__)
    commands = parser.add_subparsers(required=True)
    extract = commands.add_parser("extract", help="print the text of an HTML file as retrieval sees it")
    extract.add_argument("file", type=Path)
    extract.set_defaults(work=_extract)
    context = commands.add_parser("context", help="write the context of every question of a data set")
    context.add_argument("--dataset", type=Path, required=True)
    context.add_argument("--out", type=Path, required=True, help="JSON lines, compressed if it ends with .bz2")
    context.add_argument("--limit", type=whole(1), help="maximum number of questions")
    context.set_defaults(work=_context)
    for each in (extract, context):
        add_preset_arguments(each)
    options = parser.parse_args(arguments)
    options.work(options, load_settings(options.preset, options.set))


def _extract(options: argparse.Namespace, settings: Settings) -> None:
    html = options.file.read_bytes().decode("utf-8", "replace")
    sys.stdout.write(page_text(html, settings.web.extract) + "\n")


def _context(options: argparse.Namespace, settings: Settings) -> None:
    """Write one JSON line per question: {interaction_id, context, passages, events, seconds}."""
    rows = list(read_rows(options.dataset, options.limit))
    web = load_web_path(settings)
    try:
        web.warm_up()
        batches = in_batches(rows, settings.batch_size)
        write_rows(options.out, (record for batch in batches for record in _contexts(settings, web, batch)))
    finally:
        web.close()


def load_web_path(settings: Settings) -> WebPath:
    """The web path of a preset. Only the language model's tokenizer is used, so its weights are not loaded."""
    dense = load_dense_encoder(settings.dense_encoder) if settings.dense_encoder else None
    cross = load_cross_encoder(settings.cross_encoder) if settings.cross_encoder else None
    for encoder in (dense, cross):
        if encoder is not None:
            encoder.check_weights()
    return WebPath(settings.web, dense, cross, load_language_model(settings.language_model))


def _contexts(settings: Settings, web: WebPath, rows: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The records of one batch; `seconds` is each question's share of the batch's time."""
    queries = parse_batch({key: [row.get(key, []) for row in rows] for key in BATCH_KEYS})
    times = settings.deadline
    clock = BatchClock(len(rows) * times.seconds_per_query, times.reserve_seconds, times.shares())
    started = time.perf_counter()
    evidences = web.prepare(queries, clock)
    seconds = (time.perf_counter() - started) / len(rows)
    for query, evidence in zip(queries, evidences, strict=True):
        yield {
            "interaction_id": query.interaction_id,
            "context": evidence.context,
            "passages": [{"text": each.text, "url": each.url, "score": each.score} for each in evidence.passages],
            "events": list(evidence.events),
            "seconds": round(seconds, 3),
        }
