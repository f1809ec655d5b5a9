"""Reads an answering model's prompts and first answers from finished runs of local_evaluation.py."""

import enum
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel

from agents.answering import Answerer, normalise
from agents.common.contracts import GRAPH, I_DONT_KNOW, WEB, Query
from agents.llm import Message, load_language_model
from agents.settings import Settings
from evaluation.batches import golds_of
from evaluation.datasets import LABEL_FIELDS, Record, Split, read_records, read_rows
from evaluation.store import TRACES
from training.calibrate import FinishedQuestion, read_run
from training.command import CommandError
from training.examples import row_of


class Answered(enum.StrEnum):
    """The answerer of db3 to label: for web pages (section 2.4) or for the graph (section 3.3)."""

    WEB = "web"
    GRAPH = "graph"

    @property
    def step(self) -> str:
        """The name of the answerer's prompt and generation in a trace."""
        return "answer" if self is Answered.WEB else "graph_answer"

    @property
    def source(self) -> str:
        """The source of its answers."""
        return WEB if self is Answered.WEB else GRAPH

    @property
    def not_asked(self) -> str:
        """The reason if a question has no row."""
        return f"not asked about {'web pages' if self is Answered.WEB else 'facts of the graph'}"


_FACTS = re.compile(r'<doc source="[^"]*">.*</doc>\n?', re.DOTALL)
"""The output of `agents.pipeline.case.facts_text`, which breaks marks inside facts."""


@dataclass(frozen=True, slots=True)
class BasicAnswer:
    """One question with its context and the model's exact prompt (`messages` or `prompt`).

    `answer` is the model's first answer as the evaluator would get it, before gates, second looks and P(correct): "i
    don't know" if it said so, said nothing, or failed. `golds` are the right answers, the official one first, `labels`
    the labels of the question (domain and so on).
    """

    interaction_id: str
    query: str
    query_time: str
    context: str
    messages: tuple[Message, ...]
    prompt: str | None
    answer: str
    golds: tuple[str, ...]
    labels: Mapping[str, str]
    split: int | None = None


class _Known(NamedTuple):
    golds: tuple[str, ...]
    labels: Mapping[str, str]


class _Generation(BaseModel):
    text: str
    finish_reason: str = ""


class _Asked(BaseModel):
    """Required fields of a trace; `prompt` and `generation` are the answerer's."""

    query: str
    query_time: str
    context: str
    prompt: str | tuple[Message, ...]
    generation: _Generation


@dataclass(frozen=True, slots=True)
class BasicAnswers:
    """The rows that can be labelled, and the counts of the others by reason."""

    rows: tuple[BasicAnswer, ...]
    left_out: Mapping[str, int]


def basic_answers(
    runs: Sequence[Path],
    questions: Path | None = None,
    answered: Answered = Answered.WEB,
    split: Split | None = None,
) -> BasicAnswers:
    """Read the runs; identical prompts count once.

    Args:
        runs: Folders of local_evaluation.py.
        questions: A question file whose answers and labels replace the runs' own, by interaction id; required if the
            runs' questions have no answers.
        answered: The answerer to read.
        split: Skip rows of other splits.

    Raises:
        CommandError: no question of the runs can be labelled.
        DatasetError: the question file or a file of a run cannot be read, or a row lacks its key.
    """
    known = {} if questions is None else _known(questions)
    rows: dict[object, BasicAnswer] = {}
    left_out: dict[str, int] = {}
    for folder in runs:
        for question in read_run(folder, split).questions:
            row = _row(folder, question, known, answered)
            reason = row if isinstance(row, str) else None
            if isinstance(row, BasicAnswer):
                asked = (row.messages, row.prompt)
                reason = "asked twice in the same words" if asked in rows else None
                rows.setdefault(asked, row)
            if reason:
                left_out[reason] = left_out.get(reason, 0) + 1
    if not rows:
        shown = ", ".join(f"{count} {reason}" for reason, count in left_out.items())
        found = "" if answered is Answered.WEB else "; the graph's answerer is asked only if calls found facts"
        raise CommandError(f"{', '.join(map(str, runs))}: nothing to label ({shown}){found}")
    return BasicAnswers(tuple(rows.values()), left_out)


