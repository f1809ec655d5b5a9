"""Turn questions with calls, or with labels, into training examples with the agent's prompts.

    python -m training.prompts kg_writer   --preset db3_task23 --pairs pairs.jsonl --out writer.jsonl
    python -m training.prompts kg_answerer --preset db3_task23 --labels graph_labels.jsonl --out answerer.jsonl
    python -m training.prompts web_answerer --preset db3_task1 --labels labels.jsonl --out web_answerer.jsonl

The prompts are the preset's, from the same code: form, rules, tables and examples.

kg_writer learns the calls of a question, from rows of `training.api_pairs`. The answerers learn the labels of
`training.labels`. At most the share --abstaining of them is "i don't know": if most rows are, a small model learns to
say nothing else. 1 keeps all of them, as db3 did.

writer/run_card.json records how writer.jsonl was made: data with sha256, settings, examples by source, seconds.
"""

import calendar
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agents.answering import Answerer
from agents.common.contracts import I_DONT_KNOW, Query
from agents.common.files import write_rows
from agents.encoders import load_dense_encoder
from agents.encoders.base import DenseEncoder
from agents.kg.writing import ExampleChoice, write_prompt
from agents.llm import load_language_model
from agents.settings import KgWriterSettings, KnowledgeGraphSettings, Settings, load_settings
from crag.command import add_preset_arguments, add_split_argument, command, end_with, number, parser_of
from evaluation.datasets import Split, read_records
from evaluation.signature import settings_hash
from training.api_pairs import Pair, bank_version, read_pairs
from training.files import RunCard, TrainingExample, file_hash, row_of


def writer_examples(
    pairs: Sequence[Pair], writer: KgWriterSettings, dense: DenseEncoder | None
) -> Iterator[TrainingExample]:
    """Examples for the call writer, in these settings' prompts; no question is its own example."""
    pairs = [pair for pair in pairs if names_its_dates(pair)]
    queries, domains = [pair.query for pair in pairs], [pair.domain for pair in pairs]
    for pair, near in zip(pairs, ExampleChoice(writer, dense).choose(queries, domains, own=False), strict=True):
        asked = write_prompt(writer, near, pair.query)
        yield TrainingExample(
            "\n".join(pair.calls),
            messages=asked.messages,
            prompt=asked.prompt,
            groups=pair.groups,
            source=pair.source,
            split=pair.split,
        )


def names_its_dates(pair: Pair) -> bool:
    """Whether the question has all numbers of the dates in the calls, months also by name.

    Some labels hold computed dates ("the last trading day of the year"). The executor resolves the question's own
    words; a model that is taught to compute learns to guess.
    """
    text = pair.query.casefold()
    numbers = {int(number) for number in re.findall(r"\d+", text)}
    numbers |= {place for place, month in enumerate(calendar.month_name) if month and month[:3].casefold() in text}
    dates = re.findall(r"\b(\d{4})-(\d\d)(?:-(\d\d))?\b", "\n".join(pair.calls))
    return all(int(part) in numbers for date in dates for part in date if part)


@dataclass(frozen=True, kw_only=True)
class Label(TrainingExample):
    """A row of `training.labels`."""

    query_time: str
    context: str


def label_examples(
    path: Path, settings: Settings, task: str, abstaining: float, split: Split | None = None
) -> list[TrainingExample]:
    """The rows of `training.labels`, in the prompts of the preset's answerer; raises DatasetError: a row is no label.

    At most the share `abstaining` of them is "i don't know"; 1: all are kept. `task` names the answerer.
    """
    asked = settings.answering if task == "web_answerer" else settings.graph_answering
    answerer = Answerer(asked, load_language_model(settings.language_model))
    examples: list[TrainingExample] = []
    for record in read_records(path, split=split):
        label = row_of(record, Label)
        request = answerer.request(Query("", label.query, label.query_time, None, ()), label.context)
        examples.append(replace(label, messages=request.messages, prompt=request.prompt))
    if abstaining == 1:
        return examples
    silent = [example for example in examples if example.completion == I_DONT_KNOW]
    telling = [example for example in examples if example.completion != I_DONT_KNOW]
    most = round(len(telling) * abstaining / (1 - abstaining))
    if most < len(silent):
        silent = random.Random(0).sample(silent, most)  # noqa: S311 - a sample, not a secret
    return telling + silent


@command()
def main(arguments: Sequence[str] | None = None) -> None:
    """Write the file. Exit code: 2 if an input is missing or wrong."""
    parser = parser_of("python -m training.prompts", __doc__)
    parser.add_argument("task", choices=("kg_writer", "kg_answerer", "web_answerer"))
    given = parser.add_mutually_exclusive_group(required=True)
    given.add_argument("--pairs", type=Path, help="rows of training.api_pairs, for the call writer")
    given.add_argument("--labels", type=Path, help="rows of training.labels, for the answerers")
    parser.add_argument("--out", type=Path, required=True, help="examples for training.lora")
    add_preset_arguments(parser)
    add_split_argument(parser)
    parser.add_argument(
        "--abstaining", type=number(0, 1), default=0.4, metavar="SHARE", help="from 0 to 1; default: %(default)s"
    )
    options = parser.parse_args(arguments)
    if (options.task == "kg_writer") != (options.pairs is not None):
        parser.error("kg_writer needs --pairs, the answerers need --labels")
    card = RunCard.beside(options.out)
    settings = load_settings(options.preset, options.set)
    chosen: dict[str, Any] = {"task": options.task, "preset": f"{settings.name}@{settings_hash(settings)}"}
    if options.labels:
        chosen["abstaining"] = options.abstaining
        examples = label_examples(options.labels, settings, options.task, options.abstaining, options.split)
    else:
        writer = (settings.knowledge_graph or KnowledgeGraphSettings()).writer
        chosen["bank"] = bank_version()
        nearest = writer.selection == "similar" and writer.examples
        dense = load_dense_encoder(settings.dense_encoder) if settings.dense_encoder and nearest else None
        if dense is not None:
            dense.warm_up()
        examples = list(writer_examples(read_pairs(options.pairs, options.split), writer, dense))
    random.Random(0).shuffle(examples)  # noqa: S311 - an order, not a secret
    write_rows(options.out, (example.to_row() for example in examples))
    sources = dict(Counter(example.source for example in examples).most_common())
    data = {"labels": options.labels} if options.labels else {"pairs": options.pairs}
    metrics = {"examples": len(examples), "sources": sources, "sha256": file_hash(options.out)}
    metrics |= options.split.to_card()
    counts = ", ".join(f"{count} {source}" for source, count in sources.items())
    written = card.write(data, chosen, metrics)
    sys.stdout.write(f"wrote {len(examples)} examples to {options.out}: {counts}; the run card is {written}\n")
    options.split.report()


if __name__ == "__main__":
    end_with(main)
