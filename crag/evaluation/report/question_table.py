"""The report's table of questions: its rows, and the fields to filter them by."""

from collections.abc import Mapping
from typing import Any

from crag.evaluation.metrics import UNLABELLED, field_title
from crag.evaluation.report.finished_run import RETRIEVAL_TITLES, FinishedRun, yes_or_no
from crag.evaluation.retrieval_quality import RANK

LONGEST_RULE_NAME = 30
"""Characters; what is longer before the colon of a reason is prose of another judge."""
_FACET_TITLES = {"gates": "gate", "source": "answer from", "lost": "lost to"}


def facet_title(field: str) -> str:
    """A field's display name."""
    return _FACET_TITLES.get(field) or RETRIEVAL_TITLES.get(field) or field_title(field)


def table_data(run: FinishedRun) -> dict[str, Any]:
    """The data of the page's script: ``rows``, and ``facets``, fields to filter by, with titles.

    Facets with only one value are left out.
    """
    rows = [_table_row(run, record, position) for position, record in enumerate(run.records)]
    facets: list[dict[str, str]] = []
    for field in ("verdict", "lost", *run.labels, "gates", "judged_by", "source", *RETRIEVAL_TITLES):
        values = {str(row[field]) for row in rows}
        # A filter with one value would select everything
        if len(values) > 1:
            facets.append({"field": field, "title": facet_title(field)})
    return {"rows": rows, "facets": facets, "limit": run.limit}


def _table_row(run: FinishedRun, record: Mapping[str, Any], position: int) -> dict[str, Any]:
    answer = run.trace(record).get("answer")
    # Another agent's trace may have any form
    source = answer.get("source") if isinstance(answer, Mapping) else None
    probability = run.probability(record)

    labels = {name: record.get(name) or UNLABELLED for name in run.labels}
    gates = {firing["name"] for firing in record.get("gates", ())}

    return {
        "id": row_id(record),
        "place": position,
        "query": record["query"],
        "prediction": record["prediction"],
        "gold": record.get("answer"),
        "verdict": record["verdict"],
        "lost": record.get("lost") or UNLABELLED,
        **labels,
        "gates": sorted(gates) or [UNLABELLED],
        "judged_by": _rule_name(record.get("reason") or ""),
        "source": source if isinstance(source, str) and source else UNLABELLED,
        **{name: yes_or_no(record, name) for name in RETRIEVAL_TITLES},
        RANK: record.get(RANK),
        "probability": None if probability is None else round(probability, 4),
        "seconds": record["seconds"],
    }


def _rule_name(reason: str) -> str:
    """The rule's name, with which a judge's reason starts."""
    # "number: both say 5" -> "number"
    name, colon, _ = reason.partition(":")
    return name if colon and len(name) <= LONGEST_RULE_NAME else UNLABELLED


def row_id(record: Mapping[str, Any]) -> str:
    """The question's name in links: its interaction id and, from the second row of that id on, which one."""
    if not record["occurrence"]:
        return str(record["interaction_id"])
    return f"{record['interaction_id']}:{record['occurrence']}"