class _Context(BaseModel):
    """A row of `python -m agents.web context`."""

    interaction_id: str
    context: str


def unanswered(contexts: Sequence[Path], questions: Path, settings: Settings, split: Split) -> BasicAnswers:
    """The questions with these contexts, in the prompt of the preset's web answerer, without a basic answer.

    Args:
        contexts: Rows of `python -m agents.web context`.
        questions: The questions with their right answers, by interaction id.
        settings: The preset.
        split: Skip questions of other splits.

    Raises:
        CommandError: no question has a context and a right answer, or an id stands for two questions.
        DatasetError: a file cannot be read, or a row lacks a field.
    """
    answerer = Answerer(settings.answering, load_language_model(settings.language_model))
    asked: dict[str, dict[str, Any]] = {}
    for row in read_rows(questions, split=split):
        if asked.setdefault(row["interaction_id"], row)["query"] != row["query"]:
            raise CommandError(f"{questions}: the id {row['interaction_id']} stands for two questions")
    given = (row_of(record, _Context) for path in contexts for record in read_records(path))
    rows = tuple(
        _unanswered(asked[one.interaction_id], one.context, answerer)
        for one in given
        if any(gold.strip() for gold in golds_of(asked.get(one.interaction_id, {})))
    )
    if not rows:
        files = ", ".join(map(str, contexts))
        raise CommandError(f"{questions}: no question with a right answer has a context in {files}")
    left_out = len(asked.keys() - {row.interaction_id for row in rows})
    return BasicAnswers(rows, {"without a context or a right answer": left_out} if left_out else {})


def _unanswered(row: Mapping[str, Any], context: str, answerer: Answerer) -> BasicAnswer:
    query = Query(row["interaction_id"], row["query"], row.get("query_time", ""), None, ())
    request = answerer.request(query, context)
    return BasicAnswer(
        interaction_id=query.interaction_id,
        query=query.text,
        query_time=query.query_time,
        context=context,
        messages=request.messages,
        prompt=request.prompt,
        answer=I_DONT_KNOW,
        golds=tuple(gold for gold in golds_of(row) if gold.strip()),
        labels={name: row[name] for name in LABEL_FIELDS if name in row},
        split=row.get(Split.FIELD),
    )


def _known(path: Path) -> dict[str, _Known]:
    return {
        row["interaction_id"]: _Known(golds_of(row), {name: row[name] for name in LABEL_FIELDS if name in row})
        for row in read_rows(path)
    }


def _row(
    folder: Path, question: FinishedQuestion, known: Mapping[str, _Known], answered: Answered
) -> BasicAnswer | str:
    """The row, or the reason if there is none."""
    record, trace = question.record, question.trace
    name = record["interaction_id"]
    own = _Known(question.golds, {field: record[field] for field in LABEL_FIELDS if field in record})
    facts = known.get(name, own)
    golds = tuple(gold for gold in facts.golds if gold.strip())
    if not golds:
        return "without a right answer"
    step = answered.step
    prompt = trace["prompts"].get(step)
    if not prompt:
        return answered.not_asked
    place = f"{folder / TRACES}, question {name}"
    fields = {**trace, "prompt": prompt, "generation": trace["generations"].get(step)}
    asked = row_of(Record(place, fields), _Asked)
    failed = asked.generation.finish_reason in {"error", "deadline"}
    return BasicAnswer(
        interaction_id=name,
        query=asked.query,
        query_time=asked.query_time,
        context=asked.context if answered is Answered.WEB else _facts(asked.prompt),
        messages=() if isinstance(asked.prompt, str) else asked.prompt,
        prompt=asked.prompt if isinstance(asked.prompt, str) else None,
        answer=I_DONT_KNOW if failed else normalise(asked.generation.text, answered.source).text,
        golds=golds,
        labels=facts.labels,
        split=record.get(Split.FIELD),
    )


def _facts(prompt: str | tuple[Message, ...]) -> str:
    """The facts in the prompt, which may be shorter than those in the trace."""
    found = _FACTS.search(prompt if isinstance(prompt, str) else prompt[-1].content)
    return found[0] if found else ""
