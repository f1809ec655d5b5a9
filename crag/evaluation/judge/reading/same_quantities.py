"""Compares quantities: their values in any unit, at most rounded, and their bounds."""

from dataclasses import replace
from itertools import product

from crag.evaluation.judge.reading.answer_quantity import AnswerQuantity, Bound
from crag.evaluation.judge.reading.units import in_base_unit, is_money
from crag.text.matching import Unit

_TOLERANCE = 0.02
"""A rounded number differs from the exact one by less than this share of it."""
_PERCENTAGE_TOLERANCE = 0.05
"""The same for two percentages."""
_CONVERSION_TOLERANCE = 0.01
"""The same for two units of measure: whoever converts rounds too, 200 mph for 320 km/h."""
# Only for a difference that rounding of the last written digit explains
_ROUNDED_CONVERSION_TOLERANCE = 0.03
_EXACT_DIMENSIONS = frozenset({"time", "calendar"})
"""Dimensions whose units convert without rounding; money is another."""
# What arithmetic with floats alone makes of equal values
_FLOAT_ERROR = 1e-9
YEARS_OF_DECADE = 10
_ROUND_STEP = 1_000
"""A value that is written in whole thousands is rounded."""
_ROUND = 100
"""From here on "over 4,000" is another way to write 4,000 for a bound that is gold; "over 7" is not 7."""


def same_quantity(gold: AnswerQuantity, answer: AnswerQuantity) -> bool:
    """Whether two quantities are the same: era, unit, sign and value; `step` says how a value was rounded.

    A unit that only one names is not a fault; two currencies differ; a gold decade is met by a year of it. Bounds are
    left to `same_bound`.

    >>> from crag.evaluation.judge.reading.quantities import read_quantities
    >>> kilometres, miles = read_quantities("830 km, 516 miles")
    >>> same_quantity(kilometres, miles)
    True
    """
    # "ad" is what no era means, so only "bc" can differ
    if "bc" in (gold.era, answer.era) and gold.era != answer.era:
        return False

    # A year of the 1930s answers "in which decade?", but not the other way round
    if gold.decade is not answer.decade:
        return gold.decade and answer.year_like and 0 <= answer.value - gold.value < YEARS_OF_DECADE

    # 5 % and $5 never agree, 5 % and a bare 5 do
    if gold.percent != answer.percent and (gold.currency or answer.currency):
        return False

    # A share instead of a percentage: 0.12 for 12 %, 0.005 for 0.5 %.
    if gold.percent and not answer.units and abs(answer.value) < 1 and not _same_value(gold, answer):
        answer = _as_percentage(answer, gold)
    elif answer.percent and not gold.units and abs(gold.value) < 1 and not _same_value(gold, answer):
        gold = _as_percentage(gold, answer)

    # One of them is bare, so there is nothing to convert
    if not gold.units or not answer.units:
        return _same_value(_in_whole_currency(gold), _in_whole_currency(answer))
    for gold_unit, answer_unit in product(gold.units, answer.units):
        is_same_dimension = gold_unit.dimension == answer_unit.dimension
        if is_same_dimension and _same_in_base_unit(gold, gold_unit, answer, answer_unit):
            return True
    return False


def _as_percentage(share: AnswerQuantity, percentage: AnswerQuantity) -> AnswerQuantity:
    return replace(share, value=100 * share.value, step=100 * share.step, units=percentage.units)


def _in_whole_currency(quantity: AnswerQuantity) -> AnswerQuantity:
    """Cents as dollars: a bare 0.31 beside 31 cents is dollars."""
    if not quantity.currency or quantity.units[0].size == 1:
        return quantity
    size = float(quantity.units[0].size)
    return replace(quantity, value=size * quantity.value, step=size * quantity.step)


