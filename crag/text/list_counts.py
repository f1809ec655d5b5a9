"""Writes a count as the number of a list item, in the formats of Word (ST_NumberFormat, ECMA-376, part 1, 17.18.59)."""

import re
from collections.abc import Callable, Mapping

from crag.text.number_words import NUMBER_WORDS, ORDINAL_WORDS
from crag.text.roman_numbers import write_roman

_LARGEST_IN_LETTERS = 5000
"""Word writes no larger number in letters or as a Roman one."""
_LETTERS = "abcdefghijklmnopqrstuvwxyz"

_CARDINALS = {number: word for word, number in NUMBER_WORDS.items()}
_ORDINALS = {0: "zeroth"} | {number: word for word, number in ORDINAL_WORDS.items()}
"""Words of the numbers up to twenty, and of the tens."""
_ENDINGS = {1: "st", 2: "nd", 3: "rd"}
"""Last digit -> ending of an ordinal number; others have "th"."""
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
        count, letter_index = divmod(count - 1, len(_LETTERS))
        letters = _LETTERS[letter_index] + letters
    return letters or "0"


def _roman(count: int) -> str:
    """A Roman number in small letters; there is none for 0."""
    if not 0 < count <= _LARGEST_IN_LETTERS:
        return str(count)
    return write_roman(count)


def _letter(count: int) -> str:
    """The letters from a to z, then from aa to zz: behind ``aa`` comes ``bb``, not ``ab``."""
    if not 0 < count <= _LARGEST_IN_LETTERS:
        return str(count)
    repeats, letter_index = divmod(count - 1, len(_LETTERS))
    return _LETTERS[letter_index] * (repeats + 1)


def _ordinal(count: int) -> str:
    """The digits with the ending of English. Word takes that of the language of the document."""
    # "11th", not "11st"
    is_teen = count % 100 in {11, 12, 13}
    ending = "th" if is_teen else _ENDINGS.get(count % 10, "th")
    return f"{count}{ending}"


def _in_words(count: int, words: Mapping[int, str]) -> str:
    """A count below a hundred in English, with the last of its words from `words`; a larger one in digits."""
    if not 0 <= count < 100:
        return str(count)
    if count in words:
        return words[count].capitalize()
    ones = count % 10
    return f"{_CARDINALS[count - ones]}-{words[ones]}".capitalize()


_FORMATS: dict[str, Callable[[int], str]] = {
    "none": lambda _: "",
    "decimalZero": lambda count: f"{count:02}",
    "lowerLetter": _letter,
    "upperLetter": lambda count: _letter(count).upper(),
    "lowerRoman": _roman,
    "upperRoman": lambda count: _roman(count).upper(),
    "ordinal": _ordinal,
    "cardinalText": lambda count: _in_words(count, _CARDINALS),
    "ordinalText": lambda count: _in_words(count, _ORDINALS),
}
