"""Select the questions that a fold tests, to measure an adapter tuned without that fold.

    crag train folds --questions FILE --fold 1/5 [--pairs pairs.jsonl] --out held_out.jsonl

Without --pairs each question is its own group, as for the web answerer; with it, the rows of `crag train api-pairs`
have the groups. Fit P(correct) of an adapter (`crag train calibrate`) to runs over such files: it is too sure about
questions that it was tuned on.

--unlabelled adds questions without a pair, which no tuning has seen, and --without-pages leaves out their pages: `crag
train adapters kg_answerer` asks each part through a writer that was tuned without it.

The fold depends on the group's name only, so that all steps agree on it. A row may have several groups (a question
about two films). The fold of its first group tests it. If the fold of any of its groups is held out, the row is not
trained on, so that tested entities are unseen.
"""

import argparse
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from crag.commands.argument_types import argument_type, new_file
from crag.commands.command_line import add_split_argument, command, parser_of
from crag.core.files import UserError, check_output, write_rows
from crag.core.text import counted
from crag.evaluation.datasets import read_rows
from crag.training.api_pairs.pairs import read_pairs
from crag.training.folds import is_tested, normalise_spelling, parse_fold

Row = dict[str, Any]


@command()
def main(arguments: Sequence[str] | None = None) -> None:
    """Write the questions."""
    options = _parse(arguments)
    inputs = (options.questions, options.pairs) if options.pairs else (options.questions,)
    check_output(options.out, *inputs)

    groups: dict[str, Sequence[str]] = {}
    if options.pairs:
        groups = {normalise_spelling(pair.query): pair.groups for pair in read_pairs(options.pairs)}

    counts: Counter[str] = Counter()
    count = write_rows(options.out, _select(options, groups, counts))
    print(f"wrote {count} of {counted(counts['read'], 'question')} to {options.out}")
    options.split.report()


def _select(
    options: argparse.Namespace,
    groups: Mapping[str, Sequence[str]],
    counts: Counter[str],
) -> Iterator[Row]:
    """The rows that the fold tests, one at a time: with their pages they do not fit into memory.

    `groups` are those of the questions with a pair. Raises UserError: the fold tests none.
    """
    # Without a group no fold tests a question
    stands_for_itself = options.pairs is None or options.unlabelled
    for row in read_rows(options.questions, split=options.split):
        counts["read"] += 1
        own_group = (row["query"],) if stands_for_itself else ()
        if not is_tested(groups.get(normalise_spelling(row["query"]), own_group), options.fold):
            continue

        counts["tested"] += 1
        if options.without_pages:
            row.pop("search_results", None)
        yield row

    # While the file is being written, so that no empty one is left
    if not counts["tested"]:
        raise UserError(f"{options.questions}: fold {options.fold} tests none of {counted(counts['read'], 'question')}")


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = parser_of(
        "crag train folds", __doc__, "Exit code: 0 written; 2 there are no questions, or a file cannot be read."
    )
    parser.add_argument(
        "--questions",
        type=Path,
        required=True,
        metavar="FILE",
        help="as for crag evaluate",
    )

    parser.add_argument(
        "--fold",
        type=argument_type(parse_fold),
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
        "--unlabelled",
        action="store_true",
        help="with --pairs: also questions without a pair, each in a group of its own",
    )
    parser.add_argument("--without-pages", action="store_true", help="leave out the search results")
    parser.add_argument(
        "--out",
        type=argument_type(new_file),
        required=True,
        metavar="FILE",
        help="JSON lines",
    )
    add_split_argument(parser)

    return parser.parse_args(arguments)
