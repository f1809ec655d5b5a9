"""The sum or the mean of the values of several names: "the combined market cap of abc and xyz"."""

import re
from fractions import Fraction

from crag.graph.derive.readings import Derived, RuleInputs, derive_amount, names_that_differ, read_amount
from crag.graph.masked_question import AVERAGE, TOTAL
from crag.graph.schema import NumberKind
from crag.text.reasoning import Quantity, in_words

_IN_TOTAL = re.compile(r"\bin total\b")
_ASKS_MORE = re.compile(
    r"\d|\b(?:not|than|or|both|each|per|more|less|fewer|most|least|difference|highest|lowest|since|until|before|after)\b|n't\b"
)
"""What asks for more than a sum over the names: a year, a comparison, single values."""


def of_all_names(inputs: RuleInputs) -> Derived | None:
    """The sum or the mean of one number of each name; None for counts, in which names may share rows."""
    is_mean = AVERAGE.search(inputs.question) is not None
    is_sum = TOTAL.search(inputs.question) is not None or _IN_TOTAL.search(inputs.question) is not None
    if is_mean is is_sum or inputs.is_yes_or_no or len(inputs.readings) < 2:
        return None

    names = names_that_differ(inputs.readings)
    if not names or not all(inputs.masked.mark(name) for name in names):
        return None
    # The digits of masked names are not the question's
    if _ASKS_MORE.search(re.sub(r"@\d+", " ", inputs.question)):
        return None

    numbers = _read_single_numbers(inputs)
    if numbers is None:
        return None
    column = inputs.readings[0].column
    unsummable = {NumberKind.RANK} if is_mean else {NumberKind.RANK, NumberKind.RATIO}
    if column is None or column.kind in unsummable:
        return None

    total = sum((number.number for number in numbers), Fraction(0))
    value = total / len(numbers) if is_mean else total
    how = "the mean of" if is_mean else "the sum of"
    written = ", ".join(in_words(number) for number in numbers)
    return derive_amount(Quantity(value, numbers[0].unit), f"{how} {written}", column.unit)


def _read_single_numbers(inputs: RuleInputs) -> list[Quantity] | None:
    """The number of each name; None if one has none or several, or if it is a count of rows."""
    numbers: list[Quantity] = []
    for reading in inputs.readings:
        if reading.counted or reading.averaged or len(reading.values) != 1:
            return None
        amount = read_amount(inputs.masked, reading)
        if not isinstance(amount, Quantity):
            return None
        numbers.append(amount)
    return numbers
