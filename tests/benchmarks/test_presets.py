"""The comparison of presets: what is run instead of models that are not here, and what the tables say."""

import json
from pathlib import Path
from typing import Any

import pytest

from agents.settings import EncoderRouter, TransformersEngine, load_settings
from benchmarks import presets
from evaluation.cli import main as run_evaluation

WITH_GATE = """
description = "Says no level of confidence, so that its self-assessment withholds everything"
language_model = { engine = "scripted", default_reply = "Paris" }

[web]
pages = { keep = 1, method = "search_order" }
chunk = { method = "words" }
retrieve = [{ method = "bm25", top_k = 2 }]

[answering]
prompt = "assessed"
self_assessment = { accepted = ["high"] }
refine = {}
"""


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    """Two questions; the gated preset's "Paris" answers the second."""
    page = {"page_name": "p", "page_url": "u", "page_snippet": "", "page_result": "<p>France and Paris.</p>"}
    common = {"query_time": "03/14/2024, 10:21:07 PT", "search_results": [page]}
    rows = [
        common | {"interaction_id": name, "query": f"what is the capital of {country}?", "answer": capital}
        for name, country, capital in (("a", "Italy", "Rome"), ("b", "France", "Paris"))
    ]
    path = tmp_path / "capitals.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return path


@pytest.mark.parametrize("preset", presets.PRESETS)
def test_missing_models_are_replaced_and_all_else_stays(
    preset: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, evaluations: list[Any]
) -> None:
    monkeypatch.setenv("CRAG_MODELS_DIR", str(tmp_path / "nothing"))
    own, cpu = load_settings(preset, ()), load_settings("cpu", ())
    data = ["--dataset", "data/sample/questions.jsonl", "--output", str(tmp_path)]
    assert presets.main(["--presets", preset, "--limit", "3", *data]) == 2
    (asked,) = evaluations
    small = load_settings(asked.preset, asked.set)
    assert small.language_model == cpu.language_model
    assert small.dense_encoder == (cpu.dense_encoder if own.dense_encoder else None)
    assert small.cross_encoder == (cpu.cross_encoder if own.cross_encoder else None)
    # A router by prompt asks whichever language model there is.
    assert small.router == (presets.SMALL_ROUTER if isinstance(own.router, EncoderRouter) else own.router)
    assert small.answering == own.answering.model_copy(update={"audit": True})
    assert small.web.model_copy(update={"context": own.web.context}) == own.web
    assert small.web.context.max_tokens == min(own.web.context.max_tokens, 600)
    assert (asked.mock_kg is not None) == (own.knowledge_graph is not None)
    assert (asked.resume, asked.limit) == (True, 3)
    plan = presets.make_plan(own)
    assert plan.stand_ins
    if preset == "nec":
        assert "qwen2.5-coder-1.5b-instruct for llama-2-70b-awq" in plan.stand_ins
        assert "cpu for nec_domain + nec_question_type + nec_dynamism" in plan.stand_ins
        assert plan.caps == ["web.context.max_tokens 600 instead of 3800"]
        assert plan.gates[0] == "question_type false_premise/post-processing"
        assert plan.gates[-1] == "refine"


def test_a_model_that_is_here_is_used_where_its_device_is_too(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    settings = TransformersEngine(engine="transformers", model=str(tmp_path), device="cpu")
    assert presets.runs_here("language_model", settings)
    assert not presets.runs_here("language_model", settings.model_copy(update={"device": "cuda:99"}))
    assert not presets.runs_here("language_model", settings.model_copy(update={"model": str(tmp_path / "absent")}))


def test_a_run_gives_tables_of_scores_and_gates_and_is_not_repeated(
    tmp_path: Path, questions: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    gated, output = tmp_path / "gated.toml", tmp_path / "out"
    gated.write_text(WITH_GATE, encoding="utf-8")
    arguments = ["--presets", "scripted", str(gated), "--dataset", str(questions), "--output", str(output)]
    assert presets.main([*arguments, "--no-kg"]) == 0
    reported = (output / "report.md").read_text(encoding="utf-8")
    assert reported.strip() in capsys.readouterr().out
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in reported.splitlines() if "|" in line]
    scores = {row[0]: row for row in cells if len(row) == 9}
    assert scores["gated"][1:3] == ["2", "+0.000"]
    assert scores["gated"][8] == "own"
    gates = {tuple(row[:2]): row[2:] for row in cells if len(row) == 8}
    assert gates["scripted", "(has none)"] == [""] * 6
    assert gates["gated", "self-assessment"][:5] == ["2", "1", "1", "0", "0"]
    assert gates["gated", "self-assessment"][5].startswith("+0.000 [")
    assert gates["gated", "refine"] == ["0", "0", "0", "0", "0", "+0.000"], "a gate that never fired has a row too"
    facts = json.loads((output / "report.json").read_text(encoding="utf-8"))
    assert facts["capitals.jsonl"]["gated"]["missing"] == 1.0

    assert presets.main([*arguments, "--no-kg"]) == 0
    run = json.loads((output / "capitals" / "gated" / "run.json").read_text(encoding="utf-8"))
    assert len(run["sittings"]) == 1, "where all is answered the agent is not even started"

    monkeypatch.setattr("benchmarks.common.evaluate", lambda _: pytest.fail("a report runs nothing"))
    assert presets.main([*arguments, "--report-only"]) == 0


def test_a_preset_that_cannot_run_is_reported_and_the_others_go_on(
    tmp_path: Path, questions: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ["--presets", "nec", "scripted", "--dataset", str(questions), "--output", str(tmp_path / "out")]
    assert presets.main([*arguments, "--report-only"]) == 2
    assert "no finished run" in capsys.readouterr().err
    monkeypatch.setattr("benchmarks.common.evaluate", lambda line: 2 if "nec" in line else run_evaluation(line))
    assert presets.main([*arguments, "--no-kg"]) == 2
    assert "nec over capitals.jsonl: no finished run" in capsys.readouterr().err
    assert list(json.loads((tmp_path / "out" / "report.json").read_text())["capitals.jsonl"]) == ["scripted"]
    assert presets.main(["--presets", "necc", "--output", str(tmp_path)]) == 2
    assert "there is no preset 'necc'" in capsys.readouterr().err
