"""Fit a probe: a linear model that reads from the hidden state whether an answer from pages will be right.

    python -m training.calibrate.probe RUN_DIR... --out NAME --runs-out DIR

The runs are those of a preset whose language model is the one given (`training.calibrate` says more of runs). The state
is read anew from the prompts in their traces, at the last token, before the first word of the answer.

On the questions that it was fitted to, a probe is too sure. So fit P(correct) to other runs, or to the copies that
--runs-out makes of these: there each answer has the word of a probe that was fitted without its question (stacked
generalization, Wolpert 1992).
"""

import argparse
import shutil
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from agents.answering import PAGES_KIND, PROBE_LOG_ODDS, kind_of
from agents.console import end_with
from agents.files import write_json, write_rows
from agents.llm import GenerationRequest, Message
from agents.llm.trainable import PROBES, prompt_states
from agents.settings import OpenvinoEngine
from evaluation.batches import RowKey
from evaluation.datasets import read_records
from evaluation.judge import make_judge
from evaluation.store import PREDICTIONS, RUN, TRACES, row_key
from training.calibrate.expected_score import Floats, quality
from training.calibrate.logistic import LEAST_QUESTIONS, TooFewError, enough, fit_logistic, grouped_folds
from training.calibrate.runs import FinishedRun, asked_questions, read_run
from training.command import CommandError, add_split_argument, exit_code, parser_of
from training.run_card import run_card, write_card

PROMPT = "answer"
"""The key of the prompt in a trace that asks for an answer from pages."""
DIGITS = 6
FOLDS = 10


class Example(NamedTuple):
    """A prompt, its answer, whether that was right, and the question's row and group in cross-validation."""

    request: GenerationRequest
    answer: str
    right: bool
    row: RowKey
    group: str


class FittedProbe(NamedTuple):
    """Weights and bias over the plain state, and each example's log-odds by a probe that had not seen its group."""

    weights: Floats
    bias: float
    held_out: Floats


def main(arguments: Sequence[str] | None = None) -> int:
    """Fit and write. Exit code: 0 written, 2 the runs cannot be used or a file cannot be written."""
    parser = parser_of("training.calibrate.probe", __doc__)
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN_DIR", help="folder written by local_evaluation.py")
    parser.add_argument(
        "--out", required=True, metavar="NAME|FILE", help="a name under models/probes/, or a .json path"
    )
    copies = "folder for copies of the runs with held-out log-odds, which P(correct) can be fitted to"
    parser.add_argument("--runs-out", type=Path, metavar="DIR", help=copies)
    parser.add_argument("--model", default="qwen2.5-coder-1.5b-instruct", help="of the runs (%(default)s)")
    parser.add_argument("--layer", type=int, default=18, help="the state after this layer, from 1 (%(default)s)")
    parser.add_argument("--judge", default="rules", help="of answers that the runs withheld (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the folds (%(default)s)")
    add_split_argument(parser)
    options = parser.parse_args(arguments)
    return exit_code(lambda: _fit(options), goes_on="the same command", fault=2)


def _fit(options: argparse.Namespace) -> int:
    began = time.monotonic()
    runs = [read_run(folder, options.split) for folder in options.runs]
    of_runs = [[*examples_of(run, options.judge)] for run in runs]
    examples = [example for of_run in of_runs for example in of_run]
    settings = OpenvinoEngine(engine="openvino", model=options.model)
    states = np.stack([*prompt_states(settings, options.layer, [example.request for example in examples])])
    probe = fit_probe(states, examples, options.seed)
    metrics = quality(1 / (1 + np.exp(-probe.held_out)), np.array([example.right for example in examples]))
    path = Path(options.out) if options.out.endswith(".json") else PROBES / f"{options.out}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    weights = [float(f"{weight:.{DIGITS}g}") for weight in probe.weights]
    write_json(path, {"model": options.model, "layer": options.layer, "bias": probe.bias, "weights": weights})
    data = {f"{run.folder.name} {name}": run.folder / name for run in runs for name in (PREDICTIONS, TRACES)}
    chosen = {"model": options.model, "layer": options.layer, "judge": options.judge, "seed": options.seed}
    packages = ("numpy", "scikit-learn", "openvino")
    write_card(path.with_suffix(""), run_card(data, chosen, time.monotonic() - began, metrics, packages))
    if options.runs_out:
        log_odds = iter(probe.held_out.tolist())
        for run, of_run in zip(runs, of_runs, strict=True):
            found = {(example.row, example.answer): next(log_odds) for example in of_run}
            copy_with_log_odds(run.folder, options.runs_out / run.folder.name, found)
    said = ", ".join(f"{name} {value:.3f}" for name, value in metrics.items())
    sys.stdout.write(f"cross-validated: {said}\nwrote {path} and its run card in {path.with_suffix('')}\n")
    return 0


def examples_of(run: FinishedRun, judge: str) -> Iterator[Example]:
    """Of the answers from pages that can be judged."""
    prompts = {row_key(question.record): question.trace.get("prompts", {}) for question in run.questions}
    for question in asked_questions(run, make_judge(judge)):
        row = RowKey(question.interaction_id, question.occurrence)
        shown = prompts[row].get(PROMPT)
        for candidate in question.candidates:
            if shown and kind_of(candidate.features) == PAGES_KIND:
                turns = () if isinstance(shown, str) else tuple(Message(**turn) for turn in shown)
                request = GenerationRequest(turns, shown if isinstance(shown, str) else None)
                yield Example(request, candidate.text, candidate.right, row, question.group)


def fit_probe(states: Floats, examples: Sequence[Example], seed: int) -> FittedProbe:
    """Fit to `states` (examples x hidden size); the strength of its penalty is cross-validated.

    Raises:
        CommandError: too few right or wrong answers.
    """
    rows = [{str(place): float(value) for place, value in enumerate(state)} for state in states]
    right, groups = np.array([example.right for example in examples]), [example.group for example in examples]

    def fitted_to(places: Iterable[int]) -> tuple[Floats, float]:
        own = [*places]
        model = fit_logistic([rows[i] for i in own], right[own].tolist(), [groups[i] for i in own], seed).model
        weights = np.zeros(len(states[0]))
        dimensions = [int(name) for name in model.names]
        weights[dimensions] = np.divide(model.weights, model.scale)
        return weights, model.bias - float(weights[dimensions] @ np.array(model.mean))

    held_out = np.zeros(len(examples))
    try:
        enough(right, groups, LEAST_QUESTIONS)
        for train, test in grouped_folds(right, groups, FOLDS, seed):
            weights, bias = fitted_to(train)
            held_out[test] = states[test] @ weights + bias
        return FittedProbe(*fitted_to(range(len(rows))), held_out)
    except TooFewError as error:
        raise CommandError(f"too few answers from pages to learn from: {error}") from None


def copy_with_log_odds(folder: Path, copy: Path, log_odds: Mapping[tuple[RowKey, str], float]) -> None:
    """Copy a run; the answers from pages that `log_odds` knows, by row and text, get them as a feature."""
    copy.mkdir(parents=True, exist_ok=True)
    for name in (RUN, PREDICTIONS):
        shutil.copy(folder / name, copy / name)
    traces = [dict(trace) for _, trace in read_records(folder / TRACES)]
    for trace in traces:
        for entry in trace.get("candidates", ()):
            found = log_odds.get((row_key(trace), entry["text"]))
            if found is not None and kind_of(entry["features"]) == PAGES_KIND:
                entry["features"][PROBE_LOG_ODDS] = found
    write_rows(copy / TRACES, traces)


if __name__ == "__main__":
    end_with(main)
