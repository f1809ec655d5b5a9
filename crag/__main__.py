"""The command line: `crag VERB ...`, in a clone `python -m crag VERB ...`."""

import sys
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import cast

from crag.commands.ending import EXIT_UNUSABLE, end_with
from crag.commands.verbs import VERBS, Group, Verb


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the named command with the rest of the arguments; exit code 2: there is no such command."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    verbs: Mapping[str, Verb | Group] = VERBS
    program = "crag"

    while True:
        name, *words = words or [""]
        if name == "help" and program == "crag":
            words = [*words, "--help"]
            continue
        if name in {"", "-h", "--help"}:
            sys.stdout.write(_usage(program, verbs))
            return 0
        if name == "--version" and program == "crag":
            from crag.evaluation.signature import package_version

            sys.stdout.write(f"crag {package_version()}\n")
            return 0
        if name not in verbs:
            sys.stderr.write(_unknown(program, name, verbs))
            return EXIT_UNUSABLE

        verb = verbs[name]
        if isinstance(verb, Verb):
            break
        verbs, program = verb.verbs, f"{program} {name}"

    sys.path.append(str(Path.cwd()))  # so that --agent finds a module in the folder where the user stands
    run = cast("Callable[[Sequence[str]], int]", import_module(f"crag.commands.{verb.module}").main)
    return run(words)


def _usage(program: str, verbs: Mapping[str, Verb | Group]) -> str:
    lines = [f"usage: {program} COMMAND ...  (options: {program} COMMAND --help)", ""]
    lines += [f"  {name:16} {verb.summary}" for name, verb in verbs.items()]
    if program == "crag":
        lines += ["", "In a clone without the command `crag`: python -m crag COMMAND ..."]
    return "\n".join([*lines, ""])


def _unknown(program: str, name: str, verbs: Mapping[str, Verb | Group]) -> str:
    close = get_close_matches(name, verbs, n=1)
    meant = f"did you mean {program} {close[0]}? " if close else ""
    return f"error: unknown command {name!r}: {meant}commands: {', '.join(verbs)}\n"


def entry() -> None:
    """The console command."""
    end_with(main)


if __name__ == "__main__":
    entry()
