"""Fit P(correct), which decides where the agent answers, to finished runs: crag train calibrate.

A right answer earns 1, a wrong one costs 1, "i don't know" earns 0: an answer pays off if P(correct) is above 0.5. The
runs are folders of crag evaluate over questions with known answers. Their traces hold all candidate answers, with
`--set answering.audit=true` also those to questions at which a class or passage gate closed: these are training data,
but the figures count the gate's answer. A preset names the output as `answering.confidence.model`.

Answers from the web, from the knowledge graph's facts (by a model) and from its values are weighed only if the runs
have at least 10 of the kind; "covers" in the file lists the kinds. Other answers are given unweighed.

A router is too sure about the labelled questions that it was trained on, and P(correct) would learn to trust it too
much: leave its classes out (--without question_type static_or_dynamic domain), or run over other questions.

With `--keep-graph` only answers from pages are weighed anew, such as those from your own documents; answers from the
knowledge graph keep the P(correct) of a file.

Cross-validation holds out together all questions for the same tables and keys of the graph, so that its figures hold
for new kinds of questions; without calls, all rows of a question.
"""

import argparse
import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crag.answering import ConfidenceModel, calibration_file
from crag.commands.command_line import add_split_argument, command, parser_of
from crag.core.files import UserError, write_json
from crag.core.places import REPOSITORY
from crag.core.text import counted
from crag.evaluation.judge import JUDGE_NAMES, Judge, make_judge
from crag.evaluation.signature import signature_line
from crag.evaluation.store import TRACES, RunFile
from crag.training.calibrate.questions import (
    AskedQuestion,
    FeatureChoice,
    FinishedQuestion,
    asked_questions,
    read_finished_questions,
)
from crag.training.files import RunCard, files_of_runs
from crag.weights.needed import CALIBRATIONS

if TYPE_CHECKING:
    from crag.training.calibrate.fitting import Calibration

FOLDS = 10
SEED = 20240605
LICENCE = (
    "The numbers were learned from runs over the questions named here. CRAG's questions and answers are under "
    "CC BY-NC 4.0 (Yang et al. 2024, CRAG: Comprehensive RAG Benchmark), and so are numbers learned from them."
)


@command()
def main(arguments: Sequence[str] | None = None) -> None:
    """Fit and write."""
    options = _parse(arguments)
    from crag.training.calibrate.fitting import figures  # scikit-learn

    path = _calibration_path(options.out)
    card = RunCard(path.with_suffix(""))
    judge = make_judge(options.judge)
    kept = _typed_calibration(options.keep_graph) if options.keep_graph else None
    graph_model = ConfidenceModel.load(kept) if kept else None
    questions = _read_questions(options, judge)

    fitted = _fit(questions, graph_model, options.runs)
    metrics = figures(fitted.questions)
    provenance: dict[str, object] = {
        "trained_on": _describe_training_data(options.runs, judge, questions),
        "cross_validated": metrics,
    }
    if kept:
        provenance["graph_trained_on"] = _graph_training_data_of(kept)
    write_json(path, fitted.model.model_dump(mode="json") | provenance)

    settings = {
        "folds": FOLDS,
        "seed": SEED,
        "judge": options.judge,
        "only": options.only,
        "without": options.without,
        "keep_graph": options.keep_graph,
        "inverse_strength": fitted.inverse_strength,
        **options.split.to_card(),
    }
    card.write(files_of_runs(options.runs), settings, metrics, ("numpy", "scipy", "scikit-learn"))

    _print_metrics(metrics)
    print("weighed kinds of answers: " + ", ".join(fitted.model.covers) + "; others are given unweighed")
    options.split.report()
    print(f"wrote {path}, and its run card in {card.folder}")


def _calibration_path(out: str) -> Path:
    """The file of ``--out``; a bare name goes where presets look for it."""
    return Path(out) if out.endswith(".json") else REPOSITORY / CALIBRATIONS / f"{out}.json"


def _typed_calibration(name_or_path: str) -> str:
    """A calibration as presets name it: a path on the command line begins at the current folder."""
    return str(Path(name_or_path).absolute()) if name_or_path.endswith(".json") else name_or_path


def _read_questions(options: argparse.Namespace, judge: Judge) -> list[AskedQuestion]:
    """The questions of all runs, with judged answers and the chosen features."""
    # All runs are read before any is judged: a wrong folder is reported before a judge costs money.
    runs = [read_finished_questions(folder, options.split) for folder in options.runs]
    _require_known(options.only, chain.from_iterable(runs))

    features = FeatureChoice(frozenset(options.only), frozenset(options.without))
    questions: list[AskedQuestion] = []
    for run in runs:
        questions += asked_questions(run, judge, features)
    return questions


