"""The limit of each field of a batch; `agents.queries` applies them and notes cuts in the trace.

Names, snippets and addresses are processed in this process, where only their size bounds the time. The limits of later
stages (`web.extract`, `knowledge_graph.client`) are settings.
"""

from typing import NamedTuple


class Limit(NamedTuple):
    """The limit of a field, its unit, and the reason."""

    most: int
    unit: str
    reason: str


LIMITS: dict[str, Limit] = {
    "interaction_id": Limit(200, "characters", "identifiers are UUIDs of 36; every trace has them"),
    "query": Limit(2_000, "characters", "the longest public question has 204; every prompt contains it, some twice"),
    "query_time": Limit(100, "characters", "the evaluator's form has 23; prompts contain it"),
    "search_results": Limit(50, "results", "task 3 gives 50; each is ranked, and the best are read"),
    "page_name": Limit(500, "characters", "real titles have fewer than 100; rankers and prompts read them"),
    "page_url": Limit(2_000, "characters", "the limit of browsers and servers; the context shows the host"),
    "page_snippet": Limit(10_000, "characters", "real ones have up to 3,000; they are cut into passages like pages"),
    "page_last_modified": Limit(100, "characters", "a date"),
    "page_result": Limit(
        20_000_000,
        "characters",
        "real pages have up to 1.6 million; only `web.extract.max_bytes` are parsed",
    ),
}
"""By the field's name in the evaluator's batch."""


def cut_note(field: str, found: int, place: str = "") -> str:
    """The trace's sentence about a field that exceeds its limit."""
    limit = LIMITS[field]
    return f"{place}{field} was cut from {found:,} to {limit.most:,} {limit.unit}"
