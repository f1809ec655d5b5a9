"""The folder examples does what it says: each file is run."""

import json
import runpy
from pathlib import Path

import matplotlib as mpl
import pytest

from agents.settings import load_settings
from crag.evaluate import main
from models.manifest import WeightsMissingError, locate

REPOSITORY = Path(__file__).parents[1]
EXAMPLES = REPOSITORY / "examples"
SMALL = "smollm2-135m-instruct"


def test_the_agent_is_evaluated_as_its_file_says(tmp_path: Path) -> None:
    agent = ["--agent", "examples.own_agent:TitleAgent", "--limit", "8", "--output", str(tmp_path / "run"), "--quiet"]
    assert main(agent) == 0
    results = json.loads((tmp_path / "run" / "results.json").read_text(encoding="utf-8"))
    assert (results["n"], results["errors"]) == (8, 0)
    lines = (EXAMPLES / "own_agent.py").read_text(encoding="utf-8").partition("class")[2].splitlines()
    assert len([line for line in lines if line.strip() and '"""' not in line]) <= 10, "an agent in ten lines"


def test_the_preset_changes_what_it_says_and_nothing_else() -> None:
    own, base = load_settings(EXAMPLES / "own_preset.toml", []), load_settings("cpu", [])
    assert own.answering.confidence is not None
    assert (own.web.context.max_tokens, own.answering.confidence.threshold) == (800, 0.7)
    same = {"name", "description", "web", "answering"}
    assert own.model_dump(exclude=same) == base.model_dump(exclude=same)


def test_the_prompt_is_what_the_model_reads(tmp_path: Path) -> None:
    own = (EXAMPLES / "own_prompt.toml").read_text(encoding="utf-8")
    assert 'extends = "cpu"' in own
    (tmp_path / "own.toml").write_text(own.replace('extends = "cpu"', 'extends = "scripted"'), encoding="utf-8")
    options = ["--preset", str(tmp_path / "own.toml"), "--limit", "4", "--output", str(tmp_path / "run"), "--quiet"]
    assert main(options) == 0
    (line, *_) = (tmp_path / "run" / "traces.jsonl").read_text(encoding="utf-8").splitlines()
    trace = json.loads(line)
    system, user = trace["prompts"]["answer"]
    assert "in at most" in system["content"]
    assert trace["query_time"] in system["content"]
    assert user["content"].count(trace["query"]) >= 2
    assert trace["context"] in user["content"]
    assert load_settings(EXAMPLES / "own_prompt.toml", []).graph_answering.own_prompt is None


@pytest.mark.models
def test_the_tour_runs_from_its_first_cell_to_its_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        locate(SMALL)
    except WeightsMissingError as error:
        pytest.skip(str(error))
    small = tmp_path / "small.toml"  # the smallest real model
    small.write_text(f'extends = "cpu"\n[language_model]\nmodel = "{SMALL}"\n', encoding="utf-8")
    own = tmp_path / "own.toml"
    changed = (EXAMPLES / "own_preset.toml").read_text(encoding="utf-8").replace('"cpu"', '"small.toml"')
    own.write_text(changed, encoding="utf-8")
    cells = json.loads((EXAMPLES / "tour.ipynb").read_text(encoding="utf-8"))["cells"]
    assert all(not cell.get("outputs") for cell in cells), "outputs are not committed"
    script = tmp_path / "tour.py"
    code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    code = code.replace('PRESET = "cpu"', f'PRESET = "{small}"').replace("examples/own_preset.toml", str(own))
    assert str(small) in code
    assert str(own) in code
    guarded = "\n".join(f"    {line}" for line in code.splitlines())
    script.write_text(f'if __name__ == "__main__":\n{guarded}\n', encoding="utf-8")
    mpl.use("Agg")
    monkeypatch.chdir(REPOSITORY)
    found = runpy.run_path(str(script), run_name="__main__")
    said = capsys.readouterr().out
    assert "because" in said
    assert "cross_encoder" in said
    assert "of 6 questions flipped" in said
    assert (found["folder"] / "reliability.png").stat().st_size > 1000
    assert (found["folder"] / "comparison.html").is_file()
