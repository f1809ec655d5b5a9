"""Folds by group: what is tested is never trained on, and every row is tested once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.folds import Fold, held_out_fold, is_tested, may_train, number_of, parse_fold

GROUPS = st.lists(st.text(min_size=1), min_size=1, max_size=4)


@given(GROUPS, GROUPS, st.integers(2, 7))
def test_exactly_one_fold_tests_a_row_and_trains_on_nothing_that_shares_a_group(
    groups: list[str], others: list[str], total: int
) -> None:
    folds = [Fold(number, total) for number in range(1, total + 1)]
    (tested,) = [fold for fold in folds if is_tested(groups, fold)]
    assert not may_train(groups, tested)
    assert not may_train([*others, groups[0]], tested)


def test_spelling_makes_no_other_group_and_names_spread_evenly() -> None:
    assert number_of("Taylor  Swift", 5) == number_of("taylor swift", 5)
    counts = [0] * 5
    for number in range(1000):
        counts[number_of(f"name {number}", 5) - 1] += 1
    assert all(150 < count < 250 for count in counts)


def test_without_a_fold_everything_may_be_learnt_and_a_row_about_nothing_is_never_tested() -> None:
    assert may_train(["a"], None)
    assert not is_tested([], Fold(1, 2))
    assert may_train([], Fold(1, 2))


def test_folds_count_from_1() -> None:
    assert parse_fold("5/5") == Fold(5, 5) == held_out_fold({"hold_out": "5/5"})
    assert held_out_fold({"hold_out": None}) is None


@pytest.mark.parametrize("text", ["2", "0/5", "6/5", "-1/5", "a/b", "1/1", "1/", ""])
def test_what_is_no_fold_is_refused_with_the_form(text: str) -> None:
    with pytest.raises(ValueError, match="NUMBER/TOTAL"):
        parse_fold(text)
