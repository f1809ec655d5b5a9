"""A probe fitted to a run of a tiny model, and used by the engine."""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from agents.answering import ConfidenceModel
from agents.deadline import Deadline
from agents.llm import GenerationRequest, Message, load_language_model
from agents.settings import OpenvinoEngine
from evaluation.batches import RowKey
from tests.agents.llm.tiny_models import build_tiny_llama
from tests.training.calibrate.synthetic import RIGHT, WRONG, candidate, row, trace, write_run
from training.calibrate.__main__ import main as calibrate
from training.calibrate.probe import Example, fit_probe, main
from training.calibrate.runs import read_run

REQUEST = GenerationRequest((Message("user", "?"),))
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


def test_copies_of_the_runs_have_the_word_of_probes_that_had_not_seen_the_question(tiny: Path, tmp_path: Path) -> None:
    run = run_of(tmp_path / "run", 60)
    copies, arguments = tmp_path / "copies", ["--model", str(tiny), "--layer", "2", "--split", "any"]
    out = tmp_path / "probe.json"
    assert main([str(run), "--out", str(out), *arguments, "--runs-out", str(copies)]) == 0
    of_pages, of_graph = [], []
    for question in read_run(copies / "run").questions:
        web, graph = question.trace["candidates"]
        of_pages.append((web["text"] == RIGHT, web["features"]["probe_log_odds"]))
        of_graph.append(graph["features"])
    assert len(of_pages) == 60
    assert min(odds for right, odds in of_pages if right) > max(odds for right, odds in of_pages if not right)
    assert not any("probe_log_odds" in features for features in of_graph)
    assert "probe_log_odds" not in (run / "traces.jsonl").read_text()
    calibrated = tmp_path / "calibrated.json"
    assert calibrate([str(copies / "run"), "--out", str(calibrated), "--folds", "2", "--split", "any"]) == 0
    assert "probe_log_odds" in ConfidenceModel.load(str(calibrated)).correct.names


def test_chance_stays_chance() -> None:
    """Held-out log-odds of labels that nothing tells cannot order them, whatever the probe learns by heart."""
    examples = [Example(REQUEST, RIGHT, number % 2 == 0, RowKey(f"q{number}", 0), f"q{number}") for number in range(80)]
    states = np.random.default_rng(0).normal(size=(80, 200))
    probe = fit_probe(states, examples, seed=0)
    right = np.array([example.right for example in examples])
    assert roc_auc_score(right, states @ probe.weights) > 0.95
    assert abs(roc_auc_score(right, probe.held_out) - 0.5) < 0.2


def test_too_few_answers_are_one_line(tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = run_of(tmp_path / "run", 3)
    out = tmp_path / "probe.json"
    assert main([str(run), "--out", str(out), "--model", str(tiny), "--layer", "1", "--split", "any"]) == 2
    assert "too few answers from pages" in capsys.readouterr().err
    assert not out.exists()
