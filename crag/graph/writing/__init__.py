"""Turns a question into a program of calls: example bank, choice of examples, prompt, one batch, one repair."""

from crag.graph.writing.bank import BankError, Example, load_bank, write_examples
from crag.graph.writing.ceremony_years import with_ceremony_years
from crag.graph.writing.choice import ExampleChoice, ExampleIndex, Neighbourhood
from crag.graph.writing.invented_dates import invented_dates
from crag.graph.writing.nearest_games import with_nearest_games
from crag.graph.writing.prompt import write_completion, write_prompt
from crag.graph.writing.writer import CallRequest, CallWriter, WrittenCalls

__all__ = [
    "BankError",
    "CallRequest",
    "CallWriter",
    "Example",
    "ExampleChoice",
    "ExampleIndex",
    "Neighbourhood",
    "WrittenCalls",
    "invented_dates",
    "load_bank",
    "with_ceremony_years",
    "with_nearest_games",
    "write_completion",
    "write_examples",
    "write_prompt",
]
