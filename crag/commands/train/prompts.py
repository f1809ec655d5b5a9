"""Turn questions with calls, or with labels, into training examples with the agent's prompts.

    crag train prompts kg_writer   --preset db3_task23 --pairs pairs.jsonl --out writer.jsonl
    crag train prompts kg_answerer --preset db3_task23 --labels graph_labels.jsonl --out answerer.jsonl
    crag train prompts web_answerer --preset db3_task1 --labels labels.jsonl --out web_answerer.jsonl

The prompts are the preset's, from the same code: form, rules, tables and examples.

kg_writer learns the calls of a question, from rows of `crag train api-pairs`. The answerers learn the labels of
`crag train labels`. At most the share --abstaining of them is "i don't know": if most rows are, a small model learns
to say nothing else. 1 keeps all of them, as db3 did.

writer/run_card.json records how writer.jsonl was made: data with sha256, settings, examples by source, seconds.
"""

import argparse
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from crag.commands.argument_types import argument_type, new_file, number
from crag.commands.command_line import add_preset_arguments, add_split_argument, command, parser_of
from crag.core.files import write_rows
from crag.core.text import counted
from crag.engines.encoders import load_dense_encoder
from crag.evaluation.signature import settings_hash
from crag.settings import KnowledgeGraphSettings, Settings, load_settings
from crag.training.api_pairs.pairs import CallPair, bank_version, read_pairs
from crag.training.files import RunCard, TrainingExample, file_hash
from crag.training.prompts import label_examples, writer_examples


@command()
def main(arguments: Sequence[str] | None = None) -> None:
    """Write the file."""
    options = _parse(arguments)
    card = RunCard.beside(options.out, options.labels or options.pairs)
    settings = load_settings(options.preset, options.set)
    card_settings: dict[str, Any] = {"task": options.task, "preset": f"{settings.name}@{settings_hash(settings)}"}

    if options.labels:
        card_settings["abstaining"] = options.abstaining
        data = {"labels": options.labels}
        examples = label_examples(
            options.labels,
            settings,
            options.task,
            options.abstaining,
            options.split,
        )
    else:
        card_settings["bank"] = bank_version()
        data = {"pairs": options.pairs}
        examples = _writer_examples(read_pairs(options.pairs, options.split), settings)

    # Rows of a file often stand by domain or source; a fixed seed keeps the output reproducible
    random.Random(0).shuffle(examples)  # noqa: S311 - an order, not a secret
    write_rows(options.out, (example.to_row() for example in examples))

    sources = dict(Counter(example.source for example in examples).most_common())
    metrics = {
        "examples": len(examples),
        "sources": sources,
        "sha256": file_hash(options.out),
        **options.split.to_card(),
    }
    card_path = card.write(data, card_settings, metrics)

    counts = ", ".join(f"{count} {source}" for source, count in sources.items())
    print(f"wrote {counted(len(examples), 'example')} to {options.out}: {counts}; the run card is {card_path}")
    options.split.report()


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = parser_of("crag train prompts", __doc__, "Exit code: 0 written; 2 an input is missing or wrong.")
    parser.add_argument("task", choices=("kg_writer", "kg_answerer", "web_answerer"))
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument(
        "--pairs",
        type=Path,
        help="rows of crag train api-pairs, for the call writer",
    )
    source.add_argument("--labels", type=Path, help="rows of crag train labels, for the answerers")
    parser.add_argument(
        "--out",
        type=argument_type(new_file),
        required=True,
        help="examples for crag train lora",
    )
    add_preset_arguments(parser)
    add_split_argument(parser)
    parser.add_argument(
        "--abstaining",
        type=number(0, 1),
        default=0.4,
        metavar="SHARE",
        help="from 0 to 1; default: %(default)s",
    )

    options = parser.parse_args(arguments)
    if (options.task == "kg_writer") != (options.pairs is not None):
        parser.error("kg_writer needs --pairs, the answerers need --labels")
    return options


def _writer_examples(pairs: Sequence[CallPair], settings: Settings) -> list[TrainingExample]:
    writer = (settings.knowledge_graph or KnowledgeGraphSettings()).writer
    # Neither a fixed list nor a question alone needs a search for similar examples
    needs_encoder = writer.form != "question" and writer.selection == "similar" and writer.examples
    dense = load_dense_encoder(settings.dense_encoder) if settings.dense_encoder and needs_encoder else None
    if dense is not None:
        dense.warm_up()
    return list(writer_examples(pairs, writer, dense))
