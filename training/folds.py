"""Select the questions that a fold tests, to measure an adapter tuned without that fold.

    python -m training.folds --questions FILE --fold 1/5 [--pairs pairs.jsonl] --out held_out.jsonl

Without --pairs each question is its own group, as for the web answerer; with it, the rows of `training.api_pairs` have
the groups. Fit P(correct) of an adapter (`training.calibrate`) to runs of local_evaluation.py over such files: it is
too sure about questions that it was tuned on.

The fold depends on the group's name only, so that all steps agree on it. A row may have several groups (a question
about two films). The fold of its first group tests it. If the fold of any of its groups is held out, the row is not
trained on, so that tested entities are unseen.
"""

import hashlib
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from agents.common.files import UserError, write_rows
from crag.command import add_split_argument, command, end_with, form, parser_of
from evaluation.datasets import read_rows
from training.api_pairs import read_pairs


class Fold(NamedTuple):
    """The part `number` (from 1) of `total`."""

    number: int
    total: int

    def __str__(self) -> str:
        return f"{self.number}/{self.total}"


def parse_fold(text: str) -> Fold:
    """Parse an argument: ``2/5`` is the second of five folds."""
    found = re.fullmatch(r"([0-9]+)/([0-9]+)", text)
    fold = Fold(int(found[1]), int(found[2])) if found else Fold(0, 0)
    if not 1 <= fold.number <= fold.total or fold.total == 1:
        raise ValueError(f"write a fold as NUMBER/TOTAL, from 1/TOTAL, such as 1/5; found {text!r}")
    return fold


def number_of(group: str, total: int) -> int:
    """The fold (from 1) of a group, in any spelling (see `spelling`)."""
    return int.from_bytes(hashlib.sha256(spelling(group).encode()).digest()[:8], "big") % total + 1


def spelling(group: str) -> str:
    """The normal spelling of a group, without case and extra blanks."""
    return " ".join(group.casefold().split())


def is_tested(groups: Sequence[str], fold: Fold) -> bool:
    """Whether the fold tests a row with these groups; exactly one fold does."""
    return bool(groups) and number_of(groups[0], fold.total) == fold.number


def may_train(groups: Sequence[str], fold: Fold | None) -> bool:
    """Whether a row may be trained on if that fold is held out; None: nothing is held out."""
    return fold is None or all(number_of(group, fold.total) != fold.number for group in groups)


@command()
def main(arguments: Sequence[str] | None = None) -> None:
    """Write the questions. Exit code: 2 if there are none, or a file cannot be read."""
    parser = parser_of("python -m training.folds", __doc__)
    parser.add_argument("--questions", type=Path, required=True, metavar="FILE", help="as for local_evaluation.py")
    fold = "as training.lora --hold-out"
    parser.add_argument("--fold", type=form(parse_fold), required=True, metavar="NUMBER/TOTAL", help=fold)
    parser.add_argument("--pairs", type=Path, metavar="FILE", help="rows of training.api_pairs")
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help="JSON lines")
    add_split_argument(parser)
    options = parser.parse_args(arguments)
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
