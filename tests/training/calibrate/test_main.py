"""`python -m training.calibrate`: runs in, a model that the agent reads out, faults in one line."""

import json
from pathlib import Path

import pytest

from agents.answering import ConfidenceModel
from tests.training.calibrate.synthetic import RIGHT, answered_run, candidate, row, trace, true_probability, write_run
from training.calibrate.__main__ import main


@pytest.fixture(autouse=True)
def few_folds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("training.calibrate.__main__.FOLDS", 2)


def test_a_model_that_the_agent_reads_with_its_card(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = [str(answered_run(tmp_path / f"run{seed}", 150, seed)) for seed in (1, 2)]
    out = tmp_path / "mine.json"
    assert main([*runs, "--out", str(out)]) == 0
    model = ConfidenceModel.load(str(out))
    assert model.invalid is None
    assert model.covers == ("web",)
    for logit in (-2.0, 4.0, 9.0):
        likely = model.correct.probability({"top_passage_logit": logit})
        assert likely == pytest.approx(true_probability(logit), abs=0.12)
    data = json.loads(out.read_text(encoding="utf-8"))
    assert (data["trained_on"]["asked"], data["trained_on"]["different_questions"]) == (300, 150)
    assert len(data["trained_on"]["runs"]) == 2
    assert "CC BY-NC 4.0" in data["trained_on"]["licence"]
    assert set(data["cross_validated"]["calibrated"]) == {"score", "ci", "accuracy", "hallucination", "missing"}
    assert "a false premise" in data["without_invalid"]
    card = json.loads((tmp_path / "mine" / "run_card.json").read_text(encoding="utf-8"))
    assert card["data"]["run1 predictions.jsonl"]["sha256"] == data["trained_on"]["runs"][0]["predictions_sha256"]
    assert "calibrated minus always answer" in capsys.readouterr().out
    assert main([*runs, "--out", str(tmp_path / "again.json")]) == 0
    assert (tmp_path / "again.json").read_bytes() == out.read_bytes()


def test_routes_that_are_too_sure_of_themselves_are_replaced(tmp_path: Path) -> None:
    """In the run the router knows every answer's fate: it was trained on these questions. Out of fold it does not."""
    run = answered_run(tmp_path / "run", 100, 1)
    lines = (run / "traces.jsonl").read_text(encoding="utf-8").splitlines()
    traces, routes = [], []
    for line in lines:
        one = json.loads(line)
        sure = 1.0 if one["candidates"][0]["text"] == RIGHT else 0.0
        one["candidates"][0]["features"]["domain=movie"] = sure
        traces.append({**one, "route": {"domain": {"label": "movie", "probabilities": {"movie": sure}}}})
        unseen = {"domain": {"label": "movie", "probabilities": {"movie": 0.5}}}
        routes.append({"interaction_id": one["interaction_id"], "route": unseen})
    (run / "traces.jsonl").write_text("".join(json.dumps(one) + "\n" for one in traces), encoding="utf-8")
    file = tmp_path / "out_of_fold.jsonl"
    file.write_text("".join(json.dumps(one) + "\n" for one in routes), encoding="utf-8")
    out = str(tmp_path / "model.json")
    assert main([str(run), "--out", out]) == 0
    assert "domain=movie" in ConfidenceModel.load(out).correct.features
    assert main([str(run), "--out", out, "--routes", str(file)]) == 0
    assert "domain=movie" not in ConfidenceModel.load(out).correct.features


def test_faults_are_reported_in_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    silent = write_run(tmp_path / "silent", [row("a", "i don't know", "missing")], [trace("a", [])])
    sure = [row(f"q{n}", RIGHT, "correct") for n in range(9)]
    always = write_run(
        tmp_path / "always", sure, [trace(f"q{n}", [candidate(RIGHT, {"x": float(n)})]) for n in range(9)]
    )
    routes = tmp_path / "routes.jsonl"
    routes.write_text('{"interaction_id": "of another file", "route": {}}\n', encoding="utf-8")
    out = ["--out", str(tmp_path / "model.json")]
    for arguments, message in [
        ([str(tmp_path / "nothing"), *out], "expected one written by local_evaluation.py"),
        ([str(silent), *out], "no trace has an answer that can be judged"),
        ([str(always), *out], "9 right and 0 wrong; at least 5 different questions of each kind are needed"),
        ([str(always), *out, "--routes", str(routes)], "no route matches a question of the runs"),
        ([str(always), *out, "--judge", "llm"], "llm judge"),
    ]:
        assert main(arguments) == 2
        reported = capsys.readouterr().err
        assert reported.startswith("error: ")
        assert message in reported
        assert reported.count("\n") == 1
    assert not (tmp_path / "model.json").exists()
