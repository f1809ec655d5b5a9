import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.kg.names import best_match, contains_words, fold, same_name, similarity


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Beyoncé", "beyonce"),
        ("The Beatles", "beatles"),
        ("Rocky II", "rocky 2"),
        ("Simon & Garfunkel", "simon and garfunkel"),
        ("Nott'ham  Forest", "nottham forest"),
        ("Spider-Man", "spider man"),
    ],
)
def test_spellings_of_one_name_fold_to_the_same_text(one: str, other: str) -> None:
    assert fold(one) == fold(other)
    assert similarity(one, other) == 1.0


def test_names_of_signs_stay_apart() -> None:
    assert fold("÷") != fold("+")
    assert similarity("!!!", "???") < 0.5
    assert best_match("÷", ["+", "÷", "="]) is not None


@given(st.text(max_size=20), st.text(max_size=20))
def test_similarity_is_a_similarity(one: str, other: str) -> None:
    assert 0.0 <= similarity(one, other) <= 1.0
    assert similarity(one, one) == 1.0
    assert similarity(one, other) == pytest.approx(similarity(other, one))


@pytest.mark.parametrize(
    ("wanted", "candidates", "expected"),
    [
        ("lord of the kites", ["Kites", "The Lord of the Kites"], "The Lord of the Kites"),
        ("lord of the kytes", ["Kites", "The Lord of the Kites"], "The Lord of the Kites"),
        ("red kite 5", ["Red Kite 4", "Red Kite"], None),
        ("red kite 5", ["Red Kite 4"], None),  # another part of a series is another film
        ("jon smth", ["Jon Smith", "Jon Smyth"], None),  # either may be meant
        ("gaga", ["Ga-Ga", "Gaga", "GAGA"], "Gaga"),
        ("anything", [], None),
        ("kite", ["Completely Different"], None),
    ],
)
def test_a_hit_is_trusted_only_if_it_is_clearly_the_best(
    wanted: str, candidates: list[str], expected: str | None
) -> None:
    match = best_match(wanted, candidates)
    assert (candidates[match.position] if match else None) == expected


def test_a_typo_in_a_long_name_is_forgiven_and_a_short_name_is_not() -> None:
    assert same_name("Leonardo Dicaprio", "Leonardo DiCapro")
    assert not same_name("Ann", "Anna")


def test_words_within_a_text() -> None:
    assert contains_words("James Bond (007)", "james bond")
    assert not contains_words("James Bondsman", "james bond")
    assert not contains_words("Bond, James", "james bond")
