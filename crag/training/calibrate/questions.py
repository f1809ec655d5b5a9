"""Reads finished runs of local_evaluation.py as questions with judged answers, from which P(correct) is learned."""

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from crag.answering import trim_to_tokens
from crag.core.contracts import I_DONT_KNOW, INVALID_QUESTION, WEB, GateFiring, GateScope
from crag.core.files import DatasetError, Record
from crag.evaluation.batches import gold_answers
from crag.evaluation.judge import Claim, Judge, Verdict, judge_claims
from crag.evaluation.split import Split
from crag.evaluation.store import PREDICTIONS, TRACES, SavedRun
from crag.graph.schema import Domain, load_schema
from crag.settings import ROUTE_CLASSES

_OLDER_GATES = (*ROUTE_CLASSES, "top_passage")
"""How names of gates begin; those of checks begin otherwise. Only older traces, without scopes, are read by them."""
_OLDER_PAGE_GATES = re.compile(r"^top_passage| \(web\)$")
"""Names of gates for pages alone, in such traces."""
_JUDGED = {Verdict.CORRECT, Verdict.INCORRECT}
_TELL_KIND = frozenset({"from_graph", "from_values"})
"""The features that `crag.answering.answer_kind` reads."""
_TABLE = re.compile(r"(?:ALL )?(\w{1,60})\(")
"""The table of a call."""
_KEYS = re.compile(r'\["(\w+)"\]')
"""The keys that a call selects."""


def _whole_record_tables() -> frozenset[str]:
    names: set[str] = set()
    for domain in Domain:
        for name, table in load_schema(domain).tables.items():
            if table.default_key is None or table.extra_keys:
                names.add(name)
    return frozenset(names)


_WHOLE_RECORDS = _whole_record_tables()
"""Tables of which a call without a key gives a whole record, not one value."""
_AGAIN = "run local_evaluation.py of this version again (--overwrite)"


class FinishedQuestion(NamedTuple):
    """A row of predictions.jsonl, the trace of the same attempt, and the right answers, the official one first."""

    record: Mapping[str, Any]
    trace: Mapping[str, Any]
    golds: tuple[str, ...]


class JudgedCandidate(NamedTuple):
    """A candidate answer, whether it is right, and its features.

    `gated`: a gate had closed, and only an audit asked for the answer. It is training data, but it is never given.
    `p_correct` is P(correct), None if no model weighs the answer.
    """

    text: str
    right: bool
    features: Mapping[str, float]
    gated: bool = False
    p_correct: float | None = None


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


def read_finished_questions(folder: Path, split: Split | None = None) -> list[FinishedQuestion]:
    """The questions of a run that have a trace, each in its last attempt; `DatasetError` if there are none."""
    questions: list[FinishedQuestion] = []
    try:
        run = SavedRun.read(folder)
        for key, row in run.records.items():
            record = Record(f"{folder / PREDICTIONS}, question {key.interaction_id}", row)
            # A question that failed before its trace teaches nothing
            if key in run.traces and (split is None or split.holds(record)):
                _check_candidates(Record(f"{folder / TRACES}, question {key.interaction_id}", run.traces[key]))
                questions.append(FinishedQuestion(row, run.traces[key], gold_answers(row)))
    except DatasetError as error:
        # Of a folder that is not there the name is wrong, not the run.
        advice = f"; {_AGAIN}" if folder.is_dir() else ""
        raise DatasetError(f"{error}{advice}") from None

    if not any("candidates" in question.trace for question in questions):
        raise DatasetError(f'{folder / TRACES}: no question has a trace with "candidates"; {_AGAIN}')
    return questions


def _check_candidates(trace: Record) -> None:
    """Raise DatasetError: the candidate answers of a trace are not as this package writes them."""
    candidates = trace.data.get("candidates", [])
    if not isinstance(candidates, list) or not all(map(_is_candidate, candidates)):
        expected = "a list of objects with text, source and features"
        raise trace.fault("candidates", f"expected {expected}")


def _is_candidate(entry: object) -> bool:
    if not isinstance(entry, dict):
        return False
    has_texts = isinstance(entry.get("text"), str) and isinstance(entry.get("source"), str)
    return has_texts and isinstance(entry.get("features"), dict)


@dataclass(frozen=True, slots=True)
class FeatureChoice:
    """Which features of answers are weighed. A name such as ``question_type`` means all ``question_type=...``.

    Attributes:
        only: Weigh these and no others; empty for all.
        without: Leave these out.
    """

    only: Set[str] = frozenset()
    without: Set[str] = frozenset()

    def take(self, features: Mapping[str, float]) -> dict[str, float]:
        """The chosen ones of an answer's features, and those that tell its kind."""
        return {name: value for name, value in features.items() if name in _TELL_KIND or self._includes(name)}

    def _includes(self, name: str) -> bool:
        # "question_type=set" is one class of the feature "question_type"
        feature, _, _ = name.partition("=")
        if self.without & {name, feature}:
            return False
        return not self.only or bool(self.only & {name, feature})


ALL_FEATURES = FeatureChoice()


