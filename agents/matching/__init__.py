"""Read numbers, dates, measures, names and lists from texts, and tell whether two of them are the same.

Used by the judge, by labels, by calibration and by answers that are computed.
"""

from agents.matching.dates import PlacedDate, placed_dates, read_dates, without_dates
from agents.matching.lists import count_listed, split_list
from agents.matching.numbers import MAGNITUDES, Number, read_numbers, same_number
from agents.matching.units import (
    CURRENCIES,
    DAYS,
    MONTHS,
    PERCENT,
    PLAIN,
    UNITS,
    WEEKS,
    YEARS,
    Measure,
    Unit,
    read_measures,
    same_measure,
)
from agents.matching.words import (
    NUMBER_WORDS,
    STOP_WORDS,
    alike,
    content,
    found_in,
    normalise,
    position_of,
    recall,
    stem,
    tokens,
    words,
)

__all__ = [
    "CURRENCIES",
    "DAYS",
    "MAGNITUDES",
    "MONTHS",
    "NUMBER_WORDS",
    "PERCENT",
    "PLAIN",
    "STOP_WORDS",
    "UNITS",
    "WEEKS",
    "YEARS",
    "Measure",
    "Number",
    "PlacedDate",
    "Unit",
    "alike",
    "content",
    "count_listed",
    "found_in",
    "normalise",
    "placed_dates",
    "position_of",
    "read_dates",
    "read_measures",
    "read_numbers",
    "recall",
    "same_measure",
    "same_number",
    "split_list",
    "stem",
    "tokens",
    "without_dates",
    "words",
]
