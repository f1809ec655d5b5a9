"""Agreement and kappa against published examples."""

import pytest

from evaluation.agreement import agreement, cohens_kappa


def test_kappa_of_the_textbook_table() -> None:
    """Two readers of 50 grant proposals: 20 both yes, 5 yes/no, 10 no/yes, 15 both no; kappa 0.4."""
    first = ["yes"] * 25 + ["no"] * 25
    second = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    assert agreement(first, second) == pytest.approx(0.7)
    assert cohens_kappa(first, second) == pytest.approx(0.4)


def test_extremes() -> None:
    assert cohens_kappa(["a", "b"], ["a", "b"]) == 1
    assert cohens_kappa(["a", "a"], ["a", "a"]) == 1
    assert cohens_kappa(["a", "b"] * 10, ["a", "a", "b", "b"] * 5) == 0
    assert cohens_kappa([], []) == 0
    with pytest.raises(ValueError, match="zip"):
        agreement(["a"], [])
