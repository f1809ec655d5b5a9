"""Select the questions that a fold tests, to measure an adapter tuned without that fold.

    python -m training.held_out --questions FILE --fold 1/2 --out held_out.jsonl
    python -m training.held_out --questions FILE --fold 1/5 --pairs pairs.jsonl --others 150 --out held_out.jsonl

Without --pairs each question is its own group, as for the web answerer. With --pairs, the rows of `training.api_pairs`
have the groups; --others N adds questions that these rows lack, drawn by --seed. All fields are kept; --no-pages drops
the pages. Calibrate an adapter (`training.calibrate`) on runs of local_evaluation.py over such files: it is too sure
about questions that it was tuned on.
"""

import argparse
import random
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agents.common.console import end_with
from agents.common.files import write_rows
from evaluation.datasets import read_rows
from training.api_pairs import REAL, read_pairs
from training.command import CommandError, add_split_argument, exit_code, parser_of
from training.folds import Fold, is_tested, parse_fold

Row = dict[str, Any]


def held_out(
    rows: Sequence[Row], fold: Fold, groups: Mapping[str, Sequence[str]] | None = None, others: int = 0, seed: int = 0
) -> list[Row]:
    """The rows that the fold tests, in order, and at most `others` rows of questions that `groups` lacks.

    `groups` maps each question to its groups; None: each question is its own group.
    """
    if groups is None:
        return [row for row in rows if is_tested([row["query"]], fold)]
    unknown = [number for number, row in enumerate(rows) if row["query"] not in groups]
    drawn = set(random.Random(seed).sample(unknown, min(others, len(unknown))))  # noqa: S311 - a sample, not a secret
    return [row for number, row in enumerate(rows) if number in drawn or is_tested(groups.get(row["query"], ()), fold)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the questions. Exit code: 1 if there are none, or a file cannot be read."""
    parser = parser_of("training.held_out", __doc__)
    parser.add_argument("--questions", type=Path, required=True, metavar="FILE", help="as for local_evaluation.py")
    parser.add_argument("--fold", type=parse_fold, required=True, metavar="I/K", help="as training.lora --hold-out")
    parser.add_argument("--pairs", type=Path, metavar="FILE", help="rows of training.api_pairs")
    parser.add_argument("--others", type=int, default=0, metavar="N", help="with --pairs: number of questions to add")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--no-pages", action="store_true", help="for runs that use only the knowledge graph")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="JSON lines")
    add_split_argument(parser)
    options = parser.parse_args(arguments)
    if options.others and not options.pairs:
        parser.error("--others needs --pairs, which lists the known questions")
    return exit_code(lambda: _run(options))


def _run(options: argparse.Namespace) -> int:
    groups = None
    if options.pairs:
        groups = {pair.query: pair.groups for pair in read_pairs(options.pairs) if pair.source == REAL}
    rows = list(read_rows(options.questions, split=options.split))
    chosen = held_out(rows, options.fold, groups, options.others, options.seed)
    if not chosen:
        raise CommandError(f"{options.questions}: fold {options.fold} tests none of its {len(rows)} questions")
    write_rows(options.out, (row | {"search_results": []} if options.no_pages else row for row in chosen))
    sys.stdout.write(f"wrote {len(chosen)} of {len(rows)} questions to {options.out}\n")
    options.split.report()
    return 0


if __name__ == "__main__":
    end_with(main)
