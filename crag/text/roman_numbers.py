"""Roman numbers in small letters, read and written."""

from itertools import pairwise

_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}
_DIGITS = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"),
    (50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip


def read_roman(letters: str) -> int:
    """The value of Roman digits in their usual order. Raises KeyError: another letter.

    >>> read_roman("xliv")
    44
    """
    values = [_VALUES[letter] for letter in letters]
    total = values[-1]
    for value, following in pairwise(values):
        # In "iv" the smaller digit comes first and is subtracted.
        total += -value if value < following else value
    return total


def write_roman(number: int) -> str:
    """A number above 0 in Roman digits.

    >>> write_roman(1994)
    'mcmxciv'
    """
    letters = ""
    for value, digit in _DIGITS:
        times, number = divmod(number, value)
        letters += digit * times
    return letters
