"""The most that is used of each field of a batch; `agents.queries` applies the table and notes cuts in the trace.

Names, snippets and addresses are processed in this process, where only size bounds the time. Bounds of later stages
(`web.extract`, `knowledge_graph.client`) are settings.
"""

from typing import NamedTuple


class Limit(NamedTuple):
    """The most that is kept of a field, its unit, and why."""

    most: int
    unit: str
    reason: str


LIMITS: dict[str, Limit] = {
    "interaction_id": Limit(200, "characters", "an identifier is a UUID of 36; it stands in every trace"),
    "query": Limit(
        2_000, "characters", "the longest public question has 204; every prompt of the question holds it, some twice"
    ),
    "query_time": Limit(100, "characters", "the evaluator's form has 23; prompts hold it"),
    "search_results": Limit(50, "results", "task 3 gives 50; each is ranked, and the best are read"),
    "page_name": Limit(500, "characters", "real titles have less than 100; rankers and prompts read it"),
    "page_url": Limit(2_000, "characters", "what browsers and servers take; the context shows the host"),
    "page_snippet": Limit(10_000, "characters", "real ones have up to 3,000; they are cut into passages like pages"),
    "page_last_modified": Limit(100, "characters", "a date"),
    "page_result": Limit(
        20_000_000,
        "characters",
        "real pages have up to 1.6 million, and the reading processes parse `web.extract.max_bytes` of it; "
        "the rest would only be copied",
    ),
}
"""By the evaluator's name of the field."""


def cut_note(field: str, found: int, place: str = "") -> str:
    """The sentence for the trace where a field has more than its limit."""
    limit = LIMITS[field]
    return f"{place}{field} was cut from {found:,} to {limit.most:,} {limit.unit}"
