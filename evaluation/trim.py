"""The evaluator's cut of answers, with a name for the signature."""

from collections.abc import Callable
from dataclasses import dataclass

from agents.answering import MAX_TOKENS, trim_to_tokens
from agents.settings import TRIM_TOKENIZER
from models.manifest import UnknownModelError, WeightsMissingError, locate


@dataclass(frozen=True, slots=True)
class Trim:
    """`cut` cuts an answer like the evaluator; `name` says how exact it is."""

    name: str
    cut: Callable[[str], str]


def official_trim() -> Trim:
    """The official cut to 75 Llama-2 tokens; without that tokenizer a safe bound, which keeps less."""
    try:
        locate(TRIM_TOKENIZER)
    except (WeightsMissingError, UnknownModelError):
        return Trim(f"bound{MAX_TOKENS}", trim_to_tokens)
    return Trim(f"llama2-{MAX_TOKENS}", trim_to_tokens)
