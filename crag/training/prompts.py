"""Prompts and completions to tune an adapter with, as the preset asks them."""

import calendar
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from crag.answering import Answerer
from crag.core.contracts import I_DONT_KNOW, Query
from crag.engines.encoders.base import DenseEncoder
from crag.engines.llm import load_language_model
from crag.evaluation.datasets import read_records
from crag.evaluation.question_fields import with_query_time
from crag.evaluation.split import Split
from crag.graph.writing import ExampleChoice, Neighbourhood, write_completion, write_prompt
from crag.settings import KgWriterSettings, Settings
from crag.training.api_pairs.pairs import CallPair
from crag.training.files import TrainingExample, row_of

_DATE = re.compile(r"\b(\d{4})-(\d\d)(?:-(\d\d))?\b")
"""Year, month and, unless it is a whole month, day."""


def writer_examples(
    pairs: Sequence[CallPair],
    writer: KgWriterSettings,
    dense: DenseEncoder | None,
) -> Iterator[TrainingExample]:
    """Examples for the call writer, in these settings' prompts; no question is its own example."""
    if writer.form == "question":
        neighbourhoods = [Neighbourhood(pair.domain, ()) for pair in pairs]
    else:
        pairs = [pair for pair in pairs if names_its_dates(pair)]
        queries = [pair.query for pair in pairs]
        domains = [pair.domain for pair in pairs]
        neighbourhoods = ExampleChoice(writer, dense).choose(queries, domains, include_itself=False)

    for pair, neighbourhood in zip(pairs, neighbourhoods, strict=True):
        request = write_prompt(writer, neighbourhood, pair.query)
        yield TrainingExample(
            write_completion(writer, pair.domain, pair.program),
            messages=request.messages,
            prompt=request.prompt,
            exact_turns=request.exact_turns,
            groups=pair.groups,
            source=pair.source,
            split=pair.split,
        )


def names_its_dates(pair: CallPair) -> bool:
    """Whether the question has all numbers of the dates in the calls, months also by name.

    Some labels hold computed dates ("the last trading day of the year"). The executor resolves the question's own
    words; a model that is taught to compute learns to guess.
    """
    text = pair.query.casefold()
    numbers = {int(number) for number in re.findall(r"\d+", text)}
    for month in range(1, 13):
        # "Sept" and "september" both contain "sep"; a false match in a word only keeps a row
        if calendar.month_name[month][:3].casefold() in text:
            numbers.add(month)

    for date in _DATE.findall("\n".join(pair.calls)):
        # A month without a day leaves the third part empty
        parts = [int(part) for part in date if part]
        if not numbers.issuperset(parts):
            return False
    return True


@dataclass(frozen=True, kw_only=True)
class Label(TrainingExample):
    """A row of `crag.training.labels`."""

    query_time: str
    context: str


AnyLabel = TypeVar("AnyLabel", bound=Label)


def label_examples(
    path: Path,
    settings: Settings,
    task: str,
    abstaining: float,
    split: Split | None = None,
) -> list[TrainingExample]:
    """The rows of `crag.training.labels`, in the prompts of the preset's answerer.

    At most the share `abstaining` of them is "i don't know"; 1: all are kept. `task` names the answerer. Raises
    DatasetError: a row is not a label.
    """
    examples: list[TrainingExample] = list(read_labels(Label, path, settings, task, split))
    return examples if abstaining == 1 else _limit_abstentions(examples, abstaining)


def read_labels(
    kind: type[AnyLabel],
    path: Path,
    settings: Settings,
    task: str,
    split: Split | None = None,
) -> Iterator[AnyLabel]:
    """The rows of `crag.training.labels` in the prompts of the preset's answerer.

    Raises DatasetError: a row is not a label of that kind.
    """
    answering = settings.answering if task == "web_answerer" else settings.graph_answering
    answerer = Answerer(answering, load_language_model(settings.language_model))

    for record in read_records(path, split=split):
        label = row_of(with_query_time(record), kind)
        # The context is given, so neither id nor pages are needed
        query = Query("", label.query, label.query_time, None, ())
        request = answerer.request(query, label.context)
        yield replace(label, messages=request.messages, prompt=request.prompt)


def _limit_abstentions(examples: Sequence[TrainingExample], share: float) -> list[TrainingExample]:
    """All answers, and a sample of the abstentions that is at most this share of the result."""
    answers = [example for example in examples if example.completion != I_DONT_KNOW]
    abstentions = [example for example in examples if example.completion == I_DONT_KNOW]
    # Solves a / (a + n) = share for a, the abstentions beside n answers
    limit = round(len(answers) * share / (1 - share))
    if limit < len(abstentions):
        abstentions = random.Random(0).sample(abstentions, limit)  # noqa: S311 - a sample, not a secret
    return answers + abstentions
