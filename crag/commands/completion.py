"""Print a script with which the shell completes commands, options and files; for bash, put this line into ~/.bashrc:

    eval "$(crag completion bash)"

For zsh, write it where zsh looks for completions: crag completion zsh > ~/.zfunc/_crag
"""

import argparse
from collections.abc import Mapping, Sequence

from crag.commands.command_line import command, parser_of
from crag.commands.reference import find_parser
from crag.commands.verbs import VERBS, Verb, VerbGroup

SHELLS = ("bash", "zsh", "tcsh")


@command()
def main(arguments: Sequence[str] | None = None) -> None:
    """Print the script."""
    parser = parser_of(
        "crag completion", __doc__, "Exit code: 0 done; 2 there is no such shell, or shtab is not installed."
    )
    parser.add_argument("shell", choices=SHELLS, help="the shell that reads the script")
    options = parser.parse_args(arguments)

    import shtab

    print(shtab.complete(build_parser(), shell=options.shell))


def build_parser() -> argparse.ArgumentParser:
    """One parser of all commands. Each command has its own, so that `--help` need not import the others."""
    parser = argparse.ArgumentParser("crag")
    _add_verbs(parser, VERBS)
    return parser


def _add_verbs(parser: argparse.ArgumentParser, verbs: Mapping[str, Verb | VerbGroup]) -> None:
    subparsers = parser.add_subparsers()
    for name, verb in verbs.items():
        if isinstance(verb, VerbGroup):
            _add_verbs(subparsers.add_parser(name, help=verb.summary), verb.verbs)
            continue
        # The parser of the command as a parent: its arguments, and its own --help
        verb_parser = find_parser(verb)
        _prepare_for_shtab(verb_parser)
        subparsers.add_parser(name, parents=[verb_parser], add_help=False, help=verb.summary)


def _prepare_for_shtab(parser: argparse.ArgumentParser) -> None:
    """Tell shtab which arguments are files; it takes choices in a dictionary (1.13.0) for commands."""
    import shtab

    # argparse has no public list of its arguments
    for action in parser._actions:
        if isinstance(action.choices, dict):
            action.choices = list(action.choices)
        names = {action.metavar, action.dest.upper()}
        if names & {"DIR", "ROOT"}:
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
        elif names & {"FILE", "PLACE", "PATH", "OUT", "DATASET", "OUTPUT"}:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