def _require_known(names: Sequence[str], questions: Iterable[FinishedQuestion]) -> None:
    """Raise UserError for a feature that no answer has: it is misspelt, or the runs were made without it."""
    features: set[str] = set()
    for question in questions:
        for candidate in question.trace.get("candidates", ()):
            features.update(name.partition("=")[0] for name in candidate["features"])

    unknown = [name for name in names if name.partition("=")[0] not in features]
    if unknown:
        listed = ", ".join(sorted(features))
        raise UserError(f"--only {unknown[0]}: no answer of these runs has it; they have {listed}")


def _fit(
    questions: Sequence[AskedQuestion],
    graph_model: ConfidenceModel | None,
    folders: Sequence[Path],
) -> "Calibration":
    """The model of all answers; with a `graph_model` of answers from pages alone, beside that model's graph part."""
    from crag.training.calibrate.fitting import NothingLearnedError, calibrate, calibrate_pages  # scikit-learn

    try:
        if graph_model:
            return calibrate_pages(questions, graph_model, FOLDS, SEED)
        return calibrate(questions, FOLDS, SEED)
    except NothingLearnedError as error:
        listed = ", ".join(str(folder / TRACES) for folder in folders)
        remedy = "pass more runs of a preset that answers, over labelled questions"
        raise UserError(f"{listed}: too few answers to learn from ({error}); {remedy}") from None


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = parser_of(
        "crag train calibrate", __doc__, "Exit code: 0 written; 2 the runs cannot be used, or a file cannot be written."
    )
    parser.add_argument(
        "runs",
        type=Path,
        nargs="+",
        metavar="RUN_DIR",
        help="folder written by crag evaluate",
    )

    parser.add_argument(
        "--out",
        required=True,
        metavar="NAME|FILE",
        help="a name under models/calibration/, or a path to a .json",
    )
    add_split_argument(parser)
    parser.add_argument(
        "--only",
        nargs="+",
        default=[],
        metavar="FEATURE",
        help="weigh these features and no others, such as first_token_entropy",
    )

    parser.add_argument(
        "--without",
        nargs="+",
        default=[],
        metavar="FEATURE",
        help="features to leave out: what the preset will not have, such as review, or classes, as question_type",
    )

    parser.add_argument(
        "--keep-graph",
        metavar="NAME|FILE",
        help="fit answers from pages alone; P(correct) of answers from the graph stays that of this file, such as cpu",
    )

    parser.add_argument(
        "--judge",
        choices=JUDGE_NAMES,
        default="rules",
        help="judge of answers that the runs withheld",
    )

    return parser.parse_args(arguments)


def _describe_training_data(
    folders: Sequence[Path],
    judge: Judge,
    questions: Sequence[AskedQuestion],
) -> dict[str, Any]:
    """What the model learned from, for its file."""
    candidates = list(chain.from_iterable(question.candidates for question in questions))
    return {
        "runs": [signature_line(RunFile.read(folder).signature) for folder in folders],
        "judge": f"{judge.name}@{judge.version}",
        "asked": len(questions),
        "different_questions": len({question.interaction_id for question in questions}),
        "false_premises": sum(question.invalid for question in questions),
        "answers": len(candidates),
        "right_answers": sum(candidate.right for candidate in candidates),
        "licence": LICENCE,
    }


def _graph_training_data_of(name: str) -> object:
    """What the named file says about the runs to which its part for the graph was fitted."""
    content = json.loads(calibration_file(name).read_bytes())
    # A file whose part for pages was fitted alone names both.
    return content.get("graph_trained_on") or content.get("trained_on")


def _print_metrics(metrics: Mapping[str, Any]) -> None:
    print(f"\ncross-validated over {counted(metrics['questions'], 'question')}:")
    for name in ("calibrated", "always_answer", "against_always_answer"):
        values = dict(metrics[name])
        low, high = values.pop("ci")
        figures = ", ".join(f"{key} {value:+.3f}" for key, value in values.items())
        title = name.replace("_", " ")
        print(f"{title}: {figures}, 95 % interval [{low:+.3f}, {high:+.3f}]")

    by_kind = {"all": metrics["probabilities"], **metrics["probabilities_by_kind"]}
    for kind, probabilities in by_kind.items():
        figures = ", ".join(f"{name} {probabilities[name]:.3f}" for name in ("ece", "brier", "auc", "right"))
        print(f"P(correct), {kind}: {counted(probabilities['answers'], 'answer')}, {figures}")
