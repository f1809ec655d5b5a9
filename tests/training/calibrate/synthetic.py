"""Finished runs on disk whose probabilities are known."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from crag.training.calibrate.questions import AskedQuestion, JudgedCandidate

RIGHT, WRONG = "the right answer", "another answer"


def true_probability(logit: float) -> float:
    """P(correct) of an answer whose best passage has this logit, in all synthetic runs."""
    return float(1 / (1 + np.exp(-(0.5 * logit - 2.0))))


def asked(count: int, seed: int, each: int = 1) -> list[AskedQuestion]:
    """Questions asked `each` times, with one answer, whose only informative feature is the logit."""
    chance = np.random.default_rng(seed)
    found = []
    for number in range(count):
        for _ in range(each):
            logit, noise = chance.normal(3, 4), chance.normal()
            right = chance.random() < true_probability(logit)
            features = {"top_passage_logit": logit, "mean_log_probability": noise, "from_graph": 0.0}
            answer = JudgedCandidate(RIGHT, bool(right), features)
            found.append(AskedQuestion(f"q{number}", f"q{number}", (answer,)))
    return found


def row(name: str, prediction: str, verdict: str, **more: Any) -> dict[str, Any]:
    """A row of predictions.jsonl."""
    place = {"interaction_id": name, "occurrence": 0, "batch": 0, "batch_size": 1, "split": 0}
    judged = {"prediction": prediction, "answer": RIGHT, "alt_ans": [], "verdict": verdict}
    return {"query": f"what about {name}?"} | place | judged | more


def trace(name: str, candidates: Sequence[Mapping[str, Any]], **more: Any) -> dict[str, Any]:
    """A row of traces.jsonl."""
    place = {"interaction_id": name, "occurrence": 0, "batch": 0}
    whole = {"query": f"what about {name}?", "query_time": "", "route": None, "candidates": [*candidates], "gates": []}
    return {**place, **whole, **more}


def candidate(text: str, features: Mapping[str, float] | None = None, source: str = "web") -> dict[str, Any]:
    """An entry of a trace's candidates."""
    return {"text": text, "source": source, "features": dict(features or {}), "probability": None}


def write_run(folder: Path, rows: list[dict[str, Any]], traces: list[dict[str, Any]]) -> Path:
    """The files of a run; gives the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    run = {"identity": {"judge": "rules@1"}, "signature": {"judge": "rules@1", "python": "3.11"}}
    (folder / "run.json").write_text(json.dumps(run), encoding="utf-8")
    for name, lines in (("predictions.jsonl", rows), ("traces.jsonl", traces)):
        (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return folder


def answered_run(folder: Path, count: int, seed: int) -> Path:
    """A run with one answer to each question."""
    rows, traces = [], []
    for question in asked(count, seed):
        answer = question.candidates[0]
        text = RIGHT if answer.right else WRONG
        rows.append(row(question.interaction_id, text, "correct" if answer.right else "incorrect"))
        traces.append(trace(question.interaction_id, [candidate(text, answer.features)]))
    return write_run(folder, rows, traces)
