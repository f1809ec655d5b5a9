"""Folds by group: what is tested is never trained on, and every row is tested once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.folds import Fold, is_tested, may_train, number_of, parse_fold

GROUPS = st.lists(st.text(min_size=1), min_size=1, max_size=4)


@given(GROUPS, st.integers(2, 7))
def test_exactly_one_fold_tests_a_row_and_does_not_train_on_it(groups: list[str], total: int) -> None:
    folds = [Fold(number, total) for number in range(total)]
    tested = [fold for fold in folds if is_tested(groups, fold)]
    assert len(tested) == 1
    assert not may_train(groups, tested[0])


@given(GROUPS, GROUPS, st.integers(2, 7))
def test_rows_that_share_a_group_are_never_on_both_sides(one: list[str], other: list[str], total: int) -> None:
    shared = [*other, one[0]]
    for number in range(total):
        fold = Fold(number, total)
        assert not (is_tested(one, fold) and may_train(shared, fold))


def test_spelling_makes_no_other_group_and_names_spread_evenly() -> None:
    assert number_of("Taylor  Swift", 5) == number_of("taylor swift", 5)
    counts = [0] * 5
    for number in range(1000):
        counts[number_of(f"name {number}", 5)] += 1
    assert all(150 < count < 250 for count in counts)


def test_without_a_fold_everything_may_be_learnt_and_a_row_about_nothing_is_never_tested() -> None:
    assert may_train(["a"], None)
    assert not is_tested([], Fold(0, 2))
    assert may_train([], Fold(0, 2))


def test_a_fold_is_read_as_it_is_written() -> None:
    assert parse_fold("2/5") == Fold(2, 5)
    assert str(Fold(2, 5)) == "2/5"


@pytest.mark.parametrize("text", ["2", "5/5", "-1/5", "a/b", "0/1", "1/", ""])
def test_what_is_no_fold_is_refused_with_the_form(text: str) -> None:
    with pytest.raises(ValueError, match="NUMBER/COUNT"):
        parse_fold(text)
