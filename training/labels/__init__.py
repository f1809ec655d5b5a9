"""db3's labels for tuning the answering model (section 2.4, steps 1 to 3.2.2)."""

from training.labels.basic_answers import BasicAnswer, basic_answers
from training.labels.branches import Branch, Labelled, label
from training.labels.in_context import ContextCheck, ContextResult, RulesContextCheck

__all__ = [
    "BasicAnswer",
    "Branch",
    "ContextCheck",
    "ContextResult",
    "Labelled",
    "RulesContextCheck",
    "basic_answers",
    "label",
]
