"""Small runs of local_evaluation.py, written by hand."""

from pathlib import Path
from typing import Any

from tests.training.calibrate.synthetic import row, trace, write_run

CONTEXT = '<doc source="a.example" title="Ada Lovelace">\nAda Lovelace was born on 10 December 1815 in London.\n</doc>'
Pair = tuple[dict[str, Any], dict[str, Any]]


def asked(name: str, query: str, gold: str | None, said: str, context: str = CONTEXT, **more: Any) -> Pair:
    """A row of predictions.jsonl and one of traces.jsonl: `said` was the model's first answer, withheld later."""
    turns = [{"role": "system", "content": "Answer."}, {"role": "user", "content": f"{context}\n{query}"}]
    reported = {"query": query, "context": context, "prompts": {"answer": turns}}
    reported["generations"] = {"answer": {"text": said, "finish_reason": "stop"}}
    record = row(name, "i don't know", "missing", query=query, answer=gold, domain="open", **more)
    return record, trace(name, [], **reported)


def written(folder: Path, *pairs: Pair) -> Path:
    """The run's folder."""
    rows, traces = zip(*pairs, strict=True)
    return write_run(folder, list(rows), list(traces))
