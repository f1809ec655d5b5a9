"""The comparison of ways to abstain: what is asked, and what each rule makes of the same drafts."""

import json
from pathlib import Path
from typing import Any

import pytest

from agents.settings import load_settings
from benchmarks import abstention
from benchmarks.abstention_rules import rules
from evaluation.cli import _parser as evaluation_parser
from tests.training.calibrate.synthetic import RIGHT, WRONG, row, trace, write_run
from training.calibrate.runs import FinishedRun, read_run

CLASSES = {"domain": "movie", "question_type": "simple", "static_or_dynamic": "static"}


def test_the_changes_are_settings_of_the_cpu_preset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []

    def evaluate(arguments: list[str]) -> int:
        asked.append(arguments)
        return 0

    monkeypatch.setattr(abstention, "evaluate", evaluate)
    contexts = tmp_path / "contexts.jsonl"
    contexts.write_text('{"interaction_id": "a", "query": "q", "segments": []}\n', encoding="utf-8")
    assert abstention.main(["run", "--output", str(tmp_path), "--contexts", str(contexts), "--limit", "6"]) == 0
    (arguments,) = asked
    options = evaluation_parser().parse_args(arguments)
    settings = load_settings(options.preset, options.set)
    assert settings.knowledge_graph is None
    assert settings.public_data is None
    assert settings.answering.confidence is None
    assert settings.answering.gates == ()
    assert settings.web.pages.keep == abstention.MOST_SEGMENTS
    assert settings.answering.refine is not None
    assert settings.answering.self_assessment is not None
    assert settings.answering.self_assessment.asked == "afterwards"
    assert len(settings.answering.self_assessment.accepted) == 3, "nothing is withheld before all has been asked"
    assert options.resume
    assert options.limit == 6


def answered(name: str, said: str, level: str, final: str, verdict: str, logit: float, **classes: str) -> Any:
    """A row and a trace: what the model said, how sure it is, what the run gave in the end."""
    passage = {"text": "t", "url": "", "page_name": "", "page_rank": 0, "kind": "page", "start": 0, "end": 1}
    generation = {"text": said, "mean_log_probability": -0.3, "finish_reason": "stop"}
    generations = {"answer": generation, "assess": {**generation, "text": level}}
    passages = [{**passage, "scores": {"bm25": 1.0, "cross_encoder": logit}}]
    return (
        row(name, final, verdict, **{**CLASSES, **classes}),
        trace(name, [], passages=passages, generations=generations),
    )


def finished(folder: Path, pairs: list[Any]) -> FinishedRun:
    rows, traces = zip(*pairs, strict=True)
    return read_run(write_run(folder, list(rows), list(traces)))


def test_rules_withhold_what_their_papers_say(tmp_path: Path) -> None:
    run = finished(
        tmp_path,
        [
            answered("a", RIGHT, "Confidence: medium", RIGHT, "correct", 3.0),
            answered(
                "b", WRONG, "low", "i don't know", "missing", 3.0, domain="finance"
            ),  # the second look withdrew it
            answered("c", WRONG, "high", RIGHT, "correct", 1.0),  # corrected by it; the passage scores 0.73
            answered("d", "I do not know.", "", "i don't know", "missing", 3.0),
            answered("e", RIGHT, "**High**", WRONG, "incorrect", 3.0, static_or_dynamic="real-time"),
        ],
    )
    unsure = {
        "question_type": {"label": "simple"},
        "domain": {"label": "movie"},
        "static_or_dynamic": {"label": "static"},
    }
    seen = {**unsure, "domain": {"label": "finance"}}
    routes = {name: seen if name == "a" else unsure for name in "abcde"}  # a router that errs
    found, calibrations, notes = rules(run, routes, folds=2, seed=0)
    earned = {rule.name: rule.rewards.astype(int).tolist() for rule in found}
    assert earned["always i don't know"] == [0, 0, 0, 0, 0]
    assert earned["plain answering"] == [1, -1, -1, 0, 1]
    assert earned["refine"] == [1, 0, 1, 0, -1]
    assert earned["gate: domain finance"] == [0, -1, -1, 0, 1]
    assert earned["gate: top_passage above 0.8"] == [1, -1, 0, 0, 1]
    assert earned["gates: all of NEC"] == [0, -1, 0, 0, 1]
    assert earned["gates: all of NEC, true classes"] == [1, 0, 0, 0, 0]
    assert earned["self-assessment: high"] == [0, 0, -1, 0, 1]
    assert earned["self-assessment: high or medium"] == [1, 0, -1, 0, 1]
    assert calibrations == {}
    assert any("calibrated: too few answers" in note for note in notes)


def test_the_report_compares_over_whole_questions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pairs = []
    for number in range(40):
        said = RIGHT if number % 2 else WRONG
        right, logit = ("correct", 6.0) if number % 2 else ("incorrect", -2.0)
        pairs.append(answered(f"q{number}", said, "high", said, right, logit + number % 3))
    finished(tmp_path, pairs)
    assert abstention.main(["report", "--output", str(tmp_path), "--folds", "4", "--repeats", "1"]) == 0
    told = capsys.readouterr().out
    facts = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert facts["rules"]["plain answering"]["score"] == 0.0
    assert facts["rules"]["calibrated"]["score"] == pytest.approx(0.5)  # the passage tells right from wrong
    paired = facts["rules"]["plain answering"]["calibrated_against_it"]["calibrated"]
    assert paired["ci"][0] > 0.2
    assert "| calibrated | +0.500 [" in told
    assert "left out: class gates as the router sees the classes" in told
    assert (tmp_path / "pictures" / "scores.svg").is_file()
    assert (tmp_path / "pictures" / "calibrated" / "score_curve.svg").is_file()


def test_a_missing_run_is_told_in_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert abstention.main(["report", "--output", str(tmp_path)]) == 2
    assert "run.json: missing" in capsys.readouterr().err
