"""Fetch the public CRAG questions; an interrupted download continues."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from crag.commands.command_line import command, parser_of
from crag.evaluation.public_questions import ARCHIVE, DEFAULT_FOLDER, FILES, HOME, PARTS, fetch, unpack


@command()
def main(arguments: Sequence[str] | None = None) -> None:
    """Fetch a task's files. Exit code: 0 done, 2 not reachable, damaged, or not writable."""
    options = _parse(arguments)

    parts = [fetch(name, options.to) for name in FILES[options.version, options.task]]
    questions = parts[0]
    # The large tasks come as an archive in parts, which is joined and unpacked once
    if ARCHIVE in questions.name:
        stem, _, _ = questions.name.partition(ARCHIVE)
        questions = options.to / f"{stem}.jsonl.bz2"
        if not questions.is_file():
            unpack(parts, questions)
            print(f"{questions}: unpacked; the parts of the archive are not needed any more")
    print(f"now: crag evaluate --dataset {questions}")


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = parser_of(
        "crag data fetch",
        f"The public CRAG questions of {HOME}.",
        "Exit code: 0 done; 2 not reachable, damaged, or not writable.",
    )

    parser.add_argument("what", choices=("crag",), help="the public questions")
    parser.add_argument(
        "--task",
        type=int,
        choices=(1, 2, 3),
        default=1,
        help="default: 1, also the file of task 2",
    )

    parser.add_argument(
        "--version",
        type=int,
        choices=tuple(PARTS),
        default=4,
        help="default: 4, which the published scores use; 5 also has the popularity of each question",
    )

    parser.add_argument(
        "--to",
        metavar="DIR",
        type=Path,
        default=DEFAULT_FOLDER,
        help="default: %(default)s",
    )

    return parser.parse_args(arguments)
