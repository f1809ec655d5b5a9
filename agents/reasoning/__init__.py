"""Rule-based reasoning: reads quantities and dates, evaluates formulas without running code (WeKnow-RAG).

`computed` computes a formula in a model's answer, such as "= days between 2019-03-01 and 2020-02-11". `in_words` writes
a value.
"""

from agents.reasoning.expression import arithmetic as arithmetic
from agents.reasoning.for_answers import computed as computed
from agents.reasoning.values import CalendarDate as CalendarDate
from agents.reasoning.values import ExpressionError as ExpressionError
from agents.reasoning.values import Quantity as Quantity
from agents.reasoning.values import in_words as in_words
