"""Reasoning over values by rules: quantities and dates read from text, and a formula worked out without running code.

WeKnow-RAG puts temporal, numeric and logical questions through such post-processing. `evaluate` reads a formula such as
"days between 2019-03-01 and 2020-02-11", `computed` finds out whether a model's answer is one, and `in_words` says a
value. Used by answers from the knowledge graph and from the web alike.
"""

from agents.reasoning.arithmetic import Value
from agents.reasoning.errors import ExpressionError, Fault
from agents.reasoning.expression import evaluate
from agents.reasoning.for_answers import Computation, computed
from agents.reasoning.quantities import CalendarDate, Quantity, read_value
from agents.reasoning.words import in_words

__all__ = [
    "CalendarDate",
    "Computation",
    "ExpressionError",
    "Fault",
    "Quantity",
    "Value",
    "computed",
    "evaluate",
    "in_words",
    "read_value",
]
