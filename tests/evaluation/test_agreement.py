"""Agreement and kappa against published examples."""

import pytest

from evaluation.agreement import JudgedPair, agreement, agreement_report, cohens_kappa, differences, reference_verdict


def test_kappa_of_the_textbook_table() -> None:
    """Two readers of 50 grant proposals: 20 both yes, 5 yes/no, 10 no/yes, 15 both no; kappa 0.4."""
    first = ["yes"] * 25 + ["no"] * 25
    second = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    assert agreement(first, second) == pytest.approx(0.7)
    assert cohens_kappa(first, second) == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("value", "verdict"), [(True, "correct"), (False, "incorrect"), ("Missing ", "missing"), (None, None)]
)
def test_reference_verdicts(value: object, verdict: str | None) -> None:
    assert reference_verdict({"human": value}, "human") == verdict


@pytest.mark.parametrize("value", ["maybe", 1, 0.5, ""])
def test_what_is_no_verdict(value: object) -> None:
    with pytest.raises(ValueError, match='field "human"'):
        reference_verdict({"human": value}, "human")


PAIRS = [
    JudgedPair("correct", "correct", "a"),
    JudgedPair("correct", "incorrect", "a"),
    JudgedPair("missing", "missing", "b"),
    JudgedPair("incorrect", "unscored", "b"),
]


def test_the_report_has_the_whole_and_each_group() -> None:
    lines = [line.split() for line in agreement_report(PAIRS).splitlines()]
    assert lines[1] == ["all", "3", "0.667", "0.500", "correct->incorrect", "1"]
    assert lines[2] == ["a", "2", "0.500", "0.000", "correct->incorrect", "1"]
    assert lines[3] == ["b", "1", "1.000", "1.000", "none"]
    assert "unscored" in lines[4]


def test_missing_counts_as_wrong_only_where_the_reference_has_two_classes() -> None:
    two = [JudgedPair("correct", "correct", "a"), JudgedPair("incorrect", "missing", "a")]
    assert ["all", "2", "1.000", "1.000", "none"] in [line.split() for line in agreement_report(two).splitlines()]
    three = [*two, JudgedPair("missing", "missing", "a")]
    assert "incorrect->missing 1" in agreement_report(three)


def test_nothing_to_compare() -> None:
    assert agreement_report([]).split()[:3] == ["n", "agree", "kappa"]
    assert differences([]) == "none"
