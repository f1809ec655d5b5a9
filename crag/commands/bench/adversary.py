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
from collections.abc import Sequence
from pathlib import Path

from crag.benchmarks.adversary import CLEAN, FAMILIES, HIDING, attack_table, attacked, wrong_answers
from crag.benchmarks.common import UNHURRIED_SECONDS
from crag.commands.command_line import add_preset_arguments, command, parser_of, whole
from crag.commands.evaluate import main as evaluate
from crag.core.contracts import INVALID_QUESTION
from crag.core.files import read_jsonl, write_rows
from crag.evaluation.datasets import DEFAULT_DATASET, read_rows
from crag.evaluation.judge import make_judge
from crag.evaluation.store import PREDICTIONS


@command()
def main(arguments: Sequence[str] | None = None) -> int:
    """Attack and print; exit code 2 if a file or the preset cannot be used."""
    parser = parser_of("crag bench adversary", __doc__)
    parser.add_argument("--dataset", type=Path, default=DEFAULT_DATASET, metavar="FILE", help="default: %(default)s")
    parser.add_argument("--limit", type=whole(1), metavar="N", help="only the first N questions that have an answer")
    parser.add_argument(
        "--output", type=Path, default=Path("results/adversary"), metavar="DIR", help="folder of the runs"
    )
    parser.add_argument("--families", nargs="+", choices=FAMILIES, default=list(FAMILIES)[1:], metavar="NAME")
    parser.add_argument(
        "--pages", nargs="+", type=whole(1), default=[1, 2, 5], help="numbers of the attacker's pages (default: 1 2 5)"
    )
    add_preset_arguments(parser, "cpu")
    options = parser.parse_args(arguments)
    options.output.mkdir(parents=True, exist_ok=True)

    rows = [row for row in read_rows(options.dataset) if row["answer"].lower() != INVALID_QUESTION][: options.limit]
    lies = wrong_answers([row["answer"] for row in rows])
    attacks = [(CLEAN, 0)]
    for family in options.families:
        attacks += [(family, pages) for pages in options.pages]

    runs = {}
    for family, pages in attacks:
        folder = options.output / f"{family.replace(' ', '_')}_{pages}"
        dataset = folder.with_suffix(".jsonl")
        poisoned = [
            attacked(row, lie, family, pages, HIDING[index % len(HIDING)])
            for index, (row, lie) in enumerate(zip(rows, lies, strict=True))
        ]
        write_rows(dataset, poisoned)

        exit_code = _evaluate(options, dataset, folder)
        if exit_code != 0:
            return exit_code
        runs[family, pages] = [prediction.data for prediction in read_jsonl(folder / PREDICTIONS)]

    summary = attack_table(runs, lies, make_judge("rules"))
    print(f"\n{options.preset}, {options.dataset.name}: {len(rows)} questions\n\n{summary}")
    return 0


def _evaluate(options: argparse.Namespace, dataset: Path, folder: Path) -> int:
    """Run the preset over the questions of a file, or continue; returns the exit code."""
    words = ["--preset", options.preset, "--dataset", str(dataset), "--output", str(folder), "--resume"]
    words += [f"--seconds-per-query={UNHURRIED_SECONDS}", f"--set=deadline.seconds_per_query={UNHURRIED_SECONDS}"]
    words += [f"--set={change}" for change in options.set]
    return evaluate(words)