def _same_in_base_unit(
    gold: AnswerQuantity,
    gold_unit: Unit,
    answer: AnswerQuantity,
    answer_unit: Unit,
) -> bool:
    if gold_unit == answer_unit:
        return _same_value(gold, answer)

    gold_value = in_base_unit(gold.value, gold_unit)
    answer_value = in_base_unit(answer.value, answer_unit)
    difference = abs(gold_value - answer_value)
    gold_step = gold.step * float(gold_unit.size)
    answer_step = answer.step * float(answer_unit.size)
    # 90 minutes are exactly 1.5 hours; 324 m are 1,062.99 ft, which everybody rounds
    is_exact = gold_unit.dimension in _EXACT_DIMENSIONS or is_money(gold_unit)
    if difference <= (0.0 if is_exact else _CONVERSION_TOLERANCE) * abs(gold_value) + _FLOAT_ERROR:
        return True

    # At most half of the last written digit, in the coarser of the two
    is_rounded = difference <= 0.5 * max(gold_step, answer_step)
    return is_rounded and difference <= _ROUNDED_CONVERSION_TOLERANCE * abs(gold_value)


def _same_value(gold: AnswerQuantity, answer: AnswerQuantity) -> bool:
    """Whether the values are equal, or one is the other rounded, less than 2 % away (shares: 5 %)."""
    # Relative, as the error of floats grows with their size
    difference = abs(gold.value - answer.value)
    if difference <= _FLOAT_ERROR * max(1.0, abs(gold.value)):
        return True

    # Years and whole numbers are not rounded.
    if gold.year_like or (gold.step == 1 and answer.step == 1):
        return False

    # 2 % of 12 % would not allow "12.4 %" to be written as 12 %
    tolerance = _PERCENTAGE_TOLERANCE if gold.percent and answer.percent else _TOLERANCE
    return _is_rounded(gold, answer, difference) and difference <= tolerance * abs(gold.value)


def _is_rounded(gold: AnswerQuantity, answer: AnswerQuantity, difference: float) -> bool:
    """Whether one value is the other rounded to its last written digit; a half is rounded away from zero."""
    coarse, fine = (gold, answer) if gold.step > answer.step else (answer, gold)
    excess = difference - 0.5 * coarse.step
    if abs(excess) <= _FLOAT_ERROR * max(1.0, abs(coarse.value)):
        return abs(coarse.value) > abs(fine.value)
    return excess < 0


def same_bound(
    gold: AnswerQuantity,
    answer: AnswerQuantity,
    *,
    asks_limit: bool,
    is_approximate: bool,
) -> bool:
    """Whether the bounds of two equal or nearly equal values agree.

    Two bounds must have the same direction; "nearly 4,000" contradicts "over 4,000". A gold "over 4,000" or "at least
    4,000" is met by 4,000 and by 4,032, not by 3,990; "under 4,000" by no number that is equal. An answer with a bound
    does not say a gold value without one, "fewer than 7" for 7, unless the question asks for a limit, the bound is true
    of an approximate value, or 4,032 was rounded.
    """
    if Bound.NEARLY in {gold.bound, answer.bound}:
        return not (gold.bound.is_lower or answer.bound.is_lower)
    if gold.bound is not Bound.NONE and answer.bound is not Bound.NONE:
        return gold.bound.is_lower == answer.bound.is_lower

    # Here both are without a bound
    if gold.bound is answer.bound:
        return True

    # Exactly one has a bound now
    limit, value = (gold, answer) if answer.bound is Bound.NONE else (answer, gold)
    # How far the value lies on the permitted side
    excess = value.value - limit.value if limit.bound.is_lower else limit.value - value.value
    is_equal = abs(excess) <= _FLOAT_ERROR * max(1.0, abs(limit.value))
    if not is_equal:
        return excess > 0
    return _allows_equal(
        limit,
        value,
        is_gold=limit is gold,
        is_approximate=is_approximate,
        asks_limit=asks_limit,
    )


def _allows_equal(
    limit: AnswerQuantity,
    value: AnswerQuantity,
    *,
    is_gold: bool,
    is_approximate: bool,
    asks_limit: bool,
) -> bool:
    """Whether the limit of a bound and the same value without one agree."""
    if limit.bound in {Bound.AT_LEAST, Bound.AT_MOST}:
        return is_gold or asks_limit

    # "after 1990" excludes 1990 itself
    if limit.bound is Bound.UNDER or limit.year_like:
        return False

    # "over 4,000" often stands for 4,032 written as 4,000
    is_round = abs(limit.value) >= _ROUND and (is_gold or is_approximate or value.step >= _ROUND_STEP)
    return is_round or (asks_limit and not is_gold)
