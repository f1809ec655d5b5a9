"""Titles whose numbers agree are one title, however these are written."""

import pytest

from crag.text.matching import best_title_match, part_number_spellings, title_form, title_forms

SAME = """
The Godfather Part II == the godfather 2 == godfather two == The Godfather: Part 2 == the godfather chapter two
Dune: Part Two == dune 2 == Dune II
Rocky IV == rocky 4 == rocky four
Guardians of the Galaxy Vol. 2 == guardians of the galaxy volume two
Ocean's Eleven == oceans 11
12 Angry Men == twelve angry men
Twenty One Pilots == 21 pilots
Super Bowl XLIX == super bowl 49
Kramer vs. Kramer == kramer v kramer
Dr. Strangelove == doctor strangelove
9½ Weeks == nine and a half weeks == 9 1/2 weeks
The Lion King 1½ == lion king 1 1/2
Nineteen Eighty-Four == 1984
One Hundred and One Dalmatians == 101 dalmatians
"""


@pytest.mark.parametrize("case", SAME.strip().splitlines())
def test_spellings_of_one_title_have_one_form(case: str) -> None:
    titles = case.split(" == ")
    assert len(set(map(title_form, titles))) == 1


@pytest.mark.parametrize(
    ("title", "form"),
    [
        ("Malcolm X", "malcolm x"),
        ("Se7en", "se7en"),
        ("Apollo 13", "apollo 13"),
        ("I, Robot", "i robot"),
        ("V for Vendetta", "v for vendetta"),
        ("xXx", "xxx"),
        ("Civil War", "civil war"),
        ("Chapter 27", "chapter 27"),  # the word alone says nothing
    ],
)
def test_letters_and_numbers_of_no_part_stay(title: str, form: str) -> None:
    assert title_form(title) == form


@pytest.mark.parametrize(
    ("one", "other"),
    [("rocky v", "Rocky 5"), ("Fast X", "fast 10"), ("saw ten", "Saw X")],
)
def test_a_letter_at_the_end_may_be_a_number(one: str, other: str) -> None:
    assert set(title_forms(one)) & set(title_forms(other))


def test_a_number_is_searched_in_all_its_spellings() -> None:
    assert {"it 2", "it ii", "it part two", "it chapter two", "it vol 2"} <= set(part_number_spellings("it 2"))
    assert part_number_spellings("blade runner 2049") == part_number_spellings("12 angry men") == []


def test_a_title_with_another_number_is_no_match() -> None:
    assert best_title_match("terminator two", ["The Terminator", "Terminator 3"]) is None
    match = best_title_match("maroon five", ["Maroon", "Maroon 5"])
    assert match is not None
    assert (match.position, match.exact) == (1, False)
