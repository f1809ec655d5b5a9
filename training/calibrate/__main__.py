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
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from agents.answering import CALIBRATION_FOLDER, PAGES_KIND, ConfidenceModel
from agents.common.console import end_with
from agents.common.contracts import Route
from agents.common.files import write_json
from evaluation.judge import JUDGE_NAMES, Judge, make_judge
from evaluation.signature import signature_line
from evaluation.store import PREDICTIONS, TRACES
from training.calibrate.expected_score import AskedQuestion, without
from training.calibrate.fitting import THRESHOLDS, Calibration, calibrate
from training.calibrate.logistic import TooFewError
from training.calibrate.runs import FinishedRun, asked_questions, read_routes, read_run
from training.command import CommandError, add_split_argument, exit_code, parser_of
from training.pictures import Curve, reliability_diagram, score_curve
from training.run_card import file_hash, run_card, write_card

LICENCE = (
    "The numbers were learned from runs over the questions named here. CRAG's questions and answers are under "
    "CC BY-NC 4.0 (Yang et al. 2024, CRAG: Comprehensive RAG Benchmark), and so are numbers learned from them."
)
PACKAGES = ("numpy", "scipy", "scikit-learn", "matplotlib")


def main(arguments: Sequence[str] | None = None) -> int:
    """Fit and write. Exit code: 0 written, 2 the runs or the routes cannot be used, or a file cannot be written."""
    options = _parser().parse_args(arguments)
    return exit_code(lambda: _fit(options, make_judge(options.judge)), goes_on="the same command", fault=2)


def _fit(options: argparse.Namespace, judge: Judge) -> int:
    began = time.monotonic()
    runs = [read_run(folder, options.split) for folder in options.runs]
    routes = read_routes(options.routes)
    asked = [question for run in runs for question in asked_questions(run, judge, routes)]
    questions = [without(question, set(options.without)) for question in asked]
    _tell_routes(questions, routes, options.routes)
    try:
        found = calibrate(questions, options.folds, options.seed, options.threshold)
    except TooFewError as error:
        raise CommandError(_too_few(runs, questions, error)) from None
    metrics = found.metrics(options.threshold)
    if options.invalid_from:
        found = replace(found, model=replace(found.model, invalid=ConfidenceModel.load(options.invalid_from).invalid))
    path = _file(options.out)
    trained_on = _trained_on(runs, questions, options.routes, judge)
    own = {"without_invalid": found.without_invalid, "trained_on": trained_on, "cross_validated": metrics}
    base = options.pages_of and _with_pages(options.pages_of, found.model, trained_on, metrics)
    write_json(path, base or found.model.to_dict() | own)
    data = {f"{run.folder.name} {name}": run.folder / name for run in runs for name in (PREDICTIONS, TRACES)}
    data |= {f"routes {number}": route_file for number, route_file in enumerate(options.routes, 1)}
    settings = {
        **{
            name: getattr(options, name)
            for name in ("folds", "seed", "threshold", "judge", "without", "invalid_from", "pages_of")
        },
        "inverse_strength": found.inverse_strength,
        **options.split.to_card(),
    }
    write_card(path.with_suffix(""), run_card(data, settings, time.monotonic() - began, metrics, PACKAGES))
    pictures = options.pictures or options.runs[0]
    draw(pictures, found, options.threshold)
    _report(found, metrics)
    options.split.report()
    print(f"wrote {path}, its run card in {path.with_suffix('')}, and pictures in {pictures}")
    return 0


def _file(name: str) -> Path:
    return Path(name) if name.endswith(".json") else CALIBRATION_FOLDER / f"{name}.json"


def _with_pages(
    name: str, found: ConfidenceModel, trained_on: Mapping[str, Any], metrics: Mapping[str, Any]
) -> dict[str, Any]:
    """A calibration file whose model of answers from pages is the one found; all else stays as it was."""
    if found.covers != {PAGES_KIND}:
        raise CommandError("--pages-of: the runs have answers from the graph too; fit all with --out alone")
    base = replace(ConfidenceModel.load(name), pages=found.correct)
    kept: dict[str, Any] = json.loads(_file(name).read_text(encoding="utf-8"))
    return kept | base.to_dict() | {"pages_trained_on": trained_on, "pages_cross_validated": metrics}


