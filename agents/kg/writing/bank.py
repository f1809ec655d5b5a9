"""The example bank: questions and their programs, one TOML file per domain, checked as they are loaded.

In a file the key is the question and the value is the program, one statement a line, in the canonical form.
"""

import functools
import tomllib
from dataclasses import dataclass
from pathlib import Path

from agents.kg.language import KgQueryError, parse, render
from agents.kg.language.program import Program
from agents.kg.schema import Domain

FOLDER = Path(__file__).parent / "examples"


class BankError(ValueError):
    """A file of examples cannot be used; the message names the file and the question."""


@dataclass(frozen=True, slots=True)
class Example:
    """A question and what it asks the graph; `calls` is the canonical text of `program`."""

    domain: Domain
    question: str
    calls: str
    program: Program


@functools.cache
def load_bank() -> tuple[Example, ...]:
    """The examples of all domains, in the order of the files.

    Raises:
        BankError: a program cannot be read, or is not written in the canonical form.
    """
    return tuple(example for domain in Domain for example in load_examples(FOLDER / f"{domain}.toml", domain))


def load_examples(path: Path, domain: Domain) -> tuple[Example, ...]:
    """The examples of one file, in its order.

    Raises:
        BankError: not TOML, a program cannot be read, or is not written in the canonical form.
    """
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BankError(f"{path}: cannot be read: {error}") from None
    return tuple(_example(path, domain, question, calls) for question, calls in entries.items())


def _example(path: Path, domain: Domain, question: str, calls: object) -> Example:
    if not isinstance(calls, str):
        raise BankError(f"{path}: {question!r}: the calls must be a text, found {calls!r}")
    try:
        program = parse(calls, domain)
    except KgQueryError as error:
        raise BankError(f"{path}: {question!r}: {error}") from None
    canonical = render(program)
    if canonical != calls:
        raise BankError(f"{path}: {question!r}: the canonical form is\n{canonical}\nbut the file has\n{calls}")
    return Example(domain, question, calls, program)
