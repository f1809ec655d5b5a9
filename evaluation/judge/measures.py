"""The rule for lengths, weights and times in another unit than the gold answer's."""

import re
from typing import NamedTuple

from evaluation.judge.case import Case, Finding
from evaluation.judge.text import clean

_LENGTHS = {"mm": 0.001, "cm": 0.01, "m": 1.0, "km": 1000.0, "in": 0.0254, "ft": 0.3048, "yd": 0.9144, "mi": 1609.344}
_WEIGHTS = {"g": 1.0, "kg": 1000.0, "lb": 453.592, "oz": 28.3495, "t": 1_000_000.0}
_TIMES = {"second": 1.0, "minute": 60.0, "hour": 3600.0, "day": 86400.0, "week": 604800.0, "month": 2629800.0,
          "year": 31557600.0}  # fmt: skip
_UNITS = {
    unit: (kind, size)
    for kind, table in (("length", _LENGTHS), ("weight", _WEIGHTS), ("time", _TIMES))
    for unit, size in table.items()
}
_WRITTEN = {
    "mm": "millimet(?:er|re)s?", "cm": "centimet(?:er|re)s?", "m": "met(?:er|re)s?", "km": "kilomet(?:er|re)s?|kms",
    "in": "inch(?:es)?", "ft": "foot|feet", "yd": "yards?|yds", "mi": "miles?", "g": "grams?",
    "kg": "kilos?|kilograms?|kgs", "lb": "lbs|pounds?", "oz": "ounces?", "t": "tonnes?|metric tons?",
    "second": "seconds?|secs?", "minute": "minutes?|mins?", "hour": "hours?|hrs?", "day": "days?", "week": "weeks?",
    "month": "months?", "year": "years?|yrs?",
}  # fmt: skip
_LONG_NAMES = "|".join(f"(?P<{unit}_>{written}|{unit})" for unit, written in _WRITTEN.items())
_MEASURE = re.compile(
    rf"(?<![\w.,])(?P<number>\d{{1,3}}(?:,\d{{3}})+(?:\.\d+)?|\d+(?:\.\d+)?)[\s-]?(?:{_LONG_NAMES})\b"
)
_FEET_AND_INCHES = re.compile(
    r"(?<![\w.])(\d)\s?-?(?:'|ft\.?|feet|foot)[\s-]*(\d{1,2})\s?-?(?:\"|''|in\b|inch(?:es)?\b)?"
)


class Measure(NamedTuple):
    """An amount in its dimension's base unit; `step` is the value of its last written digit."""

    dimension: str
    unit: str
    value: float
    step: float


def measures(text: str) -> list[Measure]:
    """The lengths, weights and times of a text in order; 6 feet 2 inches are one length."""
    joined = _FEET_AND_INCHES.sub(lambda found: f"{12 * int(found[1]) + int(found[2])} inches", clean(text))
    return [_measure(found) for found in _MEASURE.finditer(joined)]


def _measure(found: re.Match[str]) -> Measure:
    unit = next(name for name in _UNITS if found[f"{name}_"])
    dimension, size = _UNITS[unit]
    digits = found["number"].replace(",", "")
    decimals = len(digits.partition(".")[2])
    return Measure(dimension, unit, float(digits) * size, size * 10.0**-decimals)


def same_measure(case: Case) -> Finding | None:
    """A gold answer that is one measure, where the prediction measures the same in other units alone.

    They are the same if they differ by less than 1 %, or by less than half of the last digit written and 3 %.
    """
    gold = measures(case.gold)
    if len(gold) != 1 or case.is_sentence:
        return None
    said = [measure for measure in measures(case.prediction) if measure.dimension == gold[0].dimension]
    if not said or any(measure.unit == gold[0].unit for measure in said):
        return None
    same = any(_same(gold[0], measure) for measure in said)
    what = "comes to the same" if same else "comes to another"
    return Finding(same, f"the prediction in other units {what} {gold[0].dimension}")


def _same(gold: Measure, said: Measure) -> bool:
    difference = abs(gold.value - said.value)
    rounded = difference <= 0.5 * max(gold.step, said.step) and difference <= 0.03 * gold.value
    return rounded or difference <= 0.01 * gold.value
