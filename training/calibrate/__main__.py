"""Fit P(correct), which decides where the agent answers, to finished runs: python -m training.calibrate.

A right answer earns 1, a wrong one costs 1, "i don't know" earns 0: an answer pays off if P(correct) is above 0.5. The
runs are folders of local_evaluation.py over questions with known answers. Their traces hold all candidate answers, with
`--set answering.audit=true` also those to questions at which a class or passage gate closed: these are training data,
but the figures count the gate's answer. A preset names the output as `answering.confidence.model`.

Answers from the web, answers that a model read from the knowledge graph's facts, and values of the graph are weighed
only if the runs have at least 10 of the kind; "covers" in the file lists the kinds. Other answers are given unweighed.

A router is too sure about the labelled questions that it was trained on, and P(correct) would learn to trust it too
much. `--routes` replaces its class probabilities by out-of-fold routes, from routers that had not seen the question
(`python -m training.router` writes them as out_of_fold.jsonl).

Cross-validation holds out together all questions for the same tables and keys of the graph, so that its figures hold
for new kinds of questions; without calls, all rows of a question.
"""

import argparse
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agents.answering import CALIBRATION_FOLDER
from agents.common.contracts import Route
from agents.common.files import UserError, write_json
from crag.command import add_split_argument, end_with, exit_code, parser_of
from evaluation.judge import JUDGE_NAMES, Judge, make_judge
from evaluation.signature import signature_line
from evaluation.store import PREDICTIONS, TRACES
from training.calibrate.expected_score import AskedQuestion, without
from training.calibrate.fitting import Calibration, calibrate
from training.calibrate.logistic import TooFewError
from training.calibrate.runs import FinishedRun, asked_questions, read_routes, read_run
from training.run_card import file_hash, run_card, write_card

