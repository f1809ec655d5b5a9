"""Numbers in titles: "2", "II", "Two", "Part II", "Chapter Two" and "Vol. 2" are one where the numbers agree."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import replace

from crag.text.matching.names import NameMatch, best_match, plain_name, without_article
from crag.text.number_words import (
    HUNDREDS_IN_WORDS,
    NUMBER_WORDS,
    YEAR_IN_WORDS,
    read_count,
    read_year_in_words,
)
from crag.text.roman_numbers import read_roman, write_roman

_YEAR = re.compile(rf"\b{YEAR_IN_WORDS}\b")
_HUNDREDS = re.compile(rf"\b{HUNDREDS_IN_WORDS}\b")
_PART_WORDS = frozenset({"part", "pt", "chapter", "ch", "volume", "vol", "episode", "ep"})
"""Words that announce the number of a part: with the number they mean no more than the number alone."""

_ROMAN = re.compile(r"(?=[ivxl]{2})(?:xl|l?x{0,3})(?:ix|iv|v?i{0,3})")
"""Roman numbers below 90, of two letters at least: "i", "v" and "x" are more often words and letters."""
_LETTERS = {"i": "1", "v": "5", "x": "10"}
"""Letters that may be numbers: "Rocky V" is Rocky 5, "Malcolm X" no tenth part."""
_SAME_WORDS = {
    "vs": "v",
    "versus": "v",
    "doctor": "dr",
    "mister": "mr",
    "missus": "mrs",
    "saint": "st",
    "brothers": "bros",
}
"""Words that titles have in several spellings."""
_FRACTION_SIGN = re.compile("[¼½¾⅐-⅞]")
_TENS = frozenset(range(20, 100, 10))
_LARGEST_WORD = 20
"""The largest number that titles spell out or write in Roman digits, so that variants are worth a search."""


def title_form(title: str) -> str:
    """A title in plain words with all numbers as digits and without words such as "part" before them.

    >>> title_form("The Godfather, Part II"), title_form("Ocean's Eleven"), title_form("Malcolm X")
    ('godfather 2', 'oceans 11', 'malcolm x')
    """
    words = _write_numbers_in_digits(without_article(plain_name(_write_fractions(title)))).split()
    form: list[str] = []
    for written in words:
        word = _SAME_WORDS.get(written, written)
        is_part = bool(form) and form[-1] in _PART_WORDS
        number = _number_of(word, is_first=not form) or (_LETTERS.get(word) if is_part else None)
        if number is None:
            form.append(word)
            continue

        # "Twenty One" is one number; "2 Fast" begins with a number, so no part word is needed before it
        if form and _completes(form[-1], word):
            form[-1] = str(int(form[-1]) + int(number))
        elif is_part and len(form) > 1:
            form[-1] = number
        else:
            form.append(number)
    return " ".join(form)


def _write_fractions(title: str) -> str:
    """A title with ½ and "and a half" as 1/2: "9½ Weeks", "Nine and a Half Weeks"."""
    title = _FRACTION_SIGN.sub(lambda sign: " " + unicodedata.normalize("NFKC", sign[0]).replace("\u2044", "/"), title)
    return re.sub(r"(?i)\band a half\b", "1/2", title)


def _write_numbers_in_digits(plain: str) -> str:
    """A plain title with years and hundreds in words as digits: "nineteen eighty four", "one hundred and one"."""
    plain = _YEAR.sub(lambda match: str(read_year_in_words(match[0])), plain)
    return _HUNDREDS.sub(lambda match: str(read_count(match[0])), plain)


def title_forms(title: str) -> Iterator[str]:
    """The form of a title, then those in which a letter is a number or a number a letter: "rocky v" and "rocky 5"."""
    form = title_form(title)
    yield form

    *stem, final = form.split() or [""]
    letters_of = {number: letter for letter, number in _LETTERS.items()}
    other_final = _LETTERS.get(final) or letters_of.get(final)
    if stem and other_final is not None:
        yield " ".join([*stem, other_final])


def best_title_match(title: str, candidates: Sequence[str]) -> NameMatch | None:
    """As `best_match`, but numbers may be written in any way; only a title that is equal word for word is exact.

    >>> best_title_match("maroon five", ["Maroon", "Maroon 5"]).position
    1
    """
    match = best_match(title, candidates)
    if match is not None and match.exact:
        return match

    forms = [title_form(candidate) for candidate in candidates]
    for form in title_forms(title):
        match = best_match(form, forms)
        if match is not None:
            return replace(match, exact=False)
    return None


def has_part_number(form: str) -> bool:
    """Whether a title's form has a number after other words: that of a part, as in "rocky 4"."""
    _, *later_words = form.split() or [""]
    return any(word.isdigit() for word in later_words)


def first_part_form(form: str) -> str:
    """The form with the number 1 if it has no number at its end, else without that 1: "rocky" and "rocky 1"."""
    without = form.removesuffix(" 1")
    return without if without != form else f"{form} 1"


def part_number_spellings(form: str) -> list[str]:
    """Other ways to write the last number of a title's form, to search with: a word search finds only what is written.

    >>> part_number_spellings("dune 2")[:5]
    ['dune 2', 'dune ii', 'dune two', 'dune part ii', 'dune part two']
    """
    words = form.split()
    positions = [index for index, word in enumerate(words) if index > 0 and word.isdigit()]
    if not positions or not 1 <= int(words[positions[-1]]) <= _LARGEST_WORD:
        return []

    position = positions[-1]
    before = " ".join(words[:position])
    after = " ".join(words[position + 1 :])
    number = words[position]
    roman = write_roman(int(number))
    spelled = next(word for word, value in NUMBER_WORDS.items() if value == int(number))

    variants = [number, roman, spelled, f"part {roman}", f"part {spelled}", f"part {number}"]
    if not after:
        variants += [f"chapter {spelled}", f"vol {number}", f"episode {roman}"]
    return [f"{before} {variant} {after}".strip() for variant in variants]


def _number_of(word: str, *, is_first: bool) -> str | None:
    """The digits of a number that is written in digits, in words or, after other words, in Roman digits."""
    if word.isdecimal():
        return word
    if word in NUMBER_WORDS:
        return str(NUMBER_WORDS[word])
    if is_first or not _ROMAN.fullmatch(word):
        return None  # "xXx" is not thirty
    return str(read_roman(word))


def _completes(tens: str, word: str) -> bool:
    """Whether a word such as "one" belongs to the "twenty" before it."""
    is_ones = 1 <= NUMBER_WORDS.get(word, 0) <= 9
    return is_ones and tens.isdecimal() and int(tens) in _TENS
