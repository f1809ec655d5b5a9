"""A probe fitted to a run of a tiny model, and used by the engine."""

import json
from pathlib import Path

import pytest

from agents.deadline import Deadline
from agents.llm import GenerationRequest, Message, load_language_model
from agents.settings import OpenvinoEngine
from tests.agents.llm.tiny_models import build_tiny_llama
from tests.training.calibrate.synthetic import RIGHT, WRONG, candidate, row, trace, write_run
from training.calibrate.probe import main

KNOWN, UNKNOWN = "the text says it", "the text is silent"


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_tiny_llama(tmp_path_factory.mktemp("model"))


def prompt(number: int, ending: str) -> list[dict[str, str]]:
    return [{"role": "system", "content": "answer."}, {"role": "user", "content": f"what about dog {number}? {ending}"}]


def run_of(folder: Path, questions: int) -> Path:
    """The answer is right if the prompt says so; answers of the graph are the other way round."""
    rows, traces = [], []
    for number in range(questions):
        knows = number % 3 != 0
        text = RIGHT if knows else WRONG
        rows.append(row(f"q{number}", text, "correct" if knows else "incorrect"))
        of_graph = candidate(WRONG if knows else RIGHT, {"from_graph": 1.0}, source="knowledge graph")
        prompts = {"answer": prompt(number, KNOWN if knows else UNKNOWN), "calls": prompt(number, "calls")}
        traces.append(trace(f"q{number}", [candidate(text), of_graph], prompts=prompts))
    return write_run(folder, rows, traces)


def test_what_was_learned_from_a_run_serves_the_engine(
    tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "probe.json"
    run = run_of(tmp_path / "run", 60)
    assert main([str(run), "--out", str(out), "--model", str(tiny), "--layer", "2", "--split", "any"]) == 0
    assert "auc 1.000" in capsys.readouterr().out
    card = json.loads((tmp_path / "probe" / "run_card.json").read_text())
    assert (card["metrics"]["answers"], card["settings"]["layer"]) == (60, 2)
    engine = load_language_model(OpenvinoEngine(engine="openvino", model=str(tiny), probe=str(out)))
    for number in (101, 202):
        requests = [
            GenerationRequest(messages=tuple(Message(**turn) for turn in prompt(number, ending)))  # type: ignore[arg-type]
            for ending in (KNOWN, UNKNOWN)
        ]
        knows, does_not = (one.probe_log_odds for one in engine.generate(requests, Deadline(60)))
        assert knows is not None
        assert does_not is not None
        assert knows > 0 > does_not


def test_too_few_answers_are_one_line(tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = run_of(tmp_path / "run", 3)
    out = tmp_path / "probe.json"
    assert main([str(run), "--out", str(out), "--model", str(tiny), "--layer", "1", "--split", "any"]) == 2
    assert "too few answers from pages" in capsys.readouterr().err
    assert not out.exists()
