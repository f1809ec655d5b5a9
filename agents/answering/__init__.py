"""From context to the final string: prompts, the answering model, decisions and normal form."""

from agents.answering.answerer import NO_DRAFT, Answerer, Draft
from agents.answering.decide import abstain, decide, low_relevance
from agents.answering.normalise import MAX_TOKENS, normalise, trim_to_tokens

__all__ = [
    "MAX_TOKENS",
    "NO_DRAFT",
    "Answerer",
    "Draft",
    "abstain",
    "decide",
    "low_relevance",
    "normalise",
    "trim_to_tokens",
]
