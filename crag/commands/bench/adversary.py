"""Poisoned pages by family: how often the attacker's answer is given, which right answers are lost, which stay.

    crag bench adversary [--preset P] [--set KEY=VALUE] [--dataset FILE] [--limit N] [--output DIR]
                         [--families NAME ...] [--pages N ...]

Each question is asked without a knowledge graph with its own pages (clean), then with the attacker's pages of one
family on top, each page from a site of its own. Families (`FAMILIES`) say a wrong answer in the question's words (after
PoisonedRAG, Zou et al. 2024) or in others, or order the model to say something (after Greshake et al. 2023), in plain
or in hidden text. The wrong answer is the right one of another question of the same kind. An interrupted run continues
with the same command.
"""

import argparse
from collections.abc import Iterator, Sequence
from itertools import cycle, islice, product
from pathlib import Path
from typing import Any

from crag.benchmarks.adversary import CLEAN, FAMILIES, HIDING, add_attack, attack_table, wrong_answers
from crag.benchmarks.common import UNHURRIED_SECONDS
from crag.commands.argument_types import whole_number
from crag.commands.command_line import add_preset_arguments, command, parser_of
from crag.commands.evaluate import main as evaluate
from crag.core.contracts import INVALID_QUESTION
from crag.core.files import read_jsonl, write_rows
from crag.core.text import counted
from crag.evaluation.datasets import DEFAULT_DATASET, read_rows
from crag.evaluation.judge import make_judge
from crag.evaluation.store import PREDICTIONS


@command()
def main(arguments: Sequence[str] | None = None) -> int:
    """Attack and print."""
    options = _parse(arguments)
    options.output.mkdir(parents=True, exist_ok=True)

    # A false premise has no wrong answer that an attacker could want.
    answerable = (row for row in read_rows(options.dataset) if row["answer"].lower() != INVALID_QUESTION)
    rows = list(islice(answerable, options.limit))
    lies = wrong_answers([row["answer"] for row in rows])

    # Without an attack first: the table compares with it
    attacks = [(CLEAN, 0), *product(options.families, options.pages)]
    runs: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for family, pages in attacks:
        folder = options.output / f"{family.replace(' ', '_')}_{pages}"
        dataset = folder.with_suffix(".jsonl")
        write_rows(dataset, _poisoned(rows, lies, family, pages))

        exit_code = _evaluate(options, dataset, folder)
        if exit_code != 0:
            return exit_code
        predictions = read_jsonl(folder / PREDICTIONS)
        runs[family, pages] = [prediction.data for prediction in predictions]

    summary = attack_table(runs, lies, make_judge("rules"))
    print(f"\n{options.preset}, {options.dataset.name}: {counted(len(rows), 'question')}\n\n{summary}")
    return 0


def _poisoned(
    rows: Sequence[dict[str, Any]],
    lies: Sequence[str],
    family: str,
    pages: int,
) -> Iterator[dict[str, Any]]:
    """The questions with the attacker's pages on top; the ways of hiding text take turns."""
    for row, lie, hiding in zip(rows, lies, cycle(HIDING), strict=False):
        yield add_attack(row, lie, family, pages, hiding)


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = parser_of("crag bench adversary", __doc__, "Exit code: 0 done; 2 a file or the preset cannot be used.")
    parser.add_argument(
        "--dataset",
        type=Path,
        default=DEFAULT_DATASET,
        metavar="FILE",
        help="default: %(default)s",
    )

    parser.add_argument(
        "--limit",
        type=whole_number(1),
        metavar="N",
        help="only the first N questions that have an answer",
    )

    parser.add_argument(
        "--output",
        type=Path,
        default=Path("results/adversary"),
        metavar="DIR",
        help="folder of the runs",
    )

    parser.add_argument(
        "--families",
        nargs="+",
        choices=FAMILIES,
        default=list(FAMILIES)[1:],
        metavar="NAME",
    )

    parser.add_argument(
        "--pages",
        nargs="+",
        type=whole_number(1),
        default=[1, 2, 5],
        help="numbers of the attacker's pages (default: 1 2 5)",
    )
    add_preset_arguments(parser, "cpu")

    return parser.parse_args(arguments)


def _evaluate(options: argparse.Namespace, dataset: Path, folder: Path) -> int:
    """Run the preset over the questions of a file, or continue; returns the exit code."""
    changes = [f"deadline.seconds_per_query={UNHURRIED_SECONDS}", *options.set]
    # Time must not decide: an attack that only slows the agent is not measured here
    words = [
        f"--preset={options.preset}",
        f"--dataset={dataset}",
        f"--output={folder}",
        "--resume",
        f"--seconds-per-query={UNHURRIED_SECONDS}",
    ]
    words += [f"--set={change}" for change in changes]
    return evaluate(words)
