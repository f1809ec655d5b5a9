"""Fit a probe: a linear model that reads from the hidden state whether an answer from pages will be right.

    python -m training.calibrate.probe RUN_DIR... --out NAME

The runs are those of a preset whose language model is the one given (`training.calibrate` says more of runs). The state
is read anew from the prompts in their traces, at the last token, before the first word of the answer. All rows of a
question stay in one fold. P(correct) must be fitted to other questions: on these the probe is too sure.
"""

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from agents.answering import PAGES_KIND, kind_of
from agents.console import end_with
from agents.files import write_json
from agents.llm import GenerationRequest, Message
from agents.llm.trainable import PROBES, prompt_states
from agents.settings import OpenvinoEngine
from evaluation.judge import make_judge
from evaluation.store import PREDICTIONS, TRACES
from training.calibrate.expected_score import Floats, quality
from training.calibrate.logistic import TooFewError, fit_logistic, out_of_fold
from training.calibrate.runs import FinishedRun, asked_questions, read_run
from training.command import CommandError, add_split_argument, exit_code, parser_of
from training.run_card import run_card, write_card

PROMPT = "answer"
"""The key of the prompt in a trace that asks for an answer from pages."""
DIGITS = 6
FOLDS = 10


class Example(NamedTuple):
    """A prompt, whether its answer was right, and its group in cross-validation."""

    request: GenerationRequest
    right: bool
    group: str


def main(arguments: Sequence[str] | None = None) -> int:
    """Fit and write. Exit code: 0 written, 2 the runs cannot be used or a file cannot be written."""
    parser = parser_of("training.calibrate.probe", __doc__)
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN_DIR", help="folder written by local_evaluation.py")
    parser.add_argument(
        "--out", required=True, metavar="NAME|FILE", help="a name under models/probes/, or a .json path"
    )
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
    examples = [example for run in runs for example in examples_of(run, options.judge)]
    settings = OpenvinoEngine(engine="openvino", model=options.model)
    states = np.stack([*prompt_states(settings, options.layer, [example.request for example in examples])])
    probe, metrics = fit_probe(states, examples, options.seed)
    path = Path(options.out) if options.out.endswith(".json") else PROBES / f"{options.out}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, {"model": options.model, "layer": options.layer, **probe})
    data = {f"{run.folder.name} {name}": run.folder / name for run in runs for name in (PREDICTIONS, TRACES)}
    chosen = {"model": options.model, "layer": options.layer, "judge": options.judge, "seed": options.seed}
    packages = ("numpy", "scikit-learn", "openvino")
    write_card(path.with_suffix(""), run_card(data, chosen, time.monotonic() - began, metrics, packages))
    said = ", ".join(f"{name} {value:.3f}" for name, value in metrics.items())
    sys.stdout.write(f"cross-validated: {said}\nwrote {path} and its run card in {path.with_suffix('')}\n")
    return 0


def examples_of(run: FinishedRun, judge: str) -> Iterator[Example]:
    """Of the answers from pages that can be judged."""
    prompts = {question.record["interaction_id"]: question.trace.get("prompts", {}) for question in run.questions}
    for question in asked_questions(run, make_judge(judge)):
        shown = prompts[question.interaction_id].get(PROMPT)
        for candidate in question.candidates:
            if shown and kind_of(candidate.features) == PAGES_KIND:
                turns = () if isinstance(shown, str) else tuple(Message(**turn) for turn in shown)
                request = GenerationRequest(turns, shown if isinstance(shown, str) else None)
                yield Example(request, candidate.right, question.group)


def fit_probe(states: Floats, examples: Sequence[Example], seed: int) -> tuple[dict[str, Any], dict[str, float]]:
    """Weights and bias over the plain states (examples x hidden size), and the figures of held-out folds.

    Raises:
        CommandError: too few right or wrong answers.
    """
    rows = [{str(place): float(value) for place, value in enumerate(state)} for state in states]
    right, groups = [example.right for example in examples], [example.group for example in examples]
    try:
        held_out = out_of_fold(rows, right, groups, FOLDS, seed)
        fitted = fit_logistic(rows, right, groups, seed).model
    except TooFewError as error:
        raise CommandError(f"too few answers from pages to learn from: {error}") from None
    weights = np.zeros(len(states[0]))
    places = [int(name) for name in fitted.names]
    weights[places] = np.divide(fitted.weights, fitted.scale)
    bias = fitted.bias - float(np.dot(weights[places], fitted.mean))
    probe = {"bias": bias, "weights": [float(f"{weight:.{DIGITS}g}") for weight in weights]}
    return probe, quality(held_out, np.array(right))


if __name__ == "__main__":
    end_with(main)
