"""Turns a question into a program of calls: example bank, choice of examples, prompt, one batch, one repair."""

from agents.kg.writing.bank import BankError, Example, load_bank
from agents.kg.writing.writer import CallRequest, CallWriter, Written, invented_dates

__all__ = ["BankError", "CallRequest", "CallWriter", "Example", "Written", "invented_dates", "load_bank"]
