"""Estimate whether a preset fits four T4 in 30 seconds per question: memory and time, from a rehearsal's token counts.

    crag bench t4-plan [--dataset FILE] [--preset submission]
    crag bench t4-plan --training [--set KEY=VALUE]      memory of the steps of docs/training.md
    crag bench t4-plan --run full [--peak TFLOPS GB/S]   also run the language model, on this machine's cards

Works for every preset that needs GPUs; exit code 1 if it does not fit (preflight refuses it if memory is the reason).
The agent answers the questions, once with their pages and once with fifty, beside the shipped graph. A stand-in for the
language model counts each prompt's tokens, and those that vLLM's prefix cache does not know, with the tokenizers of
`cpu`. It always says that it does not know, so that each question takes every step. `crag.submission.batch_time`
computes the seconds.

With --run vLLM reads and writes one batch of each task, adapters included, with random weights in the preset's real
shapes (`full`, no weights are needed) or in those of a stand-in (`small`, for the CPU). With --peak also the seconds on
T4, by the ratio of arithmetic and of bandwidth: too many where the host limits writing. The encoders do not run.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from crag.benchmarks.t4_plan import EVERY_STEP, EVERY_STEP_OF_THE_GRAPH, report, report_training
from crag.commands.argument_types import number, whole_number
from crag.commands.command_line import add_preset_arguments, command, parser_of
from crag.evaluation.datasets import DEFAULT_DATASET
from crag.settings import load_settings


@command(ModuleNotFoundError)
def main(arguments: Sequence[str] | None = None) -> int:
    """Command line."""
    options = _parse(arguments)
    if options.training:
        return report_training(options.set)

    changes = [*options.set, *EVERY_STEP]
    settings = load_settings(options.preset, changes)
    if settings.knowledge_graph is not None:
        settings = load_settings(options.preset, [*changes, *EVERY_STEP_OF_THE_GRAPH])
    return report(settings, options)


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = parser_of(
        "crag bench t4-plan", __doc__, "Exit code: 0 it fits; 1 it does not; 2 a file, a preset or vLLM cannot be used."
    )
    parser.add_argument(
        "--dataset",
        type=Path,
        default=DEFAULT_DATASET,
        metavar="FILE",
    )

    parser.add_argument(
        "--limit",
        type=whole_number(1),
        metavar="N",
        help="at most N questions",
    )
    add_preset_arguments(parser, "submission")
    parser.add_argument(
        "--run",
        choices=("full", "small"),
        help="also run the language model, in this size",
    )

    parser.add_argument(
        "--peak",
        type=number(0.1),
        nargs=2,
        metavar=("TFLOPS", "GB/S"),
        help="of its cards, added up",
    )

    parser.add_argument(
        "--training",
        action="store_true",
        help="the memory of training db3's adapters instead",
    )

    return parser.parse_args(arguments)
