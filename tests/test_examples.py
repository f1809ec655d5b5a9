"""The folder examples does what it says: each file is run."""

import json
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from crag.commands.evaluate import main
from crag.settings import load_settings
from crag.weights.manifest import WeightsMissingError, locate

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
def test_the_tour_runs_from_its_first_cell_to_its_last(tmp_path: Path) -> None:
    try:
        locate(SMALL)
    except WeightsMissingError as error:
        pytest.skip(str(error))
    small = tmp_path / "small.toml"  # the smallest real model
    small.write_text(f'extends = "cpu"\ntuned = false\n[language_model]\nmodel = "{SMALL}"\n', encoding="utf-8")
    own = tmp_path / "own.toml"
    changed = (EXAMPLES / "own_preset.toml").read_text(encoding="utf-8").replace('"cpu"', '"small.toml"')
    own.write_text(changed, encoding="utf-8")
    code = (EXAMPLES / "tour.ipynb").read_text(encoding="utf-8")
    for wanted, given in (
        ('"cpu\\"', f'"{small}\\"'),
        ("examples/own_preset.toml", str(own)),
        ("QUESTIONS = 6", "QUESTIONS = 4"),
    ):
        assert wanted in code
        code = code.replace(wanted, given)
    tour = nbformat.reads(code, as_version=4)
    NotebookClient(tour, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(EXAMPLES)}}).execute()
    said = "".join(output.get("text", "") for cell in tour.cells for output in cell.get("outputs", ()))
    assert all(words in said for words in ("because", "cross_encoder", "of 4 questions flipped"))
    assert any("image/png" in output.get("data", ()) for output in tour.cells[-1].outputs)


def test_the_outputs_of_the_tour_are_stored() -> None:
    cells = json.loads((EXAMPLES / "tour.ipynb").read_text(encoding="utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert [bool(cell["outputs"]) for cell in code] == [False, True, True, True, True, True]
