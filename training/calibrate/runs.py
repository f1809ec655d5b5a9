"""Reads finished runs of local_evaluation.py as questions with judged answers."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.answering import gated_answer, question_features, trim_to_tokens
from agents.common.contracts import I_DONT_KNOW, INVALID_QUESTION, WEB, GateFiring, Route, Trace
from agents.kg.trainable import Domain, load_schema
from agents.settings import ROUTE_CLASSES
from evaluation.batches import golds_of
from evaluation.datasets import DatasetError, Record, Split, read_records
from evaluation.judge import Claim, Judge, Verdict, judge_claims
from evaluation.store import PREDICTIONS, TRACES, SavedRun
from training.calibrate.expected_score import AskedQuestion, JudgedCandidate

QUESTION_SOURCE = "question"
"""`Candidate.source` of an answer that follows from the question alone."""
_BEFORE_ANSWERS = (*ROUTE_CLASSES, "top_passage")
"""Name prefixes of gates that close before an answer is asked for; other gates withhold a single answer."""
_TABLE, _KEYS = re.compile(r"(?:ALL )?(\w+)\("), re.compile(r'\["(\w+)"\]')
_WHOLE_RECORDS = frozenset(
    name
    for domain in Domain
    for name, table in load_schema(domain).tables.items()
    if table.default_key is None or table.extra_keys
)
_AGAIN = "run local_evaluation.py of this version again (--overwrite)"


@dataclass(frozen=True, slots=True)
class FinishedQuestion:
    """A row of predictions.jsonl and the trace of the same attempt."""

    record: Mapping[str, Any]
    trace: Mapping[str, Any]

    @property
    def golds(self) -> tuple[str, ...]:
        """The official answer and its alternatives; empty if there is none."""
        return golds_of(self.record)


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """The contents of a run's folder."""

    folder: Path
    signature: Mapping[str, Any]
    questions: tuple[FinishedQuestion, ...]


def read_run(folder: Path, split: Split | None = None) -> FinishedRun:
    """The questions of a run that have a trace, each in its last attempt.

    Raises:
        DatasetError: a file is missing or unreadable, no question has a trace or is of the split, or a question has no
            field `split`.
    """
    try:
        run = SavedRun.read(folder)
        traces = run.traces
        questions = tuple(
            FinishedQuestion(row, traces[key])
            for key, row in run.records.items()
            if key in traces
            and (split is None or split.holds(Record(f"{folder / PREDICTIONS}, question {key.interaction_id}", row)))
        )
    except DatasetError as error:
        raise DatasetError(f"{error}; {_AGAIN}") from None
    if not any("candidates" in question.trace for question in questions):
        raise DatasetError(f'{folder / TRACES}: no question has a trace with "candidates"; {_AGAIN}')
    return FinishedRun(folder, run.run.signature, questions)


def read_routes(paths: Sequence[Path]) -> dict[str, Route]:
    """Routes by interaction id, from rows ``{interaction_id, route}``; each file may have some of the fields.

    Raises:
        DatasetError: a file cannot be read, a row has another form, or there are no rows.
    """
    routes: dict[str, Route] = {}
    for path in paths:
        for place, row in read_records(path):
            for name, kind, expected in (("interaction_id", str, "text"), ("route", dict, "an object")):
                if not isinstance(row.get(name), kind):
                    raise DatasetError(f'{place}, field "{name}": expected {expected}')
            routes[row["interaction_id"]] = {**routes.get(row["interaction_id"], {}), **row["route"]}
    if paths and not routes:
        raise DatasetError(f"{paths[0]} is empty; rows {{interaction_id, route}} are expected")
    return routes


def asked_questions(
    run: FinishedRun, judge: Judge, routes: Mapping[str, Route] | None = None
) -> tuple[AskedQuestion, ...]:
    """The questions of the run that can be scored, with the verdicts of all candidate answers.

    Args:
        run: The run.
        judge: Judges the answers that were not given; the given one keeps the run's own verdict.
        routes: By interaction id; they replace the trace's in all features.
    """
    scored = [question for question in run.questions if question.golds and "candidates" in question.trace]
    return tuple(
        _asked(question, (routes or {}).get(question.record["interaction_id"]), own)
        for question, own in zip(scored, _verdicts(scored, judge), strict=True)
    )