FOLDS, SEED = 10, 20240605
LICENCE = (
    "The numbers were learned from runs over the questions named here. CRAG's questions and answers are under "
    "CC BY-NC 4.0 (Yang et al. 2024, CRAG: Comprehensive RAG Benchmark), and so are numbers learned from them."
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Fit and write. Exit code: 0 written, 2 the runs or the routes cannot be used, or a file cannot be written."""
    parser = parser_of("python -m training.calibrate", __doc__)
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN_DIR", help="folder written by local_evaluation.py")
    parser.add_argument(
        "--out", required=True, metavar="NAME|FILE", help="a name under models/calibration/, or a path to a .json"
    )
    add_split_argument(parser)
    routes = "out-of-fold routes {interaction_id, route}, JSON lines, that replace those in the traces (see above)"
    parser.add_argument("--routes", type=Path, nargs="+", default=[], metavar="FILE", help=routes)
    rest = "features to leave out: what the preset will not have, such as review, or classes (question_type) that the "
    rest += "router learned from the same questions"
    parser.add_argument("--without", nargs="+", default=[], metavar="FEATURE", help=rest)
    parser.add_argument("--judge", choices=JUDGE_NAMES, default="rules", help="judge of answers that the runs withheld")
    options = parser.parse_args(arguments)
    return exit_code(lambda: _fit(options, make_judge(options.judge)))


def _fit(options: argparse.Namespace, judge: Judge) -> None:
    began = time.monotonic()
    runs = [read_run(folder, options.split) for folder in options.runs]
    routes = read_routes(options.routes)
    asked = [question for run in runs for question in asked_questions(run, judge, routes)]
    questions = [without(question, set(options.without)) for question in asked]
    _tell_routes(questions, routes, options.routes)
    try:
        found = calibrate(questions, FOLDS, SEED)
    except TooFewError as error:
        raise UserError(_too_few(runs, questions, error)) from None
    metrics = found.metrics()
    path = Path(options.out) if options.out.endswith(".json") else CALIBRATION_FOLDER / f"{options.out}.json"
    trained_on = _trained_on(runs, questions, options.routes, judge)
    more = {"without_invalid": found.without_invalid, "trained_on": trained_on, "cross_validated": metrics}
    write_json(path, found.model.model_dump(mode="json") | more)
    data = {f"{run.folder.name} {name}": run.folder / name for run in runs for name in (PREDICTIONS, TRACES)}
    data |= {f"routes {number}": route_file for number, route_file in enumerate(options.routes, 1)}
    settings = {
        "folds": FOLDS,
        "seed": SEED,
        "judge": options.judge,
        "without": options.without,
        "inverse_strength": found.inverse_strength,
        **options.split.to_card(),
    }
    card = run_card(data, settings, time.monotonic() - began, metrics, ("numpy", "scipy", "scikit-learn"))
    write_card(path.with_suffix(""), card)
    _report(found, metrics)
    options.split.report()
    print(f"wrote {path}, and its run card in {path.with_suffix('')}")


def _tell_routes(questions: Sequence[AskedQuestion], routes: Mapping[str, Route], paths: Sequence[Path]) -> None:
    if not paths:
        return
    names = {question.interaction_id for question in questions}
    if not names & set(routes):
        listed = ", ".join(map(str, paths))
        raise UserError(f"{listed}: no route matches a question of the runs by interaction_id")
    print(f"out-of-fold routes replace those of {len(names & set(routes))} of {len(names)} questions")


def _too_few(runs: Sequence[FinishedRun], questions: Sequence[AskedQuestion], error: TooFewError) -> str:
    listed = ", ".join(str(run.folder / TRACES) for run in runs)
    if not any(question.candidates for question in questions):
        remedy = "run a preset that answers, over labelled questions"
        return f"{listed}: no trace has an answer that can be judged; {remedy}"
    return f"{listed}: too few answers to learn from ({error}); pass more runs, or runs over more questions"


def _trained_on(
    runs: Sequence[FinishedRun], questions: Sequence[AskedQuestion], routes: Sequence[Path], judge: Judge
) -> dict[str, Any]:
    candidates = [candidate for question in questions for candidate in question.candidates]
    return {
        "runs": [
            {
                "signature": signature_line(run.signature),
                "predictions_sha256": file_hash(run.folder / PREDICTIONS),
                "traces_sha256": file_hash(run.folder / TRACES),
            }
            for run in runs
        ],
        "routes_sha256": [file_hash(path) for path in routes],
        "judge": f"{judge.name}@{judge.version}",
        "asked": len(questions),
        "different_questions": len({question.interaction_id for question in questions}),
        "false_premises": sum(question.invalid for question in questions),
        "answers": len(candidates),
        "right_answers": sum(candidate.right for candidate in candidates),
        "licence": LICENCE,
    }


def _report(found: Calibration, metrics: Mapping[str, Any]) -> None:
    print(
        f"\ncross-validated over {metrics['questions']} questions{'':5}score    95 % interval   right   wrong  missing"
    )
    for name in ("calibrated", "always_answer"):
        row = metrics[name]
        print(
            f"{name.replace('_', ' '):38}{row['score']:+.3f}  [{row['ci'][0]:+.3f}, {row['ci'][1]:+.3f}]"
            f"  {row['accuracy']:.3f}   {row['hallucination']:.3f}    {row['missing']:.3f}"
        )
    row = metrics["against_always_answer"]
    print(f"{'calibrated minus always answer':38}{row['difference']:+.3f}  [{row['ci'][0]:+.3f}, {row['ci'][1]:+.3f}]")
    for kind, found_for in ({"all": metrics["probabilities"]} | metrics["probabilities_by_kind"]).items():
        figures = ", ".join(f"{name} {found_for[name]:.3f}" for name in ("ece", "brier", "auc", "right"))
        print(f"P(correct), {kind}: {found_for['answers']} answers, {figures}")
    for of, model in (("", found.model.correct), (" of answers from pages", found.model.pages)):
        if model is not None:
            weights = {name: feature.weight for name, feature in model.features.items()}
            strongest = sorted(weights.items(), key=lambda pair: -abs(pair[1]))[:8]
            print(f"strongest features{of}: " + ", ".join(f"{name} {weight:+.2f}" for name, weight in strongest))
    print("weighed kinds of answers: " + ", ".join(sorted(found.model.covers)) + "; others are given unweighed")
    print("no P(false premise): " + found.without_invalid if found.without_invalid else "with P(false premise)")


if __name__ == "__main__":
    end_with(main)
