"""The rows of the report's table of questions, and by what they can be filtered."""

from collections.abc import Mapping, Sequence
from typing import Any

from evaluation.metrics import UNLABELLED, field_title
from evaluation.report.confidence import likeliest
from evaluation.report.packing import BLOCK_QUESTIONS
from evaluation.report.run_folder import FinishedRun

_OWN_TITLES = {"gates": "gate", "source": "answer from"}
"""Of fields that are no labels and whose names do not say what they are."""


def title(field: str) -> str:
    """A field's name for people."""
    return _OWN_TITLES.get(field) or field_title(field)


def labels(run: FinishedRun) -> list[str]:
    """The label fields that results.json slices by and that questions carry."""
    slices = run.results.get("slices")
    sliced = list(slices) if isinstance(slices, Mapping) else []
    return [field for field in sliced if any(field in record for record in run.records)]


def table_data(run: FinishedRun) -> dict[str, Any]:
    """What the page's script reads: ``rows``, and ``facets``, each a field to filter by with its title.

    A facet whose value is the same for all questions is left out.
    """
    fields = labels(run)
    rows = [_row(record, run.trace(record), place, fields) for place, record in enumerate(run.records)]
    names = ("verdict", *fields, "gates", "judged_by", "source")
    facets = [{"field": name, "title": title(name)} for name in names if len({str(row[name]) for row in rows}) > 1]
    return {"rows": rows, "facets": facets, "limit": run.limit, "block_questions": BLOCK_QUESTIONS}


def _row(record: Mapping[str, Any], trace: Mapping[str, Any], place: int, fields: Sequence[str]) -> dict[str, Any]:
    candidate = likeliest(trace)
    answer = trace.get("answer")
    occurrence = record.get("occurrence", 0)
    return {
        "id": record["interaction_id"] + (f":{occurrence}" if occurrence else ""),
        "place": place,
        "query": record["query"],
        "prediction": record["prediction"],
        "gold": record.get("answer"),
        "verdict": record["verdict"],
        **{field: record.get(field) or UNLABELLED for field in fields},
        "gates": sorted({firing["name"] for firing in record.get("gates", ())}) or [UNLABELLED],
        "judged_by": _kind(record.get("reason") or ""),
        "source": (isinstance(answer, Mapping) and isinstance(answer.get("source"), str) and answer["source"])
        or UNLABELLED,
        "probability": candidate and round(float(candidate["probability"]), 4),
        "seconds": record.get("seconds"),
    }


def _kind(reason: str) -> str:
    """The rule that a judge's reason begins with, as in ``number: both say 3``."""
    kind, colon, _ = reason.partition(":")
    return kind if colon and len(kind) <= 30 else UNLABELLED
