"""Reads an answering model's prompts and first answers from finished runs of local_evaluation.py."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel

from agents.answering import normalise
from agents.common.contracts import GRAPH, I_DONT_KNOW, WEB
from agents.common.files import UserError
from agents.llm import Message
from evaluation.datasets import LABEL_FIELDS, Record, Split
from evaluation.store import TRACES
from training.calibrate import FinishedQuestion, read_run
from training.examples import row_of

WEB_PAGES, FACTS = "web", "graph"
"""The answerers of db3 that can be labelled: of web pages (section 2.4) and of the graph's facts (3.3)."""
STEPS = {WEB_PAGES: ("answer", WEB), FACTS: ("graph_answer", GRAPH)}
"""The names of their prompts in a trace, and of their source."""
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


class BasicAnswers(NamedTuple):
    """The rows that can be labelled, and the counts of the others by reason."""

    rows: tuple[BasicAnswer, ...]
    left_out: Counter[str]


def basic_answers(runs: Sequence[Path], answerer: str = WEB_PAGES, split: Split | None = None) -> BasicAnswers:
    """Read the answers of an answerer (a key of `STEPS`) from run folders; identical prompts count once.

    Raises:
        UserError: no question of the runs can be labelled.
        DatasetError: a file of a run cannot be read, or a row lacks its key or its `split`.
    """
    step, _ = STEPS[answerer]
    rows: dict[object, BasicAnswer] = {}
    left_out: Counter[str] = Counter()
    for folder in runs:
        for question in read_run(folder, split).questions:
            if not any(gold.strip() for gold in question.golds):
                left_out["without a right answer"] += 1
            elif not question.trace["prompts"].get(step):
                left_out[f"not asked about {'web pages' if answerer == WEB_PAGES else 'facts of the graph'}"] += 1
            else:
                row = _row(folder, question, answerer)
                if rows.setdefault((row.messages, row.prompt), row) is not row:
                    left_out["asked twice in the same words"] += 1
    if not rows:
        shown = ", ".join(f"{count} {reason}" for reason, count in left_out.items())
        found = "" if answerer == WEB_PAGES else "; the graph's answerer is asked only if calls found facts"
        raise UserError(f"{', '.join(map(str, runs))}: nothing to label ({shown}){found}")
    return BasicAnswers(tuple(rows.values()), left_out)


def _row(folder: Path, question: FinishedQuestion, answerer: str) -> BasicAnswer:
    record, trace = question.record, question.trace
    step, source = STEPS[answerer]
    fields: dict[str, Any] = {
        **trace,
        "prompt": trace["prompts"][step],
        "generation": trace["generations"].get(step),
    }
    asked = row_of(Record(f"{folder / TRACES}, question {record['interaction_id']}", fields), _Asked)
    failed = asked.generation.finish_reason in {"error", "deadline"}
    return BasicAnswer(
        interaction_id=record["interaction_id"],
        query=asked.query,
        query_time=asked.query_time,
        context=asked.context if source == WEB else _facts(asked.prompt),
        messages=() if isinstance(asked.prompt, str) else asked.prompt,
        prompt=asked.prompt if isinstance(asked.prompt, str) else None,
        answer=I_DONT_KNOW if failed else normalise(asked.generation.text, source).text,
        golds=tuple(gold for gold in question.golds if gold.strip()),
        labels={field: record[field] for field in LABEL_FIELDS if field in record},
        split=record.get(Split.FIELD),
    )


def _facts(prompt: str | tuple[Message, ...]) -> str:
    """The facts in the prompt, which may be shorter than those in the trace."""
    found = _FACTS.search(prompt if isinstance(prompt, str) else prompt[-1].content)
    return found[0] if found else ""
