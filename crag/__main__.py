"""The command line: `crag VERB ...`, in a clone `python -m crag VERB ...`."""

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import cast

from crag.commands.ending import EXIT_UNUSABLE, end_with
from crag.commands.verbs import VERBS, Verb, VerbGroup


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the named command with the rest of the arguments; exit code 2: there is no such command.

    `crag help VERB ...` is `crag VERB ... --help`.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words[:1] == ["help"]:
        words = [*words[1:], "--help"]
    if words[:1] == ["--version"]:
        from crag.core.version import package_version

        sys.stdout.write(f"crag {package_version()}\n")
        return 0

    program = "crag"
    verbs: Mapping[str, Verb | VerbGroup] = VERBS
    while True:
        name = words.pop(0) if words else "--help"
        if name in {"-h", "--help"}:
            sys.stdout.write(f"{_usage(program, verbs)}\n")
            return 0
        if name not in verbs:
            sys.stderr.write(f"{_unknown(program, name, verbs)}\n")
            return EXIT_UNUSABLE

        verb = verbs[name]
        if isinstance(verb, Verb):
            return _run(verb, words)
        program = f"{program} {name}"
        verbs = verb.verbs


def _run(verb: Verb, arguments: Sequence[str]) -> int:
    with suppress(FileNotFoundError):  # a current folder that has been deleted
        sys.path.append(str(Path.cwd()))  # so that --agent finds a module there
    command = cast("Callable[[Sequence[str]], int]", import_module(f"crag.commands.{verb.module}").main)
    return command(arguments)


def _usage(program: str, verbs: Mapping[str, Verb | VerbGroup]) -> str:
    lines = [f"usage: {program} COMMAND ...  (options: {program} COMMAND --help)", ""]
    lines += [f"  {name:16} {verb.summary}" for name, verb in verbs.items()]
    if program == "crag":
        lines += ["", "In a clone without the command `crag`: python -m crag COMMAND ..."]
    return "\n".join(lines)


def _unknown(program: str, name: str, verbs: Mapping[str, Verb | VerbGroup]) -> str:
    suggestion = ""
    matches = get_close_matches(name, verbs, n=1)
    if matches:
        suggestion = f"did you mean {program} {matches[0]}? "
    return f"error: unknown command {name!r}: {suggestion}commands: {', '.join(verbs)}"


def entry() -> None:
    """The console command."""
    end_with(main)


if __name__ == "__main__":
    entry()
