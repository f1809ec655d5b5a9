"""How a question becomes a program of calls: example bank, choice of examples, prompt, one batch, one repair."""

from agents.kg.writing.bank import BankError, Example, load_bank
from agents.kg.writing.grounding import invented_dates
from agents.kg.writing.writer import CallRequest, CallWriter, Written

__all__ = ["BankError", "CallRequest", "CallWriter", "Example", "Written", "invented_dates", "load_bank"]
