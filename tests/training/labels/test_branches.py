"""db3's steps: every branch, and the rows that are written."""

from pathlib import Path

import pytest

from agents.common.contracts import I_DONT_KNOW, INVALID_QUESTION
from agents.common.files import write_rows
from evaluation.judge import RulesJudge
from tests.training.labels.runs import asked, basics
from training.examples import read_examples
from training.labels.branches import Branch, label
from training.labels.in_context import RulesContextCheck

BORN = "when was ada lovelace born?"


@pytest.mark.parametrize(
    ("query", "gold", "said", "branch", "completion", "hittable"),
    [
        ("when did ada lovelace win an oscar?", INVALID_QUESTION, "1816", Branch.INVALID, INVALID_QUESTION, None),
        (BORN, "1815-12-10", "December 10, 1815.", Branch.RIGHT, "1815-12-10", True),
        ("who was her mother?", "Anne Milbanke", "anne milbanke", Branch.RIGHT, "Anne Milbanke", True),
        (BORN, "1815-12-10", "1852", Branch.IN_CONTEXT, "1815-12-10", True),
        (BORN, "1815-12-10", I_DONT_KNOW, Branch.IN_CONTEXT, "1815-12-10", True),
        ("where did ada lovelace die?", "marylebone", "London", Branch.NOT_IN_CONTEXT, I_DONT_KNOW, False),
        ("where did ada lovelace die?", "marylebone", "invalid question", Branch.NOT_IN_CONTEXT, I_DONT_KNOW, False),
        ("what is ada lovelace worth today?", I_DONT_KNOW, "a lot", Branch.NOT_IN_CONTEXT, I_DONT_KNOW, False),
    ],
)  # fmt: skip
def test_every_branch(
    tmp_path: Path, query: str, gold: str, said: str, branch: Branch, completion: str, hittable: bool | None
) -> None:
    (one,) = label(basics(tmp_path, asked("a", query, gold, said)), RulesJudge(), RulesContextCheck())
    assert (one.branch, one.completion, one.hittable) == (branch, completion, hittable)


def test_a_row_is_a_training_example_that_keeps_what_it_was_made_of(tmp_path: Path) -> None:
    pair = asked("a", BORN, "1815-12-10", "1852", alt_ans=["10 december 1815"])
    rows = [one.to_row() for one in label(basics(tmp_path, pair), RulesJudge(), RulesContextCheck())]
    write_rows(tmp_path / "web.jsonl", rows)
    (example,) = read_examples(tmp_path / "web.jsonl")
    assert example.completion == "10 december 1815"  # the form that the context has
    assert example.groups == (BORN,)
    assert example.source == "wrong, in context"
    assert (example.query, example.answers) == (BORN, ("1815-12-10", "10 december 1815"))
    assert example.messages[-1].content.endswith(BORN)
    kept = {name: rows[0][name] for name in ("basic_answer", "verdict", "gold_in_context", "interaction_id", "domain")}
    assert kept == {
        "basic_answer": "1852",
        "verdict": "incorrect",
        "gold_in_context": True,
        "interaction_id": "a",
        "domain": "open",
    }


def test_of_several_right_answers_the_one_in_the_context_is_the_label(tmp_path: Path) -> None:
    pairs = [asked(name, f"where was {name}?", "the uk", "in london", alt_ans=["London"]) for name in "ab"]
    pairs[1][1]["context"] = "Nobody says."
    found = label(basics(tmp_path, *pairs), RulesJudge(), RulesContextCheck())
    assert [one.completion for one in found] == ["London", "the uk"]
