"""Compare rules for saying "i don't know", on real questions with retrieved segments.

    python -m benchmarks.abstention run --output DIR [--contexts FILE] [--preset cpu] [--limit N]
    python -m benchmarks.abstention report --output DIR [--routes FILE] [--pictures DIR]

`run` asks the preset's own agent, without knowledge graph and public data. Each segment becomes a page, and all pages
are read, so that extraction, chunking, retrieval, reranking and the context are those of the preset. It is a run of
local_evaluation.py: an interruption costs at most a batch, and the same command continues.

One run compares all rules: the model answers, states its confidence, and reviews its answer; nothing is withheld, so
that `report` can apply each rule to the same drafts.
"""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from agents.answering import answer_features, class_gate, level_of, normalise, question_features, score_gate
from agents.common.console import end_with
from agents.common.contracts import I_DONT_KNOW, INVALID_QUESTION, WEB, Route, Trace
from agents.common.files import write_json, write_rows
from agents.llm import Generation
from agents.settings import ClassGate, GateSettings, load_settings
from agents.web.rerank import SCORE_NAME, probability
from benchmarks.common import evaluate_preset, exit_code, shown_difference, table, with_interval
from evaluation.datasets import LABEL_FIELDS
from evaluation.judge import Claim, RulesJudge, Verdict, judge_claims
from evaluation.metrics import VALUE
from evaluation.signature import signature_line
from evaluation.trim import official_trim
from training.calibrate.__main__ import draw
from training.calibrate.expected_score import (
    AskedQuestion,
    Floats,
    JudgedCandidate,
    always,
    difference,
    score_table,
    without,
)
from training.calibrate.fitting import Calibration, calibrate
from training.calibrate.logistic import TooFewError
from training.calibrate.runs import FinishedQuestion, FinishedRun, asked_questions, read_routes, read_run, trace_of
from training.command import parser_of
from training.pictures import Estimate, estimates
from training.segments import DEFAULT_FILE, questions_of

THRESHOLD = 0.5
MOST_SEGMENTS = 20
PLAIN = "plain answering"

CHANGES = (
    "knowledge_graph=none",
    "public_data=none",
    f"web.pages.keep={MOST_SEGMENTS}",
    "web.pages.method=search_order",
    "answering.gates=[]",
    "answering.confidence=none",
    "answering.prompt=reader",
    "answering.self_assessment.asked=afterwards",
    "answering.self_assessment.accepted=['high', 'medium', 'low']",
    "answering.refine.prompt=refine",
)
"""Changes to the preset, as `local_evaluation.py --set` takes them."""


# --- the rules, applied to a finished run -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class QuestionAndContext:
    """A question with its context, and the model's draft before any rule withheld it."""

    finished: FinishedQuestion
    trace: Trace
    """With the route to use."""
    text: str
    level: str | None
    """The confidence that the model stated."""
    generation: Generation | None
    verdict: Verdict

    def asked(self, *, with_level: bool = False) -> AskedQuestion:
        """The draft as the only candidate answer, with or without the model's stated confidence."""
        features = answer_features(
            self.trace,
            self.text,
            WEB,
            generation=self.generation,
            assessment=self.level if with_level else None,
            evidence=self.trace.context,
        )
        scored = self.verdict in {Verdict.CORRECT, Verdict.INCORRECT}
        return AskedQuestion(
            interaction_id=self.trace.interaction_id,
            candidates=(JudgedCandidate(self.text, self.verdict, features),) if scored else (),
            settled=None,
            invalid=INVALID_QUESTION in self.finished.golds,
            features=question_features(self.trace) if self.trace.route else None,
        )

    @property
    def top_passage(self) -> float | None:
        """The best passage's probability of relevance."""
        logits = [passage.scores[SCORE_NAME] for passage in self.trace.passages if SCORE_NAME in passage.scores]
        return probability(max(logits)) if logits else None


def pairs_of(run: FinishedRun, routes: Mapping[str, Route]) -> list[QuestionAndContext]:
    """The pairs of a run; `routes` by interaction id replace those of the traces."""
    pairs = []
    for question in run.questions:
        generations = question.trace.get("generations", {})
        answer, level = generations.get("answer"), level_of(generations.get("assess", {}).get("text", ""))
        text, generation = I_DONT_KNOW, None
        if answer is None or answer["finish_reason"] in {"error", "deadline"}:
            level = None
        else:
            text, generation = normalise(answer["text"], WEB).text, Generation(**answer)
        claim = Claim(question.record["query"], question.golds, text)
        (judgement,) = judge_claims(RulesJudge(), [claim], official_trim().cut)
        trace = trace_of(question.trace, routes.get(question.record["interaction_id"]))
        pairs.append(QuestionAndContext(question, trace, text, level, generation, judgement.verdict))
    return pairs


