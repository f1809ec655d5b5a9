"""Select the questions that a fold tests, to measure an adapter tuned without that fold.

    crag train folds --questions FILE --fold 1/5 [--pairs pairs.jsonl] --out held_out.jsonl

Without --pairs each question is its own group, as for the web answerer; with it, the rows of `crag train api-pairs`
have the groups. Fit P(correct) of an adapter (`crag train calibrate`) to runs over such files: it is too sure about
questions that it was tuned on.

The fold depends on the group's name only, so that all steps agree on it. A row may have several groups (a question
about two films). The fold of its first group tests it. If the fold of any of its groups is held out, the row is not
trained on, so that tested entities are unseen.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from crag.commands.command_line import add_split_argument, command, form, parser_of
from crag.core.files import UserError, write_rows
from crag.evaluation.datasets import read_rows
from crag.training.api_pairs import read_pairs
from crag.training.folds import is_tested, parse_fold


@command()
def main(arguments: Sequence[str] | None = None) -> None:
    """Write the questions. Exit code: 2 if there are none, or a file cannot be read."""
    options = _parse(arguments)

    rows = list(read_rows(options.questions, split=options.split))
    groups: dict[str, Sequence[str]] = {row["query"]: [row["query"]] for row in rows}
    if options.pairs:
        groups = {pair.query: pair.groups for pair in read_pairs(options.pairs)}

    # A question without a pair has no groups, and no fold tests it.
    tested: list[dict[str, Any]] = []
    for row in rows:
        row_groups = groups.get(row["query"], ())
        if is_tested(row_groups, options.fold):
            tested.append(row)
    if not tested:
        raise UserError(f"{options.questions}: fold {options.fold} tests none of its {len(rows)} questions")

    write_rows(options.out, tested)
    print(f"wrote {len(tested)} of {len(rows)} questions to {options.out}")
    options.split.report()


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = parser_of("crag train folds", __doc__)
    parser.add_argument(
        "--questions",
        type=Path,
        required=True,
        metavar="FILE",
        help="as for crag evaluate",
    )
    parser.add_argument(
        "--fold",
        type=form(parse_fold),
        required=True,
        metavar="NUMBER/TOTAL",
        help="as crag train lora --hold-out",
    )
    parser.add_argument(
        "--pairs",
        type=Path,
        metavar="FILE",
        help="rows of crag train api-pairs",
    )
    parser.add_argument(
        "--out",
        type=Path,
        required=True,
        metavar="FILE",
        help="JSON lines",
    )
    add_split_argument(parser)
    return parser.parse_args(arguments)
