"""A count as the number of a list shows it, in the formats of Word (ST_NumberFormat, ECMA-376, part 1, 17.18.59)."""

import re
from collections.abc import Callable

_ROMAN_DIGITS = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"),
    (50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_LARGEST_IN_LETTERS = 5000
"""Word writes no larger number in letters or as a Roman one."""
_LETTERS = "abcdefghijklmnopqrstuvwxyz"

_CARDINALS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_ORDINALS = (
    "zeroth", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
    "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth",
    "nineteenth",
)  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_ZEROS = re.compile(r"0+1(?!\d)")


def show_count(count: int, number_format: str) -> str:
    """A count in a number format. A format that is not known, such as one of another script, shows digits.

    `number_format` is a value of the type, or an example of a custom one: ``001, 002, 003, ...``.

    >>> [show_count(28, form) for form in ("decimal", "lowerLetter", "upperRoman", "ordinal", "001, 002, 003, ...")]
    ['28', 'bb', 'XXVIII', '28th', '028']
    """
    padded = _ZEROS.match(number_format)
    if padded:
        return str(count).zfill(len(padded[0]))
    show = _FORMATS.get(number_format, str)
    return show(count)


def letters_in_turn(count: int) -> str:
    """The letters from a to z, then aa, ab and so on, as on pages and in LibreOffice; there are none for 0.

    >>> letters_in_turn(28)
    'ab'
    """
    letters = ""
    while count > 0:
        count, place = divmod(count - 1, len(_LETTERS))
        letters = _LETTERS[place] + letters
    return letters or "0"


def _roman(count: int) -> str:
    """A Roman number in small letters; there is none for 0."""
    if not 0 < count <= _LARGEST_IN_LETTERS:
        return str(count)
    digits = []
    for value, digit in _ROMAN_DIGITS:
        times, count = divmod(count, value)
        digits.append(digit * times)
    return "".join(digits)


def _letter(count: int) -> str:
    """The letters from a to z, then from aa to zz: behind ``aa`` comes ``bb``, not ``ab``."""
    if not 0 < count <= _LARGEST_IN_LETTERS:
        return str(count)
    repeats, place = divmod(count - 1, len(_LETTERS))
    return _LETTERS[place] * (repeats + 1)


def _ordinal(count: int) -> str:
    """The digits with the ending of English. Word takes that of the language of the document."""
    endings = {1: "st", 2: "nd", 3: "rd"}
    is_regular = count % 100 in {11, 12, 13}
    return f"{count}{'th' if is_regular else endings.get(count % 10, 'th')}"


def _cardinal_words(count: int) -> str:
    """A count below a hundred in English words; a larger one in digits."""
    if not 0 <= count < 100:
        return str(count)
    if count < len(_CARDINALS):
        return _CARDINALS[count].capitalize()
    ten, one = _TENS[count // 10 - 2], count % 10
    return (f"{ten}-{_CARDINALS[one]}" if one else ten).capitalize()


def _ordinal_words(count: int) -> str:
    if not 0 <= count < 100:
        return str(count)
    if count < len(_ORDINALS):
        return _ORDINALS[count].capitalize()
    ten, one = _TENS[count // 10 - 2], count % 10
    return (f"{ten}-{_ORDINALS[one]}" if one else f"{ten[:-1]}ieth").capitalize()


_FORMATS: dict[str, Callable[[int], str]] = {
    "none": lambda _: "",
    "decimalZero": lambda count: f"{count:02}",
    "lowerLetter": _letter,
    "upperLetter": lambda count: _letter(count).upper(),
    "lowerRoman": _roman,
    "upperRoman": lambda count: _roman(count).upper(),
    "ordinal": _ordinal,
    "cardinalText": _cardinal_words,
    "ordinalText": _ordinal_words,
}
