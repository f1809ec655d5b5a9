"""The rules judge, by a text file of pairs and by verdicts of strong language models."""

import itertools
from pathlib import Path

import pytest

from evaluation.agreement import agreement, cohens_kappa
from evaluation.judge import Claim, RulesJudge, Verdict, judge_claims
from evaluation.judge.rules import RULES
from tests.evaluation.judge.judged import judged_rows

PAIRS = Path(__file__).parents[1] / "judge_pairs.tsv"
JUDGED = Path(__file__).parents[3] / "../shared/data/judged/judged_split0.jsonl"
PAIRS_TO_JUDGE = [
    line.split("\t") for line in PAIRS.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")
]


def judged(query: str, golds: tuple[str, ...], prediction: str) -> tuple[Verdict, str]:
    (judgement,) = judge_claims(RulesJudge(), [Claim(query, golds, prediction)], lambda text: text)
    return judgement.verdict, judgement.reason


@pytest.mark.parametrize(("query", "gold", "prediction", "verdict"), PAIRS_TO_JUDGE)
def test_pairs(query: str, gold: str, prediction: str, verdict: str) -> None:
    found, reason = judged(query, (gold,), prediction)
    assert found == verdict, reason


def test_every_rule_is_shown_by_a_pair() -> None:
    reasons = {judged(query, (gold,), prediction)[1].split(":")[0] for query, gold, prediction, _ in PAIRS_TO_JUDGE}
    assert reasons >= {*RULES, "official"}


@pytest.mark.parametrize(
    ("query", "gold", "prediction", "verdict"), [pair for pair in PAIRS_TO_JUDGE[:150] if pair[3] == "correct"]
)
def test_case_and_closing_stop_do_not_matter(query: str, gold: str, prediction: str, verdict: str) -> None:
    assert judged(query, (gold.upper(),), prediction.rstrip(".") + ".")[0] == verdict


@pytest.mark.parametrize("order", list(itertools.permutations(["Ann Lee", "Bob Ray", "Cyrus Young"])))
@pytest.mark.parametrize("separator", [", ", "; ", "\n", " and ", " & ", "\n- "])
def test_order_and_separator_of_a_set_do_not_matter(order: tuple[str, ...], separator: str) -> None:
    golds = ("ann lee, bob ray and cyrus young",)
    assert judged("who are the members of the band?", golds, separator.join(order))[0] is Verdict.CORRECT
    assert judged("who are the members of the band?", golds, separator.join(order[:2]))[0] is Verdict.INCORRECT


@pytest.mark.parametrize("form", ["{}. {}\n", "- {1}\n", "• {1}\n", "({}) {} "])
def test_further_items_of_a_list_are_wrong(form: str) -> None:
    query, golds = "who are the members of the band?", ("ann lee and bob ray",)
    lines = [form.format(number, name) for number, name in enumerate(("Ann Lee", "Bob Ray", "Cy Young"), start=1)]
    assert judged(query, golds, "".join(lines[:2]))[0] is Verdict.CORRECT
    assert judged(query, golds, "".join(lines))[0] is Verdict.INCORRECT


def test_any_alternative_answer_counts() -> None:
    assert judged("who?", ("ann lee", "cy young"), "Cy Young")[0] is Verdict.CORRECT
    assert judged("who?", ("ann lee", "cy young"), "Bob Ray")[0] is Verdict.INCORRECT


def test_no_gold_answer_is_unscored() -> None:
    assert judged("who?", (), "Ann Lee")[0] is Verdict.UNSCORED
    assert judged("who?", ("",), "Ann Lee")[0] is Verdict.UNSCORED
    assert judged("who?", ("",), "")[0] is Verdict.UNSCORED
    assert judged("who?", (), "i don't know")[0] is Verdict.MISSING


@pytest.mark.parametrize("gold", ["nan", "0", "none", "no", "ann lee", "i don't know", "/", ""])
def test_an_empty_answer_is_never_right(gold: str) -> None:
    assert judged("how many are there?", (gold,), " ")[0] is not Verdict.CORRECT


@pytest.mark.parametrize(
    "prediction", ["", " ", "\x00", "(" * 5000, "1." * 5000, "a " * 20_000, "\ud800", ", " * 5000, "A and " * 3000]
)
@pytest.mark.parametrize("gold", ["ann lee, bob ray and cy young", "5", "the nile is longer, at 6,650 km.", "yes", "("])
def test_hostile_texts_are_judged_in_no_time(prediction: str, gold: str) -> None:
    assert judged("who are longer, the nile or the rhine?", (gold,), prediction)[0] is Verdict.INCORRECT


def test_agreement_with_language_model_judges() -> None:
    if not JUDGED.is_file():
        pytest.skip(f"no judged file at {JUDGED}")
    rows = judged_rows(JUDGED)
    held_out = [row for row in rows if row.held_out]
    for some, least, least_kappa in ((rows, 0.91, 0.84), (held_out, 0.88, 0.78)):
        reference, rules = [row.reference for row in some], [row.verdicts["rules"] for row in some]
        containment = [row.verdicts["containment"] for row in some]
        assert agreement(reference, rules) >= least
        assert cohens_kappa(reference, rules) >= least_kappa
        assert agreement(reference, rules) > agreement(reference, containment) + 0.1
