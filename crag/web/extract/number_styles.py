"""The styles of numbers that browsers write: of the items of a list, and of counters."""

from collections.abc import Callable
from functools import partial

from crag.text.list_counts import letters_in_turn, show_count

_LOWER_ROMAN, _UPPER_ROMAN, _ZERO = (
    partial(show_count, number_format=name) for name in ("lowerRoman", "upperRoman", "decimalZero")
)
SHOWN: dict[str, Callable[[int], str]] = {
    "decimal": str,
    "decimal-leading-zero": _ZERO,
    "lower-alpha": letters_in_turn,
    "lower-latin": letters_in_turn,
    "upper-alpha": lambda count: letters_in_turn(count).upper(),
    "upper-latin": lambda count: letters_in_turn(count).upper(),
    "lower-roman": _LOWER_ROMAN,
    "upper-roman": _UPPER_ROMAN,
}
"""A style of CSS -> how it shows a count. Any other one, such as ``none`` or ``disc``, shows no number."""
