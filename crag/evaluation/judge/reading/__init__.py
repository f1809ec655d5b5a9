"""Reads an answer into typed parts; gold answers, predictions and questions are read by the same code.

| kind | examples | read by | compared by |
|---|---|---|---|
| yes or no | "Certainly not.", "He did.", "That is correct." | `polarity` | the same polarity |
| what is denied | "not X but Y", "X did not found it", "neither X nor Y" | `denial` | left out of the prediction |
| signs of names | C++, B-, "C sharp" | `signed_names` | a name with another sign is another name |
| head of a phrase | "the daughter of X", "X's team", "30 km from X" | `relatives` | X is not named by a complement |
| quantity | `-$1.25`, "a loss of 3 %", 5 ft 11 in, 450 BC, ₹5 crore | `quantities`, `units` | value, sign, unit, era |
| bound | "over 4,000", "7 or more", "before 1990" | `beside_quantities` | the same direction |
| spelled number | "one hundred and twenty", 2½, "half a million" | `spelled` | as the quantity in digits |
| several numbers | 3-1, 5:3, 7/2, 10 to 12, 2021-22 | `series` | all numbers in order |
| time of day | 7:30 pm, 19:30, "half past seven" | `clocks` | the same minute |
| several days | July 4-6, 1939 | `crag.text.matching` | the first and the last day |
| whole date | 4 July 1939 | `crag.text.matching` | the same day |
| anything else | a name, a phrase, a list | `crag.text.matching` | as words |

What cannot be read as one of the first kinds is compared as words.
"""

import datetime as dt
import functools

from crag.evaluation.judge.reading.answer_quantity import AnswerQuantity as AnswerQuantity
from crag.evaluation.judge.reading.answer_quantity import Bound as Bound
from crag.evaluation.judge.reading.beside_quantities import read_direction as read_direction
from crag.evaluation.judge.reading.clocks import Clock as Clock
from crag.evaluation.judge.reading.clocks import read_clocks as read_clocks
from crag.evaluation.judge.reading.clocks import same_clock as same_clock
from crag.evaluation.judge.reading.quantities import read_quantities as read_quantities
from crag.evaluation.judge.reading.same_quantities import same_bound as same_bound
from crag.evaluation.judge.reading.same_quantities import same_quantity as same_quantity
from crag.evaluation.judge.reading.series import Series as Series
from crag.evaluation.judge.reading.series import numbers_in_order as numbers_in_order
from crag.evaluation.judge.reading.series import read_series as read_series
from crag.evaluation.judge.reading.series import same_series as same_series
from crag.evaluation.judge.reading.spelled import plain_text as plain_text
from crag.text.matching import DaySpan, read_dates, read_day_spans, read_listed_days, tokens, without_dates


class AnswerReading:
    """The typed parts of a text, read when they are needed. `read_answer` makes and caches it.

    `plain` is the text in lower case with all numbers in digits.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.plain = plain_text(text)
        self.tokens = tokens(self.plain)

    @functools.cached_property
    def undated(self) -> str:
        """The plain text without whole dates."""
        return without_dates(self.plain)

    @functools.cached_property
    def quantities(self) -> list[AnswerQuantity]:
        """The quantities in order; their positions are in `undated`."""
        return read_quantities(self.undated)

    @functools.cached_property
    def series(self) -> list[Series]:
        """Scores, ranges, ratios and seasons in order; their positions are in `undated`."""
        return read_series(self.undated)

    @functools.cached_property
    def clocks(self) -> list[Clock]:
        """The times of day in order; their positions are in `undated`."""
        return read_clocks(self.undated)

    @functools.cached_property
    def dates(self) -> set[dt.date]:
        """The whole dates."""
        return read_dates(self.text)

    @functools.cached_property
    def day_spans(self) -> set[DaySpan]:
        """The spans of days, "July 4-6, 1939"."""
        return read_day_spans(self.text)

    @functools.cached_property
    def listed_days(self) -> set[dt.date]:
        """The days of whole dates, of lists and of spans: three of "July 4, 5 and 7, 1939"."""
        return read_listed_days(self.text)


@functools.lru_cache(maxsize=4096)
def read_answer(text: str) -> AnswerReading:
    """The typed parts of an answer or a question.

    >>> [quantity.value for quantity in read_answer("two and a half million").quantities]
    [2500000.0]
    """
    return AnswerReading(text)
