"""The rules that `benchmarks.abstention` compares, applied to its finished run."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from agents.answering import answer_features, class_gate, level_of, normalise, question_features, score_gate
from agents.contracts import I_DONT_KNOW, INVALID_QUESTION, WEB, Route, Trace
from agents.settings import ClassGate, GateSettings, load_settings
from agents.web.rerank import SCORE_NAME, probability
from evaluation.judge import Claim, RulesJudge, Verdict, judge_claims
from evaluation.trim import official_trim
from training.calibrate.expected_score import AskedQuestion, Floats, JudgedCandidate, always, without
from training.calibrate.fitting import Calibration, calibrate
from training.calibrate.logistic import TooFewError
from training.calibrate.runs import FinishedQuestion, FinishedRun, asked_questions, trace_of

THRESHOLD = 0.5
LABELS = ("domain", "question_type", "static_or_dynamic")


class ModelAnswer(NamedTuple):
    """What a model said before any rule withheld it, and how sure it called itself, None where it did not say."""

    text: str
    level: str | None
    mean_log_probability: float | None


@dataclass(frozen=True, slots=True)
class QuestionAndContext:
    """A question with its context: the finished row, the draft, its verdict, and the trace with the route to use."""

    finished: FinishedQuestion
    trace: Trace
    draft: ModelAnswer
    verdict: Verdict

    def asked(self, *, with_level: bool = False) -> AskedQuestion:
        """The draft as the only answer that could be given, with or without what the model said of it."""
        draft = self.draft
        features = answer_features(
            self.trace,
            draft.text,
            WEB,
            mean_log_probability=draft.mean_log_probability,
            assessment=draft.level if with_level else None,
            evidence=self.trace.context,
        )
        scored = self.verdict in {Verdict.CORRECT, Verdict.INCORRECT}
        return AskedQuestion(
            interaction_id=self.trace.interaction_id,
            candidates=(JudgedCandidate(draft.text, self.verdict, features),) if scored else (),
            settled=None,
            invalid=INVALID_QUESTION in self.finished.golds,
            features=question_features(self.trace) if self.trace.route else None,
        )

    @property
    def top_passage(self) -> float | None:
        """The best passage's probability of relevance."""
        logits = [passage.scores[SCORE_NAME] for passage in self.trace.passages if SCORE_NAME in passage.scores]
        return probability(max(logits)) if logits else None

    @property
    def labelled_route(self) -> Route:
        """What a router would say that is never wrong."""
        return {name: self.finished.record[name] for name in LABELS if name in self.finished.record}


def pairs_of(run: FinishedRun, routes: Mapping[str, Route]) -> list[QuestionAndContext]:
    """The pairs of a run; `routes` by interaction id replace those of the traces."""
    drafts = [draft_of(question) for question in run.questions]
    claims = [
        Claim(question.record["query"], question.golds, draft.text)
        for question, draft in zip(run.questions, drafts, strict=True)
    ]
    judged = judge_claims(RulesJudge(), claims, official_trim().cut)
    return [
        QuestionAndContext(
            question, trace_of(question.trace, routes.get(question.record["interaction_id"])), draft, judgement.verdict
        )
        for question, draft, judgement in zip(run.questions, drafts, judged, strict=True)
    ]


def draft_of(question: FinishedQuestion) -> ModelAnswer:
    """What the model said; "i don't know" where it failed or was not asked."""
    generations = question.trace.get("generations", {})
    answer, level = generations.get("answer"), level_of(generations.get("assess", {}).get("text", ""))
    if answer is None or answer["finish_reason"] in {"error", "deadline"}:
        return ModelAnswer(I_DONT_KNOW, None, None)
    return ModelAnswer(normalise(answer["text"], WEB).text, level, answer["mean_log_probability"])


class Rule(NamedTuple):
    """A rule and what it earns with each pair: shape (pairs,)."""

    name: str
    rewards: Floats