@dataclass(frozen=True, slots=True)
class Comparison:
    """The rewards of each rule, shape (pairs,), the calibrations by rule, and what was left out and why."""

    rewards: dict[str, Floats]
    calibrations: dict[str, Calibration]
    left_out: list[str]


def compare_rules(
    run: FinishedRun, routes: Mapping[str, Route], folds: int, seed: int, more: Sequence[AskedQuestion] = ()
) -> Comparison:
    """All rules over the same pairs.

    The calibrations also learn from the questions of `more`, in the same folds; only pairs are scored.
    """
    pairs = pairs_of(run, routes)
    drafts = [pair.asked() for pair in pairs]
    plain = np.array([always(question) for question in drafts], dtype=np.float64)
    found = Comparison({"always i don't know": np.zeros(len(pairs)), PLAIN: plain}, {}, [])
    found.rewards.update(_gates(pairs, plain, found.left_out))
    final = [Verdict(pair.finished.record["verdict"]) for pair in pairs]
    found.rewards["refine"] = np.array([VALUE.get(verdict, 0) for verdict in final], dtype=np.float64)
    reviewed = asked_questions(run, RulesJudge(), routes)
    bases = {
        "calibrated": drafts,
        "calibrated, with second look": [without(question, {"self_assessment"}) for question in reviewed],
    }
    if any(pair.level for pair in pairs):
        for name, levels in (("high", {"high"}), ("high or medium", {"high", "medium"})):  # WeKnow's rule, a laxer one
            found.rewards[f"self-assessment: {name}"] = np.where([pair.level in levels for pair in pairs], plain, 0.0)
        bases["calibrated, with self-assessment"] = [pair.asked(with_level=True) for pair in pairs]
        bases["calibrated, with both"] = list(reviewed)
    else:
        found.left_out.append("self-assessment: no answer has a level of confidence")
    for name, questions in bases.items():
        try:
            fitted = calibrate([*questions, *more], folds, seed, THRESHOLD)
        except TooFewError as error:
            found.left_out.append(f"{name}: too few answers to learn from ({error})")
            continue
        n = len(pairs)
        own = replace(fitted, questions=fitted.questions[:n], beliefs=fitted.beliefs[:n])
        found.calibrations[name] = own
        found.rewards[name] = own.rewards(THRESHOLD)
    return found


def _gates(pairs: Sequence[QuestionAndContext], plain: Floats, left_out: list[str]) -> Iterator[tuple[str, Floats]]:
    """NEC's gates one by one, all of them, and all with the true classes."""
    gates = load_settings("nec", ()).answering.gates
    routes = [pair.trace.route for pair in pairs]
    if all(routes):
        yield from ((f"gate: {gate.name}", _gated(pairs, plain, (gate,), routes)) for gate in gates)
        yield "gates: all of NEC", _gated(pairs, plain, gates, routes)
    else:
        left_out.append("class gates with the router's classes: neither the traces nor --routes have routes")
        others = [gate for gate in gates if not isinstance(gate, ClassGate)]
        yield from ((f"gate: {gate.name}", _gated(pairs, plain, (gate,), routes)) for gate in others)
    records = [pair.finished.record for pair in pairs]
    labels: list[Route] = [{name: record[name] for name in LABEL_FIELDS if name in record} for record in records]
    yield "gates: all of NEC, true classes", _gated(pairs, plain, gates, labels)


def _gated(
    pairs: Sequence[QuestionAndContext], plain: Floats, gates: Sequence[GateSettings], routes: Sequence[Route | None]
) -> Floats:
    closed = [
        class_gate(gates, route, "any") or score_gate(gates, "top_passage", pair.top_passage)
        for pair, route in zip(pairs, routes, strict=True)
    ]
    return np.where([firing is not None for firing in closed], 0.0, plain)


# --- the report -------------------------------------------------------------------------------------------------------


def figures(rewards: Mapping[str, Floats], groups: Sequence[str]) -> dict[str, Any]:
    """Scores of all rules, and paired differences: from plain answering, and from each calibrated rule."""
    calibrated = {name: own for name, own in rewards.items() if name.startswith("calibrated")}
    return {
        "pairs": len(groups),
        "questions": len(set(groups)),
        "rules": {
            name: {
                **score_table(own, groups),
                "against_plain": difference(own, rewards[PLAIN], groups),
                "calibrated_against_it": {
                    other: difference(theirs, own, groups) for other, theirs in calibrated.items() if other != name
                },
            }
            for name, own in rewards.items()
        },
    }


