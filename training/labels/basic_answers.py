"""Finished runs of local_evaluation.py as what an answering model was asked and what it said first."""

import enum
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel

from agents.answering import normalise
from agents.contracts import GRAPH, I_DONT_KNOW, WEB
from agents.llm import Message
from evaluation.batches import golds_of
from evaluation.datasets import LABEL_FIELDS, Record, Split, read_rows
from evaluation.store import TRACES
from training.calibrate import FinishedQuestion, read_run
from training.command import CommandError
from training.examples import row_of


class Answered(enum.StrEnum):
    """Which of db3's two answerers is labelled: that of web pages (section 2.4) or that of the graph (section 3.3)."""

    WEB = "web"
    GRAPH = "graph"

    @property
    def step(self) -> str:
        """Under which name a trace holds what this answerer was asked and what it said."""
        return "answer" if self is Answered.WEB else "graph_answer"

    @property
    def source(self) -> str:
        """What its answers come from."""
        return WEB if self is Answered.WEB else GRAPH

    @property
    def not_asked(self) -> str:
        """Why a question has no row."""
        return f"not asked about {'web pages' if self is Answered.WEB else 'facts of the graph'}"


_FACTS = re.compile(r'<doc source="[^"]*">.*</doc>\n?', re.DOTALL)
"""What `agents.plan.facts_text` writes; marks inside of facts are broken there."""


@dataclass(frozen=True, slots=True)
class BasicAnswer:
    """One question with the context that it had, exactly as the model was asked (`messages` or `prompt`).

    `answer` is the model's first answer as the evaluator would have been given it, before gates, second looks and
    P(correct): "i don't know" where it said so, said nothing, or failed. `golds` are the right answers, the official
    one first, `labels` the labels of the question (domain and so on).
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
    """What a trace must hold; `prompt` and `generation` are those of the answerer."""

    query: str
    query_time: str
    context: str
    prompt: str | tuple[Message, ...]
    generation: _Generation


@dataclass(frozen=True, slots=True)
class BasicAnswers:
    """The rows that can be labelled, and why others of the runs cannot: reason -> count."""

    rows: tuple[BasicAnswer, ...]
    left_out: Mapping[str, int]


def basic_answers(
    runs: Sequence[Path],
    questions: Path | None = None,
    answered: Answered = Answered.WEB,
    split: Split | None = None,
) -> BasicAnswers:
    """Read the runs; a prompt that occurs twice, letter by letter, counts once.

    Args:
        runs: Folders of local_evaluation.py.
        questions: A question file whose answers and labels replace those that the runs saw, by interaction id; for runs
            over questions without answers it is needed.
        answered: Whose prompts and answers are read.
        split: Leaves questions of other splits out, as the runs' rows say.

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
        found = "" if answered is Answered.WEB else "; the graph's answerer is asked only where calls found facts"
        raise CommandError(f"{', '.join(map(str, runs))}: there is nothing to label ({shown}){found}")
    return BasicAnswers(tuple(rows.values()), left_out)


def _known(path: Path) -> dict[str, _Known]:
    return {
        row["interaction_id"]: _Known(golds_of(row), {name: row[name] for name in LABEL_FIELDS if name in row})
        for row in read_rows(path)
    }


def _row(
    folder: Path, question: FinishedQuestion, known: Mapping[str, _Known], answered: Answered
) -> BasicAnswer | str:
    """The row, or why there is none."""
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
    """The facts as they stand in the prompt: a trace has them whole, the model may have been shown less."""
    found = _FACTS.search(prompt if isinstance(prompt, str) else prompt[-1].content)
    return found[0] if found else ""
