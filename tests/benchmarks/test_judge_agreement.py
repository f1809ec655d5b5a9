"""The benchmark of judges, on rows of its own."""

from pathlib import Path

import pytest

from agents.common.files import write_rows
from benchmarks.judge_agreement import judged_rows, main
from evaluation.judge import RulesJudge

ROWS = [
    {
        "interaction_id": str(number),
        "query": "who wrote it?",
        "ground_truth": "ann lee",
        "prediction": "i don't know" if number % 3 == 0 else "It was Ann Lee." if number % 3 == 1 else "Lee, A.",
        "judgement": "missing" if number % 3 == 0 else "correct",
        "question_type": "simple",
    }
    for number in range(12)
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    write_rows(tmp_path / "judged.jsonl", ROWS)
    return tmp_path / "judged.jsonl"


def test_every_judge_sees_the_same_rows(file: Path) -> None:
    rows = judged_rows(file, RulesJudge())
    assert len(rows) == 12
    assert all(row.verdicts["containment"] == row.reference for row in rows if row.prediction != "Lee, A.")
    assert {row.held_out for row in rows} == {True, False}


def test_a_sample_is_part_of_every_larger_one(file: Path) -> None:
    samples = [{row.interaction_id for row in judged_rows(file, RulesJudge(), limit)} for limit in (3, 6, 99)]
    assert [len(sample) for sample in samples] == [3, 6, 12]
    assert samples[0] < samples[1] < samples[2]


def test_a_language_model_stands_beside_the_rules(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    llm = ["--judge", "llm", "--judge-preset", "scripted", "--judge-cache", "none"]
    assert main([str(file), "--limit", "6", *llm]) == 0
    out = capsys.readouterr().out
    assert "judge llm@1:scripted:crag-" in out
    assert "6 judged answers" in out
    assert out.splitlines()[3].replace("|", "").split() == [
        "half",
        "n",
        "llm",
        "kappa",
        "rules",
        "kappa",
        "containment",
        "kappa",
    ]


def test_a_missing_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "none")]) == 2
    assert "there is no such file" in capsys.readouterr().err
