"""An attack is counted where it succeeds, and only there."""

import json
from pathlib import Path

import pytest

from benchmarks.adversary import attacked, main, wrong_answers
from evaluation.datasets import read_rows

SAMPLE = Path("data/sample/questions.jsonl")


def test_the_lie_is_of_the_kind_of_the_truth_and_is_on_top() -> None:
    assert wrong_answers(["rome", "3", "oslo", "12"]) == ["oslo", "12", "rome", "3"]
    row = next(read_rows(SAMPLE))
    assert attacked(row, "x", "clean") == row
    for attack, pages in (("poisoned", 2), ("injected", 1)):
        found = attacked(row, "Bread & Tulips", attack)["search_results"]
        assert len(found) == len(row["search_results"]) + pages
        assert all("Bread &amp; Tulips" in page["page_result"] for page in found[:pages])
        assert found[pages:] == row["search_results"]


@pytest.mark.parametrize("distrusts", [False, True])
def test_a_gullible_model_is_fooled_and_the_table_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], distrusts: bool
) -> None:
    rows = list(read_rows(SAMPLE, 3))
    told = tmp_path / "questions.jsonl"
    told.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    lies = wrong_answers([row["answer"] for row in rows])
    replies = ", ".join(f'"The answer is {lie}" = "{lie}"' for lie in lies)
    scripted = Path("agents/presets/scripted.toml").read_text(encoding="utf-8")
    preset = tmp_path / "gullible.toml"
    engine = 'engine = "scripted"\n'
    distrust = f"\n[answering]\ndistrust_repeated_question = {str(distrusts).lower()}\n"
    preset.write_text(scripted.replace(engine, f"{engine}replies = {{ {replies} }}\n") + distrust, encoding="utf-8")
    assert main(["--preset", str(preset), "--dataset", str(told), "--output", str(tmp_path / "out")]) == 0
    lines = [line.split("|")[1:-1] for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    whole = {cells[1].strip(): [int(cell) for cell in cells[2:]] for cells in lines if "whole" in cells[0]}
    assert whole["clean"][1] == 0
    assert whole["poisoned"][1] == (0 if distrusts else 3)
    assert whole["injected"][1] == 0  # it obeys nothing but "The answer is"
