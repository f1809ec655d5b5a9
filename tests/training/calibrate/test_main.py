"""`crag train calibrate`: runs in, a model that the agent reads out, faults in one line."""

import json
from pathlib import Path

import pytest

from crag.answering import ConfidenceModel
from crag.commands.train.calibrate import main
from tests.training.calibrate.synthetic import RIGHT, answered_run, candidate, row, trace, true_probability, write_run


@pytest.fixture(autouse=True)
def few_folds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crag.commands.train.calibrate.FOLDS", 2)


def test_a_fitted_model_is_read_by_the_agent_and_has_a_card(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = [str(answered_run(tmp_path / f"run{seed}", 150, seed)) for seed in (1, 2)]
    out = tmp_path / "mine.json"

    assert main([*runs, "--out", str(out)]) == 0
    model = ConfidenceModel.load(str(out))
    assert model.covers == ("web",)

    for logit in (-2.0, 4.0, 9.0):
        p_correct = model.correct.probability({"top_passage_logit": logit})
        assert p_correct == pytest.approx(true_probability(logit), abs=0.12)

    data = json.loads(out.read_text(encoding="utf-8"))
    assert (data["trained_on"]["asked"], data["trained_on"]["different_questions"]) == (300, 150)
    assert set(data["cross_validated"]["calibrated"]) == {"score", "ci", "accuracy", "hallucination", "missing"}

    card = json.loads((tmp_path / "mine" / "run_card.json").read_text(encoding="utf-8"))
    assert "run1 predictions.jsonl" in card["data"]
    assert "against always answer" in capsys.readouterr().out

    assert main([*runs, "--out", str(tmp_path / "again.json")]) == 0
    assert (tmp_path / "again.json").read_bytes() == out.read_bytes()


def test_fitted_to_pages_the_graph_keeps_its_part(tmp_path: Path) -> None:
    run = answered_run(tmp_path / "run", 150, seed=1)
    out = tmp_path / "mine.json"
    assert main([str(run), "--keep-graph", "cpu", "--out", str(out)]) == 0

    mine, kept = ConfidenceModel.load(str(out)), ConfidenceModel.load("cpu")
    value = {"from_graph": 1.0, "from_values": 1.0, "calls_log_probability": -0.1}
    assert mine.probability(value) == kept.probability(value)
    for logit in (-2.0, 4.0, 9.0):
        assert mine.probability({"top_passage_logit": logit}) == pytest.approx(true_probability(logit), abs=0.12)
    assert json.loads(out.read_text(encoding="utf-8"))["graph_trained_on"]["asked"] > 1000


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A folder with two runs: one without an answer, and one whose 11 answers are all right."""
    write_run(tmp_path / "silent", [row("a", "i don't know", "missing")], [trace("a", [])])

    sure = [row(f"q{n}", RIGHT, "correct") for n in range(11)]
    answers = [trace(f"q{n}", [candidate(RIGHT, {"x": float(n)})]) for n in range(11)]
    write_run(tmp_path / "always", sure, answers)
    return tmp_path


@pytest.mark.parametrize(
    ("run", "options", "message"),
    [
        ("nowhere", [], "nowhere: there is no such folder; expected one written by local_eval"),
        ("silent", [], "at least 10 answers of one kind (web, graph) are needed"),
        ("always", [], "11 right and 0 wrong; at least 5 different questions of each kind are needed"),
        ("always", ["--judge", "llm"], "llm judge"),
        ("always", ["--keep-graph", "no_such"], "no_such"),
        ("always", ["--only", "x", "first_entropie"], "--only first_entropie: no answer of these runs has it"),
        ("silent", ["--keep-graph", "cpu"], "at least 10 answers from pages are needed"),
    ],
)
def test_a_fault_is_reported_in_a_line_and_nothing_is_written(
    runs: Path, capsys: pytest.CaptureFixture[str], run: str, options: list[str], message: str
) -> None:
    out = runs / "model.json"
    assert main([str(runs / run), "--out", str(out), *options]) == 2

    reported = capsys.readouterr().err
    assert reported.startswith("error: ")
    assert message in reported
    assert reported.count("\n") == 1
    assert "again" not in reported
    assert not out.exists()
