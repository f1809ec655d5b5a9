"""Poisoned pages by family: how often the attacker's answer is given, which right answers are lost, which stay.

    crag bench adversary [--preset P] [--set KEY=VALUE] [--dataset FILE] [--limit N] [--output DIR]
                                   [--families NAME ...] [--pages N ...]

Each question is asked without a knowledge graph with its own pages (clean), then with the attacker's pages of one
family on top, each page from a site of its own. Families (`FAMILIES`) say a wrong answer in the question's words (after
PoisonedRAG, Zou et al. 2024) or in others, or order the model to say something (after Greshake et al. 2023), in plain
or in hidden text. The wrong answer is the right one of another question of the same kind. An interrupted run continues
with the same command.
"""

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
    parser.add_argument("--output", type=Path, default=Path("results/adversary"), metavar="DIR", help="of the runs")
    parser.add_argument("--families", nargs="+", choices=FAMILIES, default=list(FAMILIES)[1:], metavar="NAME")
    parser.add_argument("--pages", nargs="+", type=whole(1), default=[1, 2, 5], help="attacker's (default: 1 2 5)")
    add_preset_arguments(parser, "cpu")
    options = parser.parse_args(arguments)
    options.output.mkdir(parents=True, exist_ok=True)
    rows = [row for row in read_rows(options.dataset) if row["answer"].lower() != INVALID_QUESTION][: options.limit]
    wrong = wrong_answers([row["answer"] for row in rows])
    runs = {}
    for name, count in [(CLEAN, 0), *((name, count) for name in options.families for count in options.pages)]:
        folder = options.output / f"{name.replace(' ', '_')}_{count}"
        asked = folder.with_suffix(".jsonl")
        lies = enumerate(zip(rows, wrong, strict=True))
        write_rows(asked, [attacked(row, lie, name, count, HIDING[place % len(HIDING)]) for place, (row, lie) in lies])
        run = ["--preset", options.preset, "--dataset", str(asked), "--output", str(folder), "--resume"]
        run += [f"--seconds-per-query={UNHURRIED_SECONDS}", f"--set=deadline.seconds_per_query={UNHURRIED_SECONDS}"]
        run += [f"--set={change}" for change in options.set]
        if (code := evaluate(run)) != 0:
            return code
        runs[name, count] = [prediction.data for prediction in read_jsonl(folder / PREDICTIONS)]
    found = attack_table(runs, wrong, make_judge("rules"))
    print(f"\n{options.preset}, {options.dataset.name}: {len(rows)} questions\n\n{found}")
    return 0
