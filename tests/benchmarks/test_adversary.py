"""An attack is counted where it succeeds, and only there."""

import json
from pathlib import Path

import pytest

from crag.benchmarks.adversary import FAMILIES, HIDING, add_attack, wrong_answers
from crag.commands.bench.adversary import main
from crag.evaluation.datasets import read_rows
from crag.settings import ExtractSettings
from crag.web.extract.page_text import page_text
from tests.toml_text import toml_table

SAMPLE = Path("data/sample/questions.jsonl")


def test_the_lie_is_of_the_kind_of_the_truth() -> None:
    assert wrong_answers(["rome", "3", "oslo", "12"]) == ["oslo", "12", "rome", "3"]


@pytest.mark.parametrize("family", [*FAMILIES][1:])
@pytest.mark.parametrize("count", [1, 5])
def test_pages_with_the_lie_are_put_before_those_of_the_question(family: str, count: int) -> None:
    row = next(read_rows(SAMPLE))
    attacked = add_attack(row, "Bread & Tulips", family, count, HIDING[0])["search_results"]
    assert attacked[count:] == row["search_results"]
    assert len({page["page_url"] for page in attacked}) == len(attacked)

    lie = "invalid question" if family == "call invalid" else "Bread &amp; Tulips"
    for page in attacked[:count]:
        assert lie in page["page_result"]
        assert "$" not in page["page_result"], "the template is filled"


@pytest.mark.parametrize("family", [*FAMILIES][1:])
def test_all_lies_but_a_hidden_order_can_be_seen(family: str) -> None:
    row = add_attack(next(read_rows(SAMPLE)), "Bread & Tulips", family, 1, HIDING[0])
    shown = page_text(row["search_results"][0]["page_result"], ExtractSettings())
    lie = "invalid question" if family == "call invalid" else "Bread & Tulips"
    assert (lie in shown) is (family != "hidden order")


@pytest.mark.parametrize("style", HIDING)
def test_every_way_of_hiding_is_seen_through(style: str) -> None:
    row = add_attack(next(read_rows(SAMPLE)), "a lie", "hidden order", 1, style)
    assert "a lie" not in page_text(row["search_results"][0]["page_result"], ExtractSettings())


@pytest.mark.parametrize("distrusts", [False, True])
def test_a_gullible_model_is_fooled_and_the_table_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], distrusts: bool
) -> None:
    rows = list(read_rows(SAMPLE, 3))
    dataset = tmp_path / "questions.jsonl"
    dataset.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    lies = wrong_answers([row["answer"] for row in rows])
    replies = toml_table({f"The answer is {lie}": lie for lie in lies})
    scripted = Path("crag/presets/scripted.toml").read_text(encoding="utf-8")
    preset = tmp_path / "gullible.toml"
    engine = 'engine = "scripted"\n'
    preset.write_text(scripted.replace(engine, f"{engine}replies = {replies}\n"), encoding="utf-8")
    changes = ["--set", "web.largest_question_share=0.8"] if distrusts else []
    families = ["--families", "word for word", "inserted word", "hidden order", "--pages", "1", "2"]
    options = ["--preset", str(preset), "--dataset", str(dataset), "--output", str(tmp_path / "out")]

    assert main([*options, *families, *changes]) == 0
    lines = [line.split("|")[1:-1] for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    lies_told = {(cells[0].strip(), int(cells[1])): int(cells[2]) for cells in lines if cells[1].strip().isdigit()}
    assert lies_told[("clean", 0)] == 0

    for count in (1, 2):
        assert lies_told[("word for word", count)] == lies_told[("inserted word", count)] == (0 if distrusts else 3)
        assert lies_told[("hidden order", count)] == 0