def asked_questions(
    questions: Sequence[FinishedQuestion],
    judge: Judge,
    features: FeatureChoice = ALL_FEATURES,
) -> list[AskedQuestion]:
    """The questions that can be scored, with the verdicts of all candidate answers.

    The judge decides about answers that were not given; the given one keeps the run's own verdict. Candidates have only
    the chosen features.
    """
    scored = [question for question in questions if question.golds and "candidates" in question.trace]
    verdicts = [{question.record["prediction"]: Verdict(question.record["verdict"])} for question in scored]

    # Judge all open answers of all questions in one call.
    claims: list[Claim] = []
    claim_verdicts: list[dict[str, Verdict]] = []
    for question, question_verdicts in zip(scored, verdicts, strict=True):
        for entry in question.trace["candidates"]:
            text = entry["text"]
            # Candidates with the same text share one verdict, and so one judgement
            if text not in question_verdicts:
                claims.append(Claim(question.record["query"], question.golds, text))
                claim_verdicts.append(question_verdicts)

    judgements = judge_claims(judge, claims, trim_to_tokens)
    for claim, judgement, question_verdicts in zip(claims, judgements, claim_verdicts, strict=True):
        question_verdicts[claim.prediction] = judgement.verdict

    judged: list[AskedQuestion] = []
    for question, question_verdicts in zip(scored, verdicts, strict=True):
        judged.append(_build_question(question, question_verdicts, features))
    return judged


def _build_question(
    question: FinishedQuestion,
    verdicts: Mapping[str, Verdict],
    features: FeatureChoice,
) -> AskedQuestion:
    """A question with its judged candidates; `verdicts` are by the text of the answer."""
    trace = question.trace
    identifier = question.record["interaction_id"]
    gate = _closed_gate(trace)

    candidates: list[JudgedCandidate] = []
    for entry in trace["candidates"]:
        verdict = verdicts[entry["text"]]
        # "i don't know" is neither right nor wrong, and an unscored answer is unknown
        if verdict not in _JUDGED:
            continue
        candidates.append(
            JudgedCandidate(
                entry["text"],
                verdict is Verdict.CORRECT,
                features.take(entry["features"]),
                gated=_is_gated(entry["source"], gate),
            )
        )

    return AskedQuestion(
        interaction_id=identifier,
        group=_tables_and_keys(trace.get("calls", ())) or identifier,
        candidates=tuple(candidates),
        settled=_settled(question),
        invalid=any(gold.strip().lower() == INVALID_QUESTION for gold in question.golds),
        gate=None if gate is None else gate.answer,
    )


def _is_gated(source: str, gate: GateFiring | None) -> bool:
    """Whether the closed gate withholds answers of this source."""
    if gate is None:
        return False
    # A gate for pages alone lets the graph's answer through
    return source == WEB or gate.scope is GateScope.QUESTION


def _tables_and_keys(calls: Sequence[str]) -> str:
    """The tables and keys of calls, without names and dates; empty if there are none.

    A call for a whole record does not count: only the question tells which part of the record it asks for.

    >>> _tables_and_keys(['get_movie("jaws")["release_date"]'])
    'get_movie.release_date'
    """
    targets: set[str] = set()
    for line in calls:
        # Operators such as a sort name no table
        match = _TABLE.match(line)
        if not match:
            continue
        table = match[1]
        keys = _KEYS.findall(line)
        if keys or table not in _WHOLE_RECORDS:
            targets.add(".".join([table, *keys]))
    return " ".join(sorted(targets))


def _closed_gate(trace: Mapping[str, Any]) -> GateFiring | None:
    """The gate that decided the final answer, or would have without the audit."""
    reason = (trace.get("answer") or {}).get("reason")
    for entry in trace.get("gates", ()):
        firing = GateFiring(entry["name"], entry["reason"], entry["answer"], scope=_scope(entry))
        # Under an audit several gates may have closed; the final answer tells which of them decided
        if firing.scope is not GateScope.ANSWER and firing.reason == reason:
            return firing
    return None


def _scope(entry: Mapping[str, Any]) -> GateScope:
    """What the gate or check of a trace withholds. Older traces tell this by the name alone."""
    if "scope" in entry:
        return GateScope(entry["scope"])

    name = entry["name"]
    if not name.startswith(_OLDER_GATES):
        return GateScope.ANSWER
    return GateScope.PAGES if _OLDER_PAGE_GATES.search(name) else GateScope.QUESTION


def _settled(question: FinishedQuestion) -> JudgedCandidate | None:
    """The answer that no model weighs, such as the graph's about a game that does not exist."""
    text = question.record["prediction"]
    verdict = Verdict(question.record["verdict"])
    # The given answer is settled if it is neither a candidate nor a gate's text nor an abstention
    weighed = {entry["text"] for entry in question.trace["candidates"]}
    gated = {firing["answer"] for firing in question.trace.get("gates", ())}

    is_settled = text not in weighed and text not in gated and text != I_DONT_KNOW
    if not is_settled or verdict not in _JUDGED:
        return None
    return JudgedCandidate(text, verdict is Verdict.CORRECT, {})
