"""Puts the year of a ceremony into calls for awards if the question names it by its number: "the 92nd Oscars".

The year follows from the number; small models write one that they remember.
"""

import re
from dataclasses import replace

from crag.graph.language import Call, Condition, Operator, Program, Statement
from crag.text.number_words import ORDINAL_WORDS, TENS_WORDS

_OSCARS_TABLE = "get_movie_person_oscar"
_GRAMMYS_TABLE = "get_grammy_year"
_ORDINALS_BELOW_TEN = [word for word, number in ORDINAL_WORDS.items() if number < 10]
_ORDINALS = ORDINAL_WORDS | {
    f"{tens}-{word}": 10 * count + ORDINAL_WORDS[word]
    for count, tens in enumerate(TENS_WORDS, start=2)
    for word in _ORDINALS_BELOW_TEN
}
_CEREMONY = re.compile(
    rf"""
    \b (?: (?P<digits> [0-9]{{1,3}} )(?: st | nd | rd | th ) | (?P<word> {"|".join(sorted(_ORDINALS, reverse=True))} ) )
    \ (?: annual\  )?
    (?: academy\ awards? | oscars? | grammy | (?: awards?\  )?ceremony )
    """,
    re.VERBOSE,
)
_YEAR = re.compile(r"\b(?:19|20)[0-9]{2}\b")
_YEAR_BEFORE_OSCARS = 1928
"""The 6th Oscars were held in 1934, and one each year since then; before, two were held in 1930 and none in 1933."""
_FIRST_YEARLY_OSCARS = 6
_YEAR_BEFORE_GRAMMYS = 1957
"""The graph's year of Grammys is the one before the ceremony: that of the 61st, held in 2019, is 2018."""


def with_ceremony_years(question: str, program: Program) -> Program:
    """The program with the year of the only ceremony that the question names by number; unchanged if it names a year.

    Example: for "who won best actor at the 92nd Oscars?", ``eq(year,"1998")`` becomes ``eq(year,"2020")``.
    """
    text = " ".join(question.lower().split())
    numbers = {_read_number(match) for match in _CEREMONY.finditer(text)}
    if len(numbers) != 1 or _YEAR.search(text):
        return program

    (number,) = numbers
    return Program(tuple(_put_year(statement, number) for statement in program.statements))


def _read_number(match: re.Match[str]) -> int:
    return int(match["digits"]) if match["digits"] else _ORDINALS[match["word"]]


def _put_year(statement: Statement, number: int) -> Statement:
    if not isinstance(statement, Call):
        return statement

    if statement.table == _GRAMMYS_TABLE:
        return replace(statement, arguments=(str(_YEAR_BEFORE_GRAMMYS + number),))
    if statement.table == _OSCARS_TABLE and number >= _FIRST_YEARLY_OSCARS:
        year = str(_YEAR_BEFORE_OSCARS + number)
        return replace(statement, conditions=tuple(_with_year(condition, year) for condition in statement.conditions))
    return statement


def _with_year(condition: Condition, year: str) -> Condition:
    is_single_year = condition.key == "year" and condition.operator is Operator.EQ
    return replace(condition, value=year) if is_single_year and isinstance(condition.value, str) else condition
