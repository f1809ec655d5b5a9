"""Prompts and completions to tune an adapter with, as the preset asks them."""

import calendar
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from crag.answering import Answerer
from crag.core.contracts import I_DONT_KNOW, Query
from crag.engines.encoders.base import DenseEncoder
from crag.engines.llm import load_language_model
from crag.evaluation.datasets import Split, read_records
from crag.graph.writing import ExampleChoice, write_prompt
from crag.settings import KgWriterSettings, Settings
from crag.training.api_pairs import Pair
from crag.training.files import TrainingExample, row_of


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
    """A row of `crag.training.labels`."""

    query_time: str
    context: str


def label_examples(
    path: Path, settings: Settings, task: str, abstaining: float, split: Split | None = None
) -> list[TrainingExample]:
    """The rows of `crag.training.labels`, in the prompts of the preset's answerer; raises DatasetError: a row is no
    label.

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
