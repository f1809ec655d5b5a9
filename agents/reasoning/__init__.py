"""Rule-based reasoning: reads quantities and dates, evaluates formulas without running code (WeKnow-RAG).

`evaluate` computes a formula such as "days between 2019-03-01 and 2020-02-11". `computed` detects formulas in a model's
answer. `in_words` writes a value.
"""

from agents.reasoning.expression import evaluate
from agents.reasoning.for_answers import computed
from agents.reasoning.values import CalendarDate, ExpressionError, Quantity, Value, in_words, read_value

__all__ = ["CalendarDate", "ExpressionError", "Quantity", "Value", "computed", "evaluate", "in_words", "read_value"]
