"""Writes docs/commands.md from the commands' own parsers: `make docs`. A test compares the page with this."""

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import NoReturn
from unittest.mock import patch

from crag.commands.verbs import VERBS, Verb, VerbGroup
from crag.core.places import REPOSITORY

PAGE = REPOSITORY / "docs" / "commands.md"

INTRODUCTION = """# Commands

This page lists every command with its arguments. `make docs` writes it from the commands themselves.

Type `crag VERB` in a terminal. In a clone without the command it is `.venv/bin/python -m crag VERB`.
`crag help VERB` prints the section of a command.

Before an installation only `make` works: `make help` lists its targets. As root on Debian, `make test` installs
Chromium for the tests of the report, unless `BROWSER=no`.
"""


class _ParserFoundError(Exception):
    """Carries the parser of a command out of its `main`."""

    def __init__(self, parser: argparse.ArgumentParser) -> None:
        super().__init__()
        self.parser = parser


def page() -> str:
    """The whole page."""
    commands = dict(_commands())
    table = ["| command | what it does |", "|---|---|"]
    table += [f"| [`crag {name}`](#{_anchor(name)}) | {verb.summary} |" for name, verb in commands.items()]

    sections = []
    for name, verb in commands.items():
        sections.append("\n".join([f"## crag {name}", "", *_section(verb)]))
    return "\n".join([INTRODUCTION, *table, "", "\n\n".join(sections), ""])


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the page."""
    del arguments
    PAGE.write_text(page(), encoding="utf-8")
    sys.stdout.write(f"wrote {PAGE}\n")


def _commands() -> Iterator[tuple[str, Verb]]:
    for name, verb in VERBS.items():
        if isinstance(verb, VerbGroup):
            yield from ((f"{name} {inner}", inner_verb) for inner, inner_verb in verb.verbs.items())
        else:
            yield name, verb


def _anchor(name: str) -> str:
    return f"crag-{name}".replace(" ", "-")


def _section(verb: Verb) -> Iterator[str]:
    """The description of a command, then its arguments."""
    parser = find_parser(verb)
    if parser.description:
        yield from ("```text", _portable(parser.description.strip()), "```", "")

    yield "| argument | meaning |"
    yield "|---|---|"
    # argparse has no public list of its arguments
    for action in parser._actions:
        if not isinstance(action, argparse._HelpAction) and action.help != argparse.SUPPRESS:
            yield f"| `{_form(action)}` | {_meaning(action)} |"

    if parser.epilog:
        yield from ("", _portable(parser.epilog.strip()))


def find_parser(verb: Verb) -> argparse.ArgumentParser:
    """The parser that the command builds; the command itself does not run."""
    command = import_module(f"crag.commands.{verb.module}").main
    # The command builds its parser and asks it to parse: there it is caught
    leaving = patch.multiple(
        argparse.ArgumentParser,
        parse_args=_leave,
        parse_intermixed_args=_leave,
    )
    with _default_environment(), leaving:
        try:
            command([])
        except _ParserFoundError as found:
            return found.parser
    raise RuntimeError(f"the command {verb.module} parses no arguments")


def _leave(parser: argparse.ArgumentParser, *_: object) -> NoReturn:
    raise _ParserFoundError(parser)


@contextmanager
def _default_environment() -> Iterator[None]:
    """No variable that could change a default."""
    with patch.dict(os.environ):
        # A copy of the names, because the loop deletes some
        for name in list(os.environ):
            if name.startswith("CRAG_") or name == "XDG_CACHE_HOME":
                del os.environ[name]
        yield


def _form(action: argparse.Action) -> str:
    """An argument as it is typed: ``--limit N``, ``--mock-kg [DIR]``."""
    if isinstance(action.metavar, str):
        value = action.metavar
    elif action.metavar is not None:  # a title for each of several values
        value = " ".join(action.metavar)
    elif action.choices is not None:
        value = "{" + ",".join(map(str, action.choices)) + "}"
    else:
        value = action.dest.upper()

    # A switch, such as "--quiet", takes no value
    if action.nargs == 0:
        value = ""
    elif action.nargs == "?":
        value = f"[{value}]"
    elif action.nargs in {"*", "+"}:
        value = f"{value} ..."

    name = ", ".join(action.option_strings)
    # A bar would end the cell of the table
    return " ".join(part for part in (name, value) if part).replace("|", "\\|")


def _meaning(action: argparse.Action) -> str:
    # As argparse does it: "%(default)s" in a help text
    text = (action.help or "") % vars(action)
    required = " (required)" if action.required and action.option_strings else ""
    return _portable(text).replace("|", "\\|") + required


def _portable(text: str) -> str:
    """The text without the folders of this machine."""
    # The longer path first, since the shorter one is its beginning
    text = text.replace(f"{REPOSITORY}/", "").replace(f"{REPOSITORY.parent}/", "../")
    return text.replace(str(Path.home()), "~")
