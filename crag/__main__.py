"""`crag COMMAND ...`; without a command: the list of commands."""

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import cast

from crag.command import end_with
from evaluation.signature import package_version

COMMANDS = {
    "evaluate": ("crag.evaluate", "run an agent over a question file and print the CRAG metrics"),
    "ask": ("crag.ask", "answer questions from your pages or a graph, with reasons"),
    "preflight": ("crag.preflight", "check the submission in this folder"),
    "compare": ("crag.compare", "compare two runs"),
    "judge": ("crag.judge", "judge a file of predictions"),
    "report": ("crag.report", "rewrite the report of a run"),
    "runs": ("crag.runs", "list runs with score, seconds and signature"),
    "data": ("crag.data", "list and fetch the public CRAG questions"),
    "models": ("models.fetch", "fetch the models of a preset"),
}
"""Command -> the module whose `main` it is, and what it does."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the named command with the rest of the arguments; exit code 2: there is no such command."""
    name, *rest = (sys.argv[1:] if arguments is None else arguments) or [""]
    if name in {"", "-h", "--help"}:
        lines = [f"  {name:10} {text}" for name, (_, text) in COMMANDS.items()]
        sys.stdout.write("\n".join(["usage: crag COMMAND ...  (options: crag COMMAND --help)", "", *lines, ""]))
        return 0
    if name == "--version":
        sys.stdout.write(f"crag {package_version()}\n")
        return 0
    if name not in COMMANDS:
        sys.stderr.write(f"error: unknown command {name!r}; commands: {', '.join(COMMANDS)}\n")
        return 2
    sys.path.append(str(Path.cwd()))  # so that --agent finds a module in the folder where the user stands
    work = cast("Callable[[Sequence[str]], int]", import_module(COMMANDS[name][0]).main)
    return work(rest)


def entry() -> None:
    """The console command."""
    end_with(main)


if __name__ == "__main__":
    entry()
