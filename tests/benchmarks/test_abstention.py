"""The comparison of ways to abstain: what is asked, and what each rule makes of the same drafts."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from agents.settings import load_settings
from benchmarks import abstention
from tests.training.calibrate.synthetic import RIGHT, WRONG, row, trace, write_run
from training.calibrate.runs import FinishedRun, read_run

CLASSES = {"domain": "movie", "question_type": "simple", "static_or_dynamic": "static"}


def test_the_changes_are_settings_of_the_cpu_preset(tmp_path: Path, evaluations: list[Any]) -> None:
    contexts = tmp_path / "contexts.jsonl"
    contexts.write_text('{"interaction_id": "a", "query": "q", "segments": []}\n', encoding="utf-8")
    assert abstention.main(["run", "--output", str(tmp_path), "--contexts", str(contexts), "--limit", "6"]) == 2
    (options,) = evaluations
    settings = load_settings(options.preset, options.set)
    answering = settings.answering
    assert (settings.knowledge_graph, settings.public_data, answering.confidence, answering.gates) == (
        None,
        None,
        None,
        (),
    )
    assert settings.web.pages.keep == abstention.MOST_SEGMENTS
    assert answering.refine is not None
    assert answering.self_assessment is not None
    assert answering.self_assessment.asked == "afterwards"
    assert len(answering.self_assessment.accepted) == 3, "nothing is withheld before all has been asked"
    assert (options.resume, options.limit) == (True, 6)


def answered(name: str, said: str, level: str, final: str, verdict: str, logit: float, **classes: str) -> Any:
    """A row and a trace: what the model said, how sure it is, what the run gave in the end."""
    passage = {"text": "t", "url": "", "page_name": "", "page_rank": 0, "kind": "page", "start": 0, "end": 1}
    tokens = {"prompt_tokens": 9, "completion_tokens": 2}
    generation = {"text": said, "mean_log_probability": -0.3, "finish_reason": "stop", **tokens}
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
    pairs = [
        answered("a", RIGHT, "Confidence: medium", RIGHT, "correct", 3.0),
        # the second look withdraws the next one, and corrects the third, whose passage scores 0.73
        answered("b", WRONG, "low", "i don't know", "missing", 3.0, domain="finance"),
        answered("c", WRONG, "high", RIGHT, "correct", 1.0),
        answered("d", "I do not know.", "", "i don't know", "missing", 3.0),
        answered("e", RIGHT, "**High**", WRONG, "incorrect", 3.0, static_or_dynamic="real-time"),
    ]
    unsure = {name: {"label": label} for name, label in CLASSES.items()}
    seen = {**unsure, "domain": {"label": "finance"}}
    routes = {name: seen if name == "a" else unsure for name in "abcde"}  # a router that errs
    found = abstention.compare_rules(finished(tmp_path, pairs), routes, folds=2, seed=0)
    earned = {name: rewards.astype(int).tolist() for name, rewards in found.rewards.items()}
    assert earned == earned | {
        "always i don't know": [0, 0, 0, 0, 0],
        "plain answering": [1, -1, -1, 0, 1],
        "refine": [1, 0, 1, 0, -1],
        "gate: domain finance": [0, -1, -1, 0, 1],
        "gate: top_passage above 0.8": [1, -1, 0, 0, 1],
        "gates: all of NEC": [0, -1, 0, 0, 1],
        "gates: all of NEC, true classes": [1, 0, 0, 0, 0],
        "self-assessment: high": [0, 0, -1, 0, 1],
        "self-assessment: high or medium": [1, 0, -1, 0, 1],
    }
    assert found.calibrations == {}
    assert any("calibrated: too few answers" in note for note in found.left_out)


def test_the_report_compares_over_whole_questions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cases = [(WRONG, "incorrect", -2.0), (RIGHT, "correct", 6.0)] * 20
    pairs = [
        answered(f"q{number}", said, "high", said, verdict, logit + number % 3)
        for number, (said, verdict, logit) in enumerate(cases)
    ]
    finished(tmp_path, pairs)
    assert abstention.main(["report", "--output", str(tmp_path), "--folds", "4"]) == 0
    reported = capsys.readouterr().out
    facts = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert facts["rules"]["plain answering"]["score"] == 0.0
    assert facts["rules"]["calibrated"]["score"] == pytest.approx(0.5)  # the passage tells right from wrong
    paired = facts["rules"]["plain answering"]["calibrated_against_it"]["calibrated"]
    assert paired["ci"][0] > 0.2
    assert re.search(r"\| calibrated +\| \+0\.500 \[", reported)
    assert "left out: class gates with the router's classes" in reported
    assert (tmp_path / "pictures" / "scores.svg").is_file()
    assert (tmp_path / "pictures" / "calibrated" / "score_curve.svg").is_file()


def test_a_missing_run_is_reported_in_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert abstention.main(["report", "--output", str(tmp_path)]) == 2
    assert "run.json: missing" in capsys.readouterr().err
