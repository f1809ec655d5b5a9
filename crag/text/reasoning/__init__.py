"""Rule-based reasoning: reads quantities and dates, evaluates formulas without running code (WeKnow-RAG).

`computed` computes a formula in a model's answer, such as "= days between 2019-03-01 and 2020-02-11". `in_words` writes
a value.
"""

from crag.text.reasoning.arithmetic import arithmetic as arithmetic
from crag.text.reasoning.for_answers import computed as computed
from crag.text.reasoning.values import CalendarDate as CalendarDate
from crag.text.reasoning.values import ExpressionError as ExpressionError
from crag.text.reasoning.values import Quantity as Quantity
from crag.text.reasoning.values import in_words as in_words
