"""`crag COMMAND ...`; without a command: the list of commands."""

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import NamedTuple, cast

from crag.command import end_with
from evaluation.signature import package_version


class Command(NamedTuple):
    """The module whose `main` it is, what it does, and arguments that stand before the user's."""

    module: str
    help: str
    before: tuple[str, ...] = ()


COMMANDS = {
    "evaluate": Command("crag.evaluate", "run an agent over a question file and print the CRAG metrics"),
    "ask": Command("crag.ask", "answer one question, and say why"),
    "preflight": Command("crag.preflight", "check the submission in this folder", ("--root", ".")),
    "compare": Command("crag.compare", "compare two runs"),
    "judge": Command("crag.judge", "judge a file of predictions"),
    "report": Command("crag.report", "write the report of a run again"),
    "data": Command("crag.data", "list and fetch the public CRAG questions"),
    "models": Command("models.fetch", "fetch the models of a preset"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the named command with the rest of the arguments; exit code 2: there is no such command."""
    name, *rest = [*(sys.argv[1:] if arguments is None else arguments), ""]
    rest = rest[:-1]
    if name in {"", "-h", "--help"}:
        sys.stdout.write(_help())
        return 0
    if name == "--version":
        sys.stdout.write(f"crag {package_version()}\n")
        return 0
    if name not in COMMANDS:
        sys.stderr.write(f"error: there is no command {name!r}: {', '.join(COMMANDS)}\n")
        return 2
    sys.path.append(str(Path.cwd()))  # so that --agent finds a module in the folder where the user stands
    command = COMMANDS[name]
    work = cast("Callable[[Sequence[str]], int]", import_module(command.module).main)
    return work([*command.before, *rest])


def _help() -> str:
    lines = [f"  {name:10} {command.help}" for name, command in COMMANDS.items()]
    return "\n".join(["usage: crag COMMAND ...  (crag COMMAND --help tells more)", "", *lines, ""])


def entry() -> None:
    """The console command."""
    end_with(main)


if __name__ == "__main__":
    entry()
