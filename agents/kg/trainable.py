"""The interface for training: the language, the schema, and the steps that make and run questions with calls."""

from agents.kg.client import CallLimits, KgClient
from agents.kg.derive import derived_answer
from agents.kg.direct import direct_answer
from agents.kg.entities import League, nicknames, team_spelling
from agents.kg.executor import Executor, ProgramResult, Task
from agents.kg.language import (
    Argument,
    Average,
    Call,
    Condition,
    KgQueryError,
    Operator,
    Program,
    Sort,
    Statement,
    parse,
    render,
)
from agents.kg.path import facts_of
from agents.kg.results import Result, Status, Value
from agents.kg.schema import Domain, ParameterKind, load_schema
from agents.kg.writing import CallRequest, CallWriter, Example, Written, load_bank
from agents.kg.writing.bank import write_examples
from agents.kg.writing.choice import ExampleChoice, ExampleIndex
from agents.kg.writing.prompt import write_prompt
from agents.matching import normalise_name

__all__ = [
    "Argument",
    "Average",
    "Call",
    "CallLimits",
    "CallRequest",
    "CallWriter",
    "Condition",
    "Domain",
    "Example",
    "ExampleChoice",
    "ExampleIndex",
    "Executor",
    "KgClient",
    "KgQueryError",
    "League",
    "Operator",
    "ParameterKind",
    "Program",
    "ProgramResult",
    "Result",
    "Sort",
    "Statement",
    "Status",
    "Task",
    "Value",
    "Written",
    "derived_answer",
    "direct_answer",
    "facts_of",
    "load_bank",
    "load_schema",
    "nicknames",
    "normalise_name",
    "parse",
    "render",
    "team_spelling",
    "write_examples",
    "write_prompt",
]
