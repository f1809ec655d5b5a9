"""English words for numbers, and counts made of them: "twenty-five", "a hundred and two", "half a dozen"."""

import re
from fractions import Fraction

# fmt: off
SMALL_NUMBER_WORDS = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)
TENS_WORDS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_SMALL_ORDINALS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth",
    "twentieth",
)
# fmt: on

NUMBER_WORDS = {
    **{word: value for value, word in enumerate(SMALL_NUMBER_WORDS)},
    **{word: 10 * value for value, word in enumerate(TENS_WORDS, start=2)},
}
ORDINAL_WORDS = {
    **{word: value for value, word in enumerate(_SMALL_ORDINALS, start=1)},
    **{word.removesuffix("y") + "ieth": NUMBER_WORDS[word] for word in TENS_WORDS},
}

_MULTIPLES = {"dozen": 12, "hundred": 100, "thousand": 1000}

# --- patterns ---------------------------------------------------------------------------------------------------------
_ONES = "|".join(SMALL_NUMBER_WORDS[1:10])
_TEENS = "|".join(SMALL_NUMBER_WORDS[10:])
_TENS = "|".join(TENS_WORDS)
_BELOW_100 = f"(?:(?:{_TENS})(?:[ -](?:{_ONES}))?|{'|'.join(reversed(SMALL_NUMBER_WORDS))})"
_MULTIPLIER = f"(?:an?|{_BELOW_100})"

YEAR_IN_WORDS = (
    r"(?:"
    # "nineteen ninety-nine", "nineteen oh five", "twenty twenty", "eighteen hundred and fifty"
    r"(?:eighteen|nineteen|twenty)[ -]"
    rf"(?:hundred(?:(?: and)? {_BELOW_100})?|oh?[ -](?:{_ONES})|(?:{_TEENS})|(?:{_TENS})(?:[ -](?:{_ONES}))?)"
    rf"|two thousand(?:(?: and)? {_BELOW_100})?"
    r")"
    # not part of a larger number: "two thousand five hundred"
    r"(?![ -](?:hundred|thousand|million|billion|and [a-z]{1,9} hundred)\b)"
)
"""The pattern of a year, 1800 to 2099, as it is spoken. In another place the same words count or name something."""

HUNDREDS_IN_WORDS = rf"(?:{_ONES})[ -]hundred(?:(?: and)?[ -]{_BELOW_100})?"
"""The pattern of a number from 100 to 999: "one hundred and one". `read_count` reads it."""

COUNT = (
    r"(?<![a-z]-)"  # not the end of a compound word, such as "post-nine"
    r"(?:"
    r"[0-9]{1,3}(?:,?[0-9]{3})?(?:\.5)?"
    rf"|(?:half )?(?:{_MULTIPLIER} )?(?:dozen|couple)(?: of)?"
    rf"|{_MULTIPLIER}[ -]thousand(?:(?: and|,)?[ -]{_MULTIPLIER}[ -]hundred)?(?:(?: and)?[ -]{_BELOW_100})?"
    rf"|{_MULTIPLIER}[ -]hundred(?:(?: and)?[ -]{_BELOW_100})?"
    rf"|{_BELOW_100}"
    r"|an?"
    r")"
    r"(?: and (?:a|one)[ -]half)?"
)
"""The pattern of a count, without a group: "12", "1,000", "2.5", "a", "twenty-five", "a dozen", "two and a half"."""


def read_count(written: str) -> Fraction:
    """The number of a count that matches `COUNT`, in lower case.

    >>> read_count("one hundred and twenty-five"), read_count("two and a half"), read_count("half a dozen")
    (Fraction(125, 1), Fraction(5, 2), Fraction(6, 1))
    """
    whole, half_added, _ = written.partition(" and a half")
    if not half_added:
        whole, half_added, _ = re.sub(r"\b(?:one|a)-half", "one half", written).partition(" and one half")

    total = Fraction(0)  # of the thousands that are complete
    group = Fraction(0)
    for word in re.split(r"[ -]", whole.replace(",", "")):
        if word in {"hundred", "dozen"}:
            group = (group or Fraction(1)) * _MULTIPLES[word]
        elif word == "thousand":
            total += (group or Fraction(1)) * _MULTIPLES[word]
            group = Fraction(0)
        elif word == "couple":
            group = (group or Fraction(1)) * 2
        elif word in NUMBER_WORDS:
            group += NUMBER_WORDS[word]
        elif word in {"a", "an"}:
            group += 1
        elif word[:1].isdigit():
            group += Fraction(word)

    if whole.startswith("half "):
        group /= 2
    return total + group + (Fraction(1, 2) if half_added else 0)


def read_year_in_words(written: str) -> int:
    """The year of words that match `YEAR_IN_WORDS`, in lower case.

    >>> read_year_in_words("nineteen ninety-nine"), read_year_in_words("two thousand and eight")
    (1999, 2008)
    """
    century, *rest = re.split(r"[ -]", written)
    if century == "two":
        return int(read_count(written))
    # "Oh", "hundred" and "and" add nothing: "nineteen oh five", "nineteen hundred and five".
    return 100 * NUMBER_WORDS[century] + sum(NUMBER_WORDS.get(word, 0) for word in rest)
