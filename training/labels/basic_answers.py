"""Finished runs of local_evaluation.py as what an answering model was asked and what it said first."""

import enum
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.answering import normalise
from agents.contracts import GRAPH, I_DONT_KNOW, WEB
from agents.llm import Message
from evaluation.datasets import LABEL_FIELDS, Split, read_rows
from evaluation.store import TRACES
from training.calibrate.runs import FinishedQuestion, read_run


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


class LabelError(ValueError):
    """Runs that cannot be labelled; the message names the file and says what to do."""


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


@dataclass(frozen=True, slots=True)
class _Known:
    """Right answers and labels of a question."""

    golds: tuple[str, ...]
    labels: Mapping[str, str]


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
        LabelError: no question of the runs can be labelled, or a trace is of another version.
        training.calibrate.runs.CalibrationError: a run's file is missing or a row lacks its key.
        DatasetError: the question file, or a line of a run, cannot be read.
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
        raise LabelError(f"{', '.join(map(str, runs))}: there is nothing to label ({shown}){found}")
    return BasicAnswers(tuple(rows.values()), left_out)


def _known(path: Path) -> dict[str, _Known]:
    return {
        row["interaction_id"]: _Known(
            () if row.get("answer") is None else (row["answer"], *row["alt_ans"]),
            {name: row[name] for name in LABEL_FIELDS if name in row},
        )
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
    place = f"{folder / TRACES}, question {name}"
    asked = _field(place, trace, "prompts", dict).get(answered.step)
    if not asked:
        return answered.not_asked
    said = _field(place, trace, "generations", dict).get(answered.step)
    messages = () if isinstance(asked, str) else tuple(_messages(place, asked, answered))
    prompt = asked if isinstance(asked, str) else None
    if answered is Answered.WEB:
        context = _field(place, trace, "context", str)
    else:
        context = _facts(messages[-1].content if messages else prompt or "")
    return BasicAnswer(
        interaction_id=name,
        query=_field(place, trace, "query", str),
        query_time=_field(place, trace, "query_time", str),
        context=context,
        messages=messages,
        prompt=prompt,
        answer=_answer(place, said, answered),
        golds=golds,
        labels=facts.labels,
        split=record.get(Split.FIELD),
    )


def _field(place: str, data: Mapping[str, Any], name: str, kind: type) -> Any:  # noqa: ANN401 - of that kind
    value = data.get(name)
    if not isinstance(value, kind):
        raise LabelError(f'{place}, field "{name}": expected {kind.__name__}, found {value!r:.60}')
    return value


def _facts(asked: str) -> str:
    """The facts as they stand in the prompt: a trace has them whole, the model may have been shown less."""
    found = _FACTS.search(asked)
    return found[0] if found else ""


def _messages(place: str, turns: object, answered: Answered) -> Iterator[Message]:
    if not isinstance(turns, list):
        raise LabelError(f'{place}, field "prompts.{answered.step}": expected a text or a list, found {turns!r:.60}')
    for turn in turns:
        known = isinstance(turn, dict) and turn.get("role") in {"system", "user", "assistant"}
        if not (known and isinstance(turn.get("content"), str)):
            raise LabelError(f'{place}, field "prompts.{answered.step}": expected role and content, found {turn!r:.60}')
        yield Message(turn["role"], turn["content"])


def _answer(place: str, generation: object, answered: Answered) -> str:
    if not isinstance(generation, dict) or not isinstance(generation.get("text"), str):
        raise LabelError(
            f'{place}, field "generations.{answered.step}": expected an object with text, found {generation!r:.60}'
        )
    if generation.get("finish_reason") in {"error", "deadline"}:
        return I_DONT_KNOW
    return normalise(generation["text"], answered.source).text