def draw(folder: Path, found: Calibration, threshold: float) -> None:
    """Draw reliability.svg and score_curve.svg from cross-validated probabilities."""
    reliability_diagram(folder / "reliability.svg", found.reliability(), "P(correct) of answers, cross-validated")
    scores, band = found.curve()
    curve = Curve(THRESHOLDS, scores.tolist(), *band.T.tolist())
    levels = {"always answer": found.metrics(threshold)["always_answer"]["score"], "always i don't know": 0.0}
    score_curve(folder / "score_curve.svg", curve, levels, threshold, "Score over the threshold, cross-validated")


def _tell_routes(questions: Sequence[AskedQuestion], routes: Mapping[str, Route], paths: Sequence[Path]) -> None:
    if not paths:
        return
    names = {question.interaction_id for question in questions}
    if not names & set(routes):
        listed = ", ".join(map(str, paths))
        raise CommandError(f"{listed}: no route matches a question of the runs by interaction_id")
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
    for title, name in (("calibrated", "calibrated"), ("always answer", "always_answer")):
        row = metrics[name]
        print(
            f"{title:38}{row['score']:+.3f}  [{row['ci'][0]:+.3f}, {row['ci'][1]:+.3f}]"
            f"  {row['accuracy']:.3f}   {row['hallucination']:.3f}    {row['missing']:.3f}"
        )
    row = metrics["against_always_answer"]
    print(f"{'calibrated minus always answer':38}{row['difference']:+.3f}  [{row['ci'][0]:+.3f}, {row['ci'][1]:+.3f}]")
    for kind, found_for in ({"all": metrics["probabilities"]} | metrics["probabilities_by_kind"]).items():
        figures = ", ".join(f"{name} {found_for[name]:.3f}" for name in ("ece", "brier", "auc", "right"))
        print(f"P(correct), {kind}: {found_for['answers']} answers, {figures}")
    for of, model in (("", found.model.correct), (" of answers from pages", found.model.pages)):
        if model is not None:
            strongest = sorted(zip(model.names, model.weights, strict=True), key=lambda pair: -abs(pair[1]))[:8]
            print(f"strongest features{of}: " + ", ".join(f"{name} {weight:+.2f}" for name, weight in strongest))
    print("weighed kinds of answers: " + ", ".join(sorted(found.model.covers)) + "; others are given unweighed")
    print("no P(false premise): " + found.without_invalid if found.without_invalid else "with P(false premise)")


def _parser() -> argparse.ArgumentParser:
    parser = parser_of("training.calibrate", __doc__)
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN_DIR", help="folder written by local_evaluation.py")
    parser.add_argument(
        "--out", required=True, metavar="NAME|FILE", help="a name under models/calibration/, or a path to a .json"
    )
    add_split_argument(parser)
    routes = "out-of-fold routes {interaction_id, route}, JSON lines, that replace those in the traces (see above)"
    parser.add_argument("--routes", type=Path, nargs="+", default=[], metavar="FILE", help=routes)
    invalid = "take P(false premise) from this file: it depends on the question, not on the model"
    parser.add_argument("--invalid-from", metavar="NAME|FILE", help=invalid)
    pages = "the runs have answers from pages only: write this file anew with a model of them, and all else as it was"
    parser.add_argument("--pages-of", metavar="NAME|FILE", help=pages)
    rest = "features to leave out: what the preset will not have, such as review, or classes (question_type) that the "
    rest += "router learned from the same questions"
    parser.add_argument("--without", nargs="+", default=[], metavar="FEATURE", help=rest)
    parser.add_argument("--folds", type=_folds, default=10, metavar="K", help="default: %(default)s")
    parser.add_argument("--seed", type=int, default=20240605, metavar="N", help="of the folds; default: %(default)s")
    parser.add_argument("--judge", choices=JUDGE_NAMES, default="rules", help="judge of answers that the runs withheld")
    parser.add_argument(
        "--threshold", type=_share, default=0.5, metavar="T", help="on P(correct), for the figures; default: 0.5"
    )
    parser.add_argument("--pictures", type=Path, metavar="DIR", help="default: the first RUN_DIR")
    return parser


def _folds(text: str) -> int:
    value = int(text)
    if value < 2:
        raise argparse.ArgumentTypeError(f"must be at least 2, found {value}")
    return value


def _share(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"must be from 0 to 1, found {text}")
    return value


_folds.__name__, _share.__name__ = "whole number", "number"  # argparse names them in its messages


if __name__ == "__main__":
    end_with(main)
