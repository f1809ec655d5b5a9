"""List the files of the public CRAG questions with size and sha256."""

import sys
from collections.abc import Sequence
from pathlib import Path

from crag.commands.command_line import command, parser_of
from crag.evaluation.public_questions import DEFAULT_FOLDER, FILES, HOME, pointer_of


@command()
def main(arguments: Sequence[str] | None = None) -> None:
    """List the files. Exit code: 0 done, 2 not reachable."""
    parser = parser_of(
        "crag data list",
        f"The public CRAG questions of {HOME}.",
        "Exit code: 0 done; 2 not reachable, damaged, or not writable.",
    )
    parser.add_argument("--to", metavar="DIR", type=Path, default=DEFAULT_FOLDER, help="default: %(default)s")
    _list(parser.parse_args(arguments).to)


def _list(folder: Path) -> None:
    for (version, task), names in FILES.items():
        for name in names:
            pointer, path = pointer_of(name), folder / name
            state = f"in {folder}" if path.is_file() and path.stat().st_size == pointer.size else "not here"
            sys.stdout.write(
                f"v{version}  task {task}  {pointer.size / 1e6:7.0f} MB  {name}  sha256 {pointer.sha256}  {state}\n"
            )
    sys.stdout.write(f"from {HOME}\n")
