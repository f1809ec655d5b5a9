"""Examples: questions with their programs, one TOML file per domain, checked on loading.

In a file the key is the question, the value is the program in canonical form, one statement a line.
"""

import functools
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from crag.core.files import parse_toml
from crag.graph.language import KgQueryError, parse, render
from crag.graph.language.program import Program
from crag.graph.schema import Domain
from crag.settings import SettingsError

FOLDER = Path(__file__).parent / "examples"


class BankError(SettingsError):
    """A file of examples cannot be used; the message names the file and the question."""


@dataclass(frozen=True, slots=True)
class Example:
    """A question and its calls; `calls` is the canonical text of `program`."""

    domain: Domain
    question: str
    calls: str
    program: Program


@functools.cache
def load_bank() -> tuple[Example, ...]:
    """The shipped examples of all domains."""
    examples: list[Example] = []
    for examples_of_domain in load_folder(FOLDER).values():
        examples += examples_of_domain
    return tuple(examples)


def load_folder(folder: Path) -> dict[Domain, tuple[Example, ...]]:
    """The examples of a folder by domain, in file order; one file per domain. Raises BankError."""
    return {domain: load_examples(folder / f"{domain}.toml", domain) for domain in Domain}


def load_examples(path: Path, domain: Domain) -> tuple[Example, ...]:
    """The examples of one file, in order.

    Raises BankError: the file cannot be read, or one of its programs is unreadable or not in canonical form.
    """
    try:
        entries = parse_toml(path.read_bytes())
    except OSError as error:
        raise BankError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise BankError(f"{path}: cannot be read: {error}") from None
    examples = [_example(path, domain, question, calls) for question, calls in entries.items()]
    return tuple(examples)


def write_examples(path: Path, comment: str, examples: Iterable[Example]) -> None:
    """Write a file that `load_examples` reads, with a comment line on top."""
    entries = [f"{_toml_basic_string(example.question)} = {_toml_string(example.calls)}" for example in examples]
    lines = [f"# {comment}", *entries]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _toml_string(calls: str) -> str:
    """A TOML string, if possible without backslashes for quotes."""
    # Literal strings know no escapes, so they cannot hold the quote that ends them
    if "\n" not in calls and "'" not in calls:
        return f"'{calls}'"
    if "'''" not in calls and not calls.endswith("'"):
        return f"'''\n{calls}'''"
    return _toml_basic_string(calls)


def _toml_basic_string(text: str) -> str:
    """A basic TOML string, which equals JSON's except for DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _example(
    path: Path,
    domain: Domain,
    question: str,
    calls: object,
) -> Example:
    if not isinstance(calls, str):
        raise BankError(f"{path}: {question!r}: the calls must be a string, found {calls!r}")
    try:
        program = parse(calls, domain)
    except KgQueryError as error:
        raise BankError(f"{path}: {question!r}: {error}") from None

    # The model learns one spelling of each call.
    canonical = render(program)
    if canonical != calls:
        raise BankError(f"{path}: {question!r}: the canonical form is\n{canonical}\nbut the file has\n{calls}")
    return Example(
        domain,
        question,
        calls,
        program,
    )