def rules(
    run: FinishedRun, routes: Mapping[str, Route], folds: int, seed: int, more: Sequence[AskedQuestion] = ()
) -> tuple[list[Rule], dict[str, Calibration], list[str]]:
    """All rules over the same pairs, the calibrations by the name of their rule, and what was left out and why.

    The questions of `more` teach the calibrations beside the pairs, in the same folds; only pairs are scored.
    """
    pairs = pairs_of(run, routes)
    drafts = [pair.asked() for pair in pairs]
    plain = _rewards([always(question) for question in drafts])
    notes: list[str] = []
    found = [Rule("always i don't know", np.zeros(len(pairs))), Rule("plain answering", plain)]
    found += list(_gates(pairs, plain, notes))
    worth = {Verdict.CORRECT: 1, Verdict.INCORRECT: -1}
    found.append(Rule("refine", _rewards([worth.get(Verdict(p.finished.record["verdict"]), 0) for p in pairs])))
    reviewed = asked_questions(run, RulesJudge(), routes)
    bases = {
        "calibrated": drafts,
        "calibrated, with second look": [without(question, {"self_assessment"}) for question in reviewed],
    }
    if any(pair.draft.level for pair in pairs):
        found += _assessed(pairs, plain)
        bases["calibrated, with self-assessment"] = [pair.asked(with_level=True) for pair in pairs]
        bases["calibrated, with both"] = list(reviewed)
    else:
        notes.append("self-assessment: no answer has a level of confidence")
    calibrations = {}
    for name, questions in bases.items():
        try:
            calibrations[name] = of_pairs(calibrate([*questions, *more], folds, seed, THRESHOLD), len(pairs))
        except TooFewError as error:
            notes.append(f"{name}: too few answers to learn from ({error})")
    found += [Rule(name, calibration.rewards(THRESHOLD)) for name, calibration in calibrations.items()]
    return found, calibrations, notes


def of_pairs(calibration: Calibration, pairs: int) -> Calibration:
    """What it believes of the first so many questions, which are the pairs."""
    return replace(calibration, questions=calibration.questions[:pairs], beliefs=calibration.beliefs[:pairs])


def _gates(pairs: Sequence[QuestionAndContext], plain: Floats, notes: list[str]) -> Iterator[Rule]:
    """NEC's gates one by one, all of them, and all with a router that is never wrong."""
    gates = load_settings("nec", ()).answering.gates
    routed = all(pair.trace.route for pair in pairs)
    if not routed:
        notes.append("class gates as the router sees the classes: the traces have no routes, and --routes gives none")
    for gate in gates:
        if routed or not isinstance(gate, ClassGate):
            yield Rule(f"gate: {gate.name}", _gated(pairs, plain, (gate,), [pair.trace.route for pair in pairs]))
    if routed:
        yield Rule("gates: all of NEC", _gated(pairs, plain, gates, [pair.trace.route for pair in pairs]))
    yield Rule("gates: all of NEC, true classes", _gated(pairs, plain, gates, [pair.labelled_route for pair in pairs]))


def _gated(
    pairs: Sequence[QuestionAndContext], plain: Floats, gates: Sequence[GateSettings], routes: Sequence[Route | None]
) -> Floats:
    closed = [
        class_gate(gates, route, "any") or score_gate(gates, "top_passage", pair.top_passage)
        for pair, route in zip(pairs, routes, strict=True)
    ]
    return np.where([firing is not None for firing in closed], 0.0, plain)


def _assessed(pairs: Sequence[QuestionAndContext], plain: Floats) -> list[Rule]:
    """WeKnow's rule, and a laxer one."""
    accepted = {"high": {"high"}, "high or medium": {"high", "medium"}}
    return [
        Rule(f"self-assessment: {name}", np.where([pair.draft.level in levels for pair in pairs], plain, 0.0))
        for name, levels in accepted.items()
    ]


def _rewards(values: Sequence[int]) -> Floats:
    return np.array(values, dtype=np.float64)