def _candidates(question: FinishedQuestion) -> list[Mapping[str, Any]]:
    return [entry for entry in question.trace["candidates"] if entry["source"] != QUESTION_SOURCE]


def _verdicts(questions: Sequence[FinishedQuestion], judge: Judge) -> list[dict[str, Verdict]]:
    """Per question: answer -> verdict."""
    verdicts = [{q.record["prediction"]: Verdict(q.record["verdict"])} for q in questions]
    open_claims = [
        (own, Claim(question.record["query"], question.golds, entry["text"]))
        for question, own in zip(questions, verdicts, strict=True)
        for entry in _candidates(question)
        if entry["text"] not in own
    ]
    judged = judge_claims(judge, [claim for _, claim in open_claims], trim_to_tokens)
    for (own, claim), judgement in zip(open_claims, judged, strict=True):
        own[claim.prediction] = judgement.verdict
    return verdicts


def _asked(question: FinishedQuestion, route: Route | None, verdicts: Mapping[str, Verdict]) -> AskedQuestion:
    record = question.record
    gate = _closed_gate(question.trace)
    used, state = route or question.trace.get("route"), question.trace.get("graph_state")
    candidates = tuple(
        JudgedCandidate(
            entry["text"],
            verdicts[entry["text"]],
            _rerouted(entry["features"], route),
            gated=gate is not None and (entry["source"] == WEB or not _of_web(gate["name"])),
        )
        for entry in _candidates(question)
        if verdicts[entry["text"]] in {Verdict.CORRECT, Verdict.INCORRECT}
    )
    return AskedQuestion(
        interaction_id=record["interaction_id"],
        candidates=candidates,
        settled=_settled(question),
        invalid=any(gold.strip().lower() == INVALID_QUESTION for gold in question.golds),
        features=question_features(Trace("", "", "", route=used, graph_state=state)) if used else None,
        gate=None if gate is None else gate["answer"],
        asks_for=_asks_for(question.trace.get("calls", ())),
    )


def _asks_for(calls: Sequence[str]) -> str:
    """The tables and keys of calls, without names and dates; empty if there are none.

    A call for a whole record says nothing: the question alone tells what is wanted of it.
    """
    named = ((match[1], _KEYS.findall(line)) for line in calls if (match := _TABLE.match(line)))
    return " ".join(sorted({".".join([table, *keys]) for table, keys in named if keys or table not in _WHOLE_RECORDS}))


def _closed_gate(trace: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The gate that decided the final answer, or would have without the audit."""
    why = (trace.get("answer") or {}).get("reason")
    for firing in trace.get("gates", ()):
        before = firing["name"].startswith(_BEFORE_ANSWERS)
        if before and why == gated_answer(GateFiring(firing["name"], firing["reason"], firing["answer"]), WEB).reason:
            found: Mapping[str, Any] = firing
            return found
    return None


def _of_web(gate: str) -> bool:
    """Whether a gate of this name closes only after the graph was asked."""
    return gate.startswith("top_passage") or gate.endswith(" (web)")


def _settled(question: FinishedQuestion) -> JudgedCandidate | None:
    """The answer that no model weighs, such as the graph's about a game that does not exist."""
    text, verdict = question.record["prediction"], Verdict(question.record["verdict"])
    weighed = {entry["text"] for entry in question.trace["candidates"]}
    gated = {firing["answer"] for firing in question.trace.get("gates", ())}
    if text in weighed | gated | {I_DONT_KNOW} or verdict not in {Verdict.CORRECT, Verdict.INCORRECT}:
        return None
    return JudgedCandidate(text, verdict, {})


def _rerouted(features: Mapping[str, float], route: Route | None) -> dict[str, float]:
    """The features with the class probabilities of another route; None changes nothing.

    Other features stay as they were when the agent weighed the answer: passages, for example, come after the graph's
    answer.
    """
    if route is None:
        return dict(features)

    def of_route(named: Mapping[str, float], *, wanted: bool) -> dict[str, float]:
        return {name: value for name, value in named.items() if (name.partition("=")[0] in ROUTE_CLASSES) is wanted}

    new = question_features(Trace("", "", "", route=route))
    return of_route(features, wanted=False) | of_route(new, wanted=True)
