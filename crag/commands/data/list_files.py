"""List the files of the public CRAG questions with size and sha256."""

from collections.abc import Sequence
from pathlib import Path

from crag.commands.command_line import command, parser_of
from crag.evaluation.public_questions import DEFAULT_FOLDER, FILES, HOME, fetch_pointer


@command()
def main(arguments: Sequence[str] | None = None) -> None:
    """List the files. Exit code: 0 done, 2 not reachable."""
    parser = parser_of(
        "crag data list",
        f"The public CRAG questions of {HOME}.",
        "Exit code: 0 done; 2 not reachable.",
    )

    parser.add_argument(
        "--to",
        metavar="DIR",
        type=Path,
        default=DEFAULT_FOLDER,
        help="default: %(default)s",
    )

    folder = parser.parse_args(arguments).to

    for (version, task), names in FILES.items():
        for name in names:
            pointer = fetch_pointer(name)
            path = folder / name
            is_here = path.is_file() and path.stat().st_size == pointer.size
            state = f"in {folder}" if is_here else "not here"
            megabytes = f"{pointer.size / 1e6:7.0f} MB"
            print(f"v{version}  task {task}  {megabytes}  {name}  sha256 {pointer.sha256}  {state}")
    print(f"from {HOME}")
