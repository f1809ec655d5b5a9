"""The options of `crag evaluate`, which commands that run it share."""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

from crag.commands.argument_types import argument_type, folder, number, whole_number
from crag.commands.command_line import (
    add_graph_arguments,
    add_preset_arguments,
    add_progress_argument,
    add_split_argument,
    parser_of,
)
from crag.commands.run_ending import EXIT_CODES
from crag.evaluation.batches import MAX_BATCH_SIZE, SECONDS_PER_QUERY
from crag.evaluation.datasets import DEFAULT_DATASET
from crag.evaluation.judge import add_judge_arguments
from crag.evaluation.lost import USUAL_DEAD_BATCHES
from crag.evaluation.ray_workers import LOCAL
from crag.evaluation.split import Split
from crag.evaluation.worker import DEFAULT_AGENT

PROGRAM = "crag evaluate"


def parse_options(
    arguments: Sequence[str] | None,
    program: str = PROGRAM,
    description: str | None = None,
    add_more: Callable[[argparse.ArgumentParser], None] | None = None,
) -> argparse.Namespace:
    """The options, and those that `add_more` adds; ends the process if they are invalid.

    `program` and `description` are those of `--help`.
    """
    parser = parser_of(program, description, EXIT_CODES)
    if add_more is not None:
        add_more(parser)
    _add_run_options(parser)
    add_judge_arguments(parser.add_argument_group("judge"))
    _add_limits(parser)
    _add_files(parser)
    _add_processes(parser)

    options = parser.parse_args(arguments)
    if not options.ray:
        _refuse_options_of_workers(parser, options)
    return options


def _refuse_options_of_workers(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """End the process if an option of workers is set: without a cluster there are none."""
    for name in ("workers", "worker_cpus", "worker_gpus"):
        if getattr(options, name) != parser.get_default(name):
            parser.error(f"--{name.replace('_', '-')} needs --ray")


def _add_run_options(parser: argparse.ArgumentParser) -> None:
    is_evaluate = parser.prog == PROGRAM
    group = parser.add_argument_group("run")
    add_preset_arguments(group)
    parser.set_defaults(preset=None)  # with another agent it matters whether a preset was named
    group.add_argument(
        "--dataset",
        metavar="FILE",
        type=Path,
        default=DEFAULT_DATASET,
        help="questions: .jsonl, .csv, .tsv, also as .bz2, or the first part of a split file (default: %(default)s)",
    )

    group.add_argument(
        "--limit",
        metavar="N",
        type=whole_number(1),
        help="only the first N questions",
    )
    add_split_argument(group, Split.ANY)
    group.add_argument(
        "--agent",
        metavar="M:C|FILE.py:C",
        default=DEFAULT_AGENT,
        # `crag bench starter-kit` has these options too, but agents of its own
        help="the agent's module, or its file, and class (default: %(default)s)" if is_evaluate else argparse.SUPPRESS,
    )
    add_graph_arguments(group)


def _add_limits(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("limits")  # those of the real evaluator by default
    group.add_argument(
        "--batch-size",
        metavar="N",
        type=whole_number(1, MAX_BATCH_SIZE),
        help="default: the agent's",
    )

    group.add_argument(
        "--seconds-per-query",
        metavar="S",
        type=number(0.001),
        help="time limit of a batch, per question (default: the preset's deadline.seconds_per_query, at least "
        f"{SECONDS_PER_QUERY:g})",
    )

    group.add_argument(
        "--retry-lost",
        metavar="N",
        type=whole_number(0),
        default=0,
        help="ask lost questions again, up to N times, after a pause that doubles (default: %(default)s)",
    )

    group.add_argument(
        "--stop-after-lost",
        metavar="N",
        type=whole_number(0),
        default=USUAL_DEAD_BATCHES,
        help="end the run after N batches in a row without any answer, as of a dead server; 0: never "
        "(default: %(default)s)",
    )

    group.add_argument(
        "--fail-below",
        metavar="X",
        type=number(-1, 1),
        help="exit code 4 if the score is below X, for CI",
    )


def _add_files(parser: argparse.ArgumentParser) -> None:
    suffix = "" if parser.prog == PROGRAM else f"-{parser.prog.split()[-1]}"
    group = parser.add_argument_group("files")
    group.add_argument(
        "--output",
        metavar="DIR",
        type=folder,
        help=f"default: results/DATASET-PRESET-GRAPH-CHANGES{suffix}",
    )
    existing = group.add_mutually_exclusive_group()
    existing.add_argument("--resume", action="store_true", help="continue the run in DIR, and ask lost questions again")
    existing.add_argument("--overwrite", action="store_true", help="replace the run in DIR, once this one has answers")
    add_progress_argument(group)
    group.add_argument("--quiet", action="store_true", help="no progress")


def _add_processes(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("processes")
    where = group.add_mutually_exclusive_group()
    where.add_argument(
        "--in-process",
        action="store_true",
        help="agent in this process, without limits; for debugging",
    )

    where.add_argument(
        "--ray",
        metavar="HOST:PORT|auto",
        nargs="?",
        type=argument_type(_cluster_address),
        const=LOCAL,
        help="run agents on this Ray cluster (auto: that of this machine; no value: a temporary one)",
    )

    group.add_argument(
        "--workers",
        metavar="N",
        type=whole_number(1),
        help="number of workers (default: one per machine)",
    )

    group.add_argument(
        "--worker-cpus",
        metavar="N",
        type=argument_type(_share),
        default=1.0,
        help="CPUs per worker (default: %(default)g)",
    )

    group.add_argument(
        "--worker-gpus",
        metavar="N",
        type=argument_type(_share),
        default=0.0,
        help="GPUs per worker (default: %(default)g)",
    )


def _cluster_address(text: str) -> str:
    if text in {"auto", LOCAL}:
        return text

    # From the right: an IPv6 address has colons of its own
    host, _, port = text.rpartition(":")
    has_port = port.isdecimal() and 0 < int(port) < 1 << 16
    if not host or "/" in host or not has_port:
        raise ValueError(f"must be HOST:PORT or auto, found {text!r}")
    return text


def _share(text: str) -> float:
    """CPUs or GPUs of a worker: Ray shares one, and gives out several only whole."""
    value = number(0)(text)
    if value > 1 and value % 1:
        raise ValueError(f"must be a whole number if above 1, found {text}")
    return value
