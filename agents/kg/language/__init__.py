"""The regularised query language of the knowledge graph (db3 section 3.2): text -> program -> its one canonical form.

`parse` reads what a model wrote, `render` writes the canonical form, `constraint` is the grammar for constrained
decoding. docs/kg_language.md teaches the language.
"""

from agents.kg.language.constraint import constraint
from agents.kg.language.faults import ErrorKind, Fault, KgQueryError
from agents.kg.language.parse import parse
from agents.kg.language.program import (
    Argument,
    Average,
    Call,
    Condition,
    Key,
    Operator,
    Previous,
    Program,
    Sort,
    Statement,
    Take,
    render,
)

__all__ = [
    "Argument",
    "Average",
    "Call",
    "Condition",
    "ErrorKind",
    "Fault",
    "Key",
    "KgQueryError",
    "Operator",
    "Previous",
    "Program",
    "Sort",
    "Statement",
    "Take",
    "constraint",
    "parse",
    "render",
]
