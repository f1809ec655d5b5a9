"""How the evaluator cuts an answer, as a function with a name that goes into the signature of every number."""

from collections.abc import Callable
from dataclasses import dataclass

from agents.answering import MAX_TOKENS, trim_to_tokens
from agents.settings import TRIM_TOKENIZER
from models.manifest import UnknownModelError, WeightsMissingError, locate


@dataclass(frozen=True, slots=True)
class Trim:
    """`cut` gives what the evaluator keeps of an answer; `name` says how exactly that is known here."""

    name: str
    cut: Callable[[str], str]


def official_trim() -> Trim:
    """The official cut to 75 Llama-2 tokens; by a safe bound, which keeps less, where that tokenizer is missing."""
    try:
        locate(TRIM_TOKENIZER)
    except (WeightsMissingError, UnknownModelError):
        return Trim(f"bound{MAX_TOKENS}", trim_to_tokens)
    return Trim(f"llama2-{MAX_TOKENS}", trim_to_tokens)
