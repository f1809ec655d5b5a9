"""Text of a language model or a person -> the program that it means."""

from lark import UnexpectedInput

from agents.kg.language.bind import Binder
from agents.kg.language.faults import ErrorKind, bracket_fault, depth_fault, error, name_fault
from agents.kg.language.program import Program
from agents.kg.language.syntax import read
from agents.kg.schema import Domain, load_schema

MAX_BYTES = 2000
MAX_DEPTH = 8
"""Brackets open at once; a list of conditions has 3."""
MAX_STATEMENTS = 8
"""The longest labelled program has 250 bytes and 4 statements."""


def parse(text: str, domain: Domain) -> Program:
    """The program that a text means in a domain.

    It accepts the slips of models as long as they leave no doubt (docs/kg_language.md), and uses the names of the
    schema: two texts that ask the same give equal programs. An empty text and `None` give the empty program.

    Raises:
        KgQueryError: and nothing else, whatever the text. Reading takes 0.5 ms, and 50 ms for the worst text within the
            limits.
    """
    # Characters first: encoding megabytes of text only to measure it would cost more than all the rest.
    if len(text) > MAX_BYTES or len(text.encode("utf-8", errors="replace")) > MAX_BYTES:
        cut = text[:MAX_BYTES]
        raise error(ErrorKind.TOO_LONG, f"at most {MAX_BYTES} bytes", cut, len(cut))
    too_deep = depth_fault(text, MAX_DEPTH)
    if too_deep is not None:
        raise too_deep
    try:
        items = read(text)
    except UnexpectedInput as raised:
        raise name_fault(text, raised) from None
    left_open = bracket_fault(text)
    if left_open is not None:
        raise left_open
    return Binder(text, load_schema(domain)).bind(items, MAX_STATEMENTS)
