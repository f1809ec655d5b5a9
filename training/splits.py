"""The option that every command has which learns from, labels or divides questions: which split of CRAG it may read."""

import argparse

from evaluation.datasets import Split


def add_split_argument(parser: argparse.ArgumentParser) -> None:
    """``--split``; its value is a `Split`, 0 by default: the public file holds the public test set as well."""
    parser.add_argument(
        "--split",
        type=_split,
        default="0",
        metavar="N|any",
        help="read only rows with this number in their field `split`: 0 is there to learn from, 1 is the public test "
        "set; any: all rows, without a look at the field (default: %(default)s)",
    )


def _split(text: str) -> Split:
    try:
        return Split.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
