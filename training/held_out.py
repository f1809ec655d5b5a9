"""Select the questions that a fold tests, to measure an adapter tuned without that fold.

    python -m training.held_out --questions FILE --fold 1/5 [--pairs pairs.jsonl] --out held_out.jsonl

Without --pairs each question is its own group, as for the web answerer; with it, the rows of `training.api_pairs` have
the groups. Fit P(correct) of an adapter (`training.calibrate`) to runs of local_evaluation.py over such files: it is
too sure about questions that it was tuned on.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from agents.common.files import UserError, write_rows
from crag.command import add_split_argument, end_with, exit_code, form, parser_of
from evaluation.datasets import read_rows
from training.api_pairs import read_pairs
from training.folds import is_tested, parse_fold


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the questions. Exit code: 2 if there are none, or a file cannot be read."""
    parser = parser_of("python -m training.held_out", __doc__)
    parser.add_argument("--questions", type=Path, required=True, metavar="FILE", help="as for local_evaluation.py")
    fold = "as training.lora --hold-out"
    parser.add_argument("--fold", type=form(parse_fold), required=True, metavar="NUMBER/TOTAL", help=fold)
    parser.add_argument("--pairs", type=Path, metavar="FILE", help="rows of training.api_pairs")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="JSON lines")
    add_split_argument(parser)
    options = parser.parse_args(arguments)
    return exit_code(lambda: _run(options))


def _run(options: argparse.Namespace) -> None:
    groups = {pair.query: pair.groups for pair in read_pairs(options.pairs)} if options.pairs else None
    rows = list(read_rows(options.questions, split=options.split))
    found = [(row, [row["query"]] if groups is None else groups.get(row["query"], ())) for row in rows]
    chosen = [row for row, names in found if is_tested(names, options.fold)]
    if not chosen:
        raise UserError(f"{options.questions}: fold {options.fold} tests none of its {len(rows)} questions")
    write_rows(options.out, chosen)
    sys.stdout.write(f"wrote {len(chosen)} of {len(rows)} questions to {options.out}\n")
    options.split.report()


if __name__ == "__main__":
    end_with(main)