def shown(facts: Mapping[str, Any]) -> str:
    """The figures as text."""
    rows, lines = [], []
    for name, rule in facts["rules"].items():
        ours = rule["calibrated_against_it"].get("calibrated")
        shares = [rule[share] for share in ("accuracy", "hallucination", "missing")]
        score, gain = with_interval(rule["score"], rule["ci"]), shown_difference(rule["against_plain"])
        rows.append([name, score, *shares, gain, shown_difference(ours) if ours else ""])
        if known := rule.get("probabilities"):
            quality = ", ".join(f"{key} {known[key]:.3f}" for key in ("ece", "brier", "auc", "right"))
            lines.append(f"{name}: P(correct) of {known['answers']} answers: {quality}")
    header = ["rule", "score", "right", "wrong", "missing", "minus plain answering", "calibrated minus rule"]
    title = f"{facts['pairs']} pairs of {facts['questions']} questions; intervals: 95 %, resampled by question"
    return "\n".join([f"{title}\n", table(header, rows), "", *lines])


# --- the command line -------------------------------------------------------------------------------------------------


def run(options: argparse.Namespace) -> int:
    """Ask the remaining questions; return the evaluator's exit code."""
    questions = options.output / "pairs.jsonl"
    write_rows(questions, questions_of(options.contexts))
    return evaluate_preset(options.preset, questions, options.output, CHANGES, options.limit)


def report(options: argparse.Namespace) -> int:
    """Print the table; write report.json and the pictures."""
    pictures = options.pictures or options.output / "pictures"
    routes = read_routes(options.routes)
    finished = read_run(options.output)
    more = [question for folder in options.more for question in asked_questions(read_run(folder), RulesJudge(), routes)]
    found = compare_rules(finished, routes, options.folds, options.seed, more)
    facts = figures(found.rewards, [question.record["interaction_id"] for question in finished.questions])
    for name, calibration in found.calibrations.items():
        facts["rules"][name]["probabilities"] = calibration.metrics(THRESHOLD)["probabilities"]
        draw(pictures / name.replace(", ", "_").replace(" ", "_"), calibration, THRESHOLD)
    scores = [Estimate(name, rule["score"], *rule["ci"]) for name, rule in facts["rules"].items()]
    estimates(pictures / "scores.svg", scores, "score, 95 % interval", f"{facts['pairs']} pairs")
    facts |= {"left_out": found.left_out, "run": signature_line(finished.signature)}
    write_json(options.output / "report.json", facts)
    print("\n".join([shown(facts), *(f"left out: {note}" for note in found.left_out)]))
    print(f"wrote {options.output / 'report.json'} and pictures in {pictures}")
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run or report. Exit code: 0 done, 2 a file cannot be used, else the evaluator's."""
    parser = parser_of("benchmarks.abstention", __doc__)
    commands = parser.add_subparsers(required=True, metavar="run|report")
    running = commands.add_parser("run", help="ask the questions; continues after an interruption")
    running.add_argument("--output", type=Path, required=True, metavar="DIR")
    running.add_argument("--contexts", type=Path, default=DEFAULT_FILE, metavar="FILE", help="default: %(default)s")
    running.add_argument("--preset", default="cpu", metavar="P", help="default: %(default)s")
    running.add_argument("--limit", type=int, metavar="N", help="only the first N pairs")
    running.set_defaults(command=run)
    reporting = commands.add_parser("report", help="compare the rules")
    reporting.add_argument("--output", type=Path, required=True, metavar="DIR", help="the folder of `run`")
    several: dict[str, Any] = {"type": Path, "nargs": "+", "default": []}
    reporting.add_argument("--routes", **several, metavar="FILE", help="out-of-fold routes, as training.calibrate")
    reporting.add_argument(
        "--more", **several, metavar="RUN_DIR", help="more runs to learn the calibration from; only pairs are scored"
    )
    reporting.add_argument("--pictures", type=Path, metavar="DIR", help="default: DIR/pictures of --output")
    reporting.add_argument("--folds", type=int, default=10, metavar="K", help="default: %(default)s")
    reporting.add_argument("--seed", type=int, default=20240605, metavar="N", help="default: %(default)s")
    reporting.set_defaults(command=report)
    options = parser.parse_args(arguments)
    return exit_code(lambda: options.command(options))


if __name__ == "__main__":
    end_with(main)
