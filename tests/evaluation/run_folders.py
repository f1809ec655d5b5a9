"""Finished runs for tests, written without an agent."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from crag.evaluation.store import RunStore


def record(number: int, verdict: str, batch_size: int = 1, **more: Any) -> dict[str, Any]:
    """A row of predictions.jsonl about question `number`."""
    return {
        "interaction_id": f"id{number}",
        "occurrence": 0,
        "batch": number // batch_size,
        "query": f"question {number}?",
        "prediction": f"{verdict} answer {number}",
        "answer": f"gold {number}",
        "alt_ans": [],
        "verdict": verdict,
        "reason": "",
        "gates": [],
        "domain": ("movie", "music")[number % 2],
        "seconds": 1.0,
        "batch_seconds": 1.0,
        "batch_size": batch_size,
        "timed_out": False,
        "error": None,
        **more,
    }


def write_run(
    folder: Path, records: Sequence[dict[str, Any]], signature: Mapping[str, Any] | None = None, **run: Any
) -> Path:
    """A folder as local_evaluation.py leaves it, for rows in batches of one; the folder."""
    store = RunStore(folder, {"preset": "x@1", "judge": "rules@1", **(signature or {})})
    store.update(batch_size=1)
    for row in records:
        store.append([row], [])
    store.update(questions=run.get("questions", len(records)))
    store.close()
    return folder
