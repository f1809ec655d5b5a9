"""Roman numerals behind a word, which another text writes in digits: "Apollo XI" and "Apollo 11"."""

import re

from crag.text.roman_numbers import read_roman, write_roman

# Both cases are written out, because ignoring case would also take the dotted "İ" for an I
_WORD_AND_NUMERAL = re.compile(r"\b(?P<before>[a-zA-Z]{3,30}[\s-](?:the\s|The\s)?)(?P<numeral>[ivxlcIVXLC]{1,7})\b")
_NUMERAL_ALONE = re.compile(r"\W{0,3}(?P<numeral>[ivxlcdmIVXLCDM]{2,15})\W{0,3}")


def write_numerals_as_in(text: str, other: str) -> str:
    """The text with Roman numerals in digits where the other text has the same word before these digits.

    >>> write_numerals_as_in("It was Apollo XI.", "apollo 11"), write_numerals_as_in("Malcolm X", "apollo 10")
    ('It was Apollo 11.', 'Malcolm X')
    """
    lowered = other.lower()
    if not re.search(r"\d", lowered):
        return text

    alone = _NUMERAL_ALONE.fullmatch(text)
    if alone and _is_number_in(alone["numeral"].lower(), lowered):
        return str(read_roman(alone["numeral"].lower()))

    def in_digits(match: re.Match[str]) -> str:
        numeral = match["numeral"].lower()
        number = read_roman(numeral)
        # "iiii" is no numeral
        is_numeral = write_roman(number) == numeral
        has_digits = re.search(rf"\b{re.escape(match['before'].lower())}{number}\b", lowered)
        return f"{match['before']}{number}" if is_numeral and has_digits else match[0]

    return _WORD_AND_NUMERAL.sub(in_digits, text)


def _is_number_in(numeral: str, text: str) -> bool:
    number = read_roman(numeral)
    return write_roman(number) == numeral and re.search(rf"\b{number}\b", text) is not None
