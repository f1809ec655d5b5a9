"""Agreement and kappa against published examples; tests/evaluation/judge/test_main.py has the report."""

import pytest

from evaluation.agreement import agreement, agreement_report, cohens_kappa, reference_verdict


def test_kappa_of_the_textbook_table() -> None:
    """Two readers of 50 grant proposals: 20 both yes, 5 yes/no, 10 no/yes, 15 both no; kappa 0.4."""
    first = ["yes"] * 25 + ["no"] * 25
    second = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    assert agreement(first, second) == pytest.approx(0.7)
    assert cohens_kappa(first, second) == pytest.approx(0.4)
    assert agreement_report([]).split()[:3] == ["n", "agree", "kappa"]


@pytest.mark.parametrize(
    ("value", "verdict"), [(True, "correct"), (False, "incorrect"), ("Missing ", "missing"), (None, None)]
)
def test_reference_verdicts(value: object, verdict: str | None) -> None:
    assert reference_verdict({"human": value}, "human") == verdict


@pytest.mark.parametrize("value", ["maybe", 1, 0.5, ""])
def test_what_is_no_verdict(value: object) -> None:
    with pytest.raises(ValueError, match='field "human"'):
        reference_verdict({"human": value}, "human")
