"""Fits P(correct), the probability that an answer is right, to finished runs of local_evaluation.py.

This module reads the runs as questions with judged answers.
"""

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from crag.answering import gated_answer, trim_to_tokens
from crag.core.contracts import I_DONT_KNOW, INVALID_QUESTION, WEB, GateFiring
from crag.evaluation.batches import gold_answers
from crag.evaluation.datasets import DatasetError, Record, Split
from crag.evaluation.judge import Claim, Judge, Verdict, judge_claims
from crag.evaluation.store import PREDICTIONS, TRACES, SavedRun
from crag.graph.schema import Domain, load_schema
from crag.settings import ROUTE_CLASSES

_BEFORE_ANSWERS = (*ROUTE_CLASSES, "top_passage")
"""Name prefixes of gates that close before an answer is asked for; other gates withhold a single answer."""
_ONLY_WEB = re.compile(r"^top_passage| \(web\)$")
"""Names of gates that close only after the graph was asked."""
_JUDGED = {Verdict.CORRECT, Verdict.INCORRECT}
_TABLE, _KEYS = re.compile(r"(?:ALL )?(\w{1,60})\("), re.compile(r'\["(\w+)"\]')
_WHOLE_RECORDS = frozenset(
    name
    for domain in Domain
    for name, table in load_schema(domain).tables.items()
    if table.default_key is None or table.extra_keys
)
_AGAIN = "run local_evaluation.py of this version again (--overwrite)"


class FinishedQuestion(NamedTuple):
    """A row of predictions.jsonl, the trace of the same attempt, and the right answers, the official one first."""

    record: Mapping[str, Any]
    trace: Mapping[str, Any]
    golds: tuple[str, ...]


class JudgedCandidate(NamedTuple):
    """A candidate answer, whether it is right, and its features.

    `gated`: a gate had closed, and only an audit asked for the answer. It is training data, but it is never given.
    `likely` is P(correct), None if no model weighs the answer.
    """

    text: str
    right: bool
    features: Mapping[str, float]
    gated: bool = False
    likely: float | None = None


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question with a known answer, and the agent's candidate answers in order.

    `group`: questions that ask for the same tables and keys are held out together in cross-validation. `settled` is an
    answer that no model weighs. `invalid`: the question rests on a false premise. `gate` is a closed gate's answer,
    given if no earlier answer is.
    """

    interaction_id: str
    group: str
    candidates: tuple[JudgedCandidate, ...] = ()
    settled: JudgedCandidate | None = None
    invalid: bool = False
    gate: str | None = None


def read_run(folder: Path, split: Split | None = None) -> list[FinishedQuestion]:
    """The questions of a run that have a trace, each in its last attempt; `DatasetError` if there are none."""
    try:
        run = SavedRun.read(folder)
        questions = [
            FinishedQuestion(row, run.traces[key], gold_answers(row))
            for key, row in run.records.items()
            if key in run.traces
            and (split is None or split.holds(Record(f"{folder / PREDICTIONS}, question {key.interaction_id}", row)))
        ]
    except DatasetError as error:
        raise DatasetError(f"{error}; {_AGAIN}") from None
    if not any("candidates" in question.trace for question in questions):
        raise DatasetError(f'{folder / TRACES}: no question has a trace with "candidates"; {_AGAIN}')
    return questions


def asked_questions(
    questions: Sequence[FinishedQuestion], judge: Judge, without: Set[str] = frozenset()
) -> list[AskedQuestion]:
    """The questions that can be scored, with the verdicts of all candidate answers.

    The judge decides about answers that were not given; the given one keeps the run's own verdict. Features in
    `without` are left out; ``question_type`` means all ``question_type=...``.
    """
    scored = [question for question in questions if question.golds and "candidates" in question.trace]
    verdicts = [{each.record["prediction"]: Verdict(each.record["verdict"])} for each in scored]
    open_claims = [
        (own, Claim(question.record["query"], question.golds, entry["text"]))
        for question, own in zip(scored, verdicts, strict=True)
        for entry in question.trace["candidates"]
        if entry["text"] not in own
    ]
    judged = judge_claims(judge, [claim for _, claim in open_claims], trim_to_tokens)
    for (own, claim), judgement in zip(open_claims, judged, strict=True):
        own[claim.prediction] = judgement.verdict
    return [_asked(question, own, without) for question, own in zip(scored, verdicts, strict=True)]


def _asked(question: FinishedQuestion, verdicts: Mapping[str, Verdict], without: Set[str]) -> AskedQuestion:
    def rest(features: Mapping[str, float]) -> dict[str, float]:
        return {name: value for name, value in features.items() if not {name, name.partition("=")[0]} & without}

    trace, identifier, gate = question.trace, question.record["interaction_id"], _closed_gate(question.trace)
    return AskedQuestion(
        interaction_id=identifier,
        group=_asks_for(trace.get("calls", ())) or identifier,
        candidates=tuple(
            JudgedCandidate(
                entry["text"],
                verdicts[entry["text"]] is Verdict.CORRECT,
                rest(entry["features"]),
                gated=gate is not None and (entry["source"] == WEB or not _ONLY_WEB.search(gate.name)),
            )
            for entry in question.trace["candidates"]
            if verdicts[entry["text"]] in _JUDGED
        ),
        settled=_settled(question),
        invalid=any(gold.strip().lower() == INVALID_QUESTION for gold in question.golds),
        gate=None if gate is None else gate.answer,
    )


def _asks_for(calls: Sequence[str]) -> str:
    """The tables and keys of calls, without names and dates; empty if there are none.

    A call for a whole record says nothing: the question alone tells what is wanted of it.
    """
    named = ((match[1], _KEYS.findall(line)) for line in calls if (match := _TABLE.match(line)))
    return " ".join(sorted({".".join([table, *keys]) for table, keys in named if keys or table not in _WHOLE_RECORDS}))


def _closed_gate(trace: Mapping[str, Any]) -> GateFiring | None:
    """The gate that decided the final answer, or would have without the audit."""
    why = (trace.get("answer") or {}).get("reason")
    early = (firing for firing in trace.get("gates", ()) if firing["name"].startswith(_BEFORE_ANSWERS))
    gates = (GateFiring(firing["name"], firing["reason"], firing["answer"]) for firing in early)
    return next((gate for gate in gates if gated_answer(gate, WEB).reason == why), None)


def _settled(question: FinishedQuestion) -> JudgedCandidate | None:
    """The answer that no model weighs, such as the graph's about a game that does not exist."""
    text, verdict = question.record["prediction"], Verdict(question.record["verdict"])
    weighed = {entry["text"] for entry in question.trace["candidates"]}
    gated = {firing["answer"] for firing in question.trace.get("gates", ())}
    if text in weighed | gated | {I_DONT_KNOW} or verdict not in _JUDGED:
        return None
    return JudgedCandidate(text, verdict is Verdict.CORRECT, {})
