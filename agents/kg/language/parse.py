"""Text of a language model or a person -> the program that it means."""

from dataclasses import dataclass

from lark import UnexpectedInput

from agents.kg.language.bind import Binder
from agents.kg.language.errors import ErrorKind
from agents.kg.language.faults import bracket_fault, depth_fault, error, name_fault
from agents.kg.language.program import Program
from agents.kg.language.syntax import read
from agents.kg.schema import Domain, load_schema


@dataclass(frozen=True, slots=True)
class Limits:
    """What a program may cost to read and to run. The longest labelled one has 250 bytes and 4 statements."""

    max_bytes: int = 2000
    max_depth: int = 8
    """Brackets open at once; a list of conditions has 3."""
    max_statements: int = 8


DEFAULT = Limits()


def parse(text: str, domain: Domain, limits: Limits = DEFAULT) -> Program:
    """The program that a text means in a domain.

    It accepts the slips of models as long as they leave no doubt (docs/kg_language.md lists them), and brings tables
    and keys to the names of the schema: two texts that ask the same give equal programs. An empty text, and `None`,
    give the empty program.

    Raises:
        KgQueryError: and nothing else, whatever the text is. Reading takes half a millisecond, and 50 ms for the worst
            text within the limits.
    """
    # Characters first: encoding a text of megabytes only to learn its length would cost more than all the rest.
    if len(text) > limits.max_bytes or len(text.encode("utf-8", errors="replace")) > limits.max_bytes:
        cut = text[: limits.max_bytes]
        raise error(ErrorKind.TOO_LONG, f"at most {limits.max_bytes} bytes", cut, len(cut))
    too_deep = depth_fault(text, limits.max_depth)
    if too_deep is not None:
        raise too_deep
    try:
        items = read(text)
    except UnexpectedInput as raised:
        raise name_fault(text, raised) from None
    left_open = bracket_fault(text)
    if left_open is not None:
        raise left_open
    return Binder(text, load_schema(domain)).bind(items, limits.max_statements)
