"""The evaluator's batch -> `Query` objects. A malformed row costs one answer, a malformed batch is an error."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime

from agents.contracts import Page, Query

BATCH_KEYS = ("interaction_id", "query", "search_results", "query_time")
"""Exactly what the evaluator hands over; domain, question type and dynamism are withheld at run time."""

_PAGE_FIELDS = {
    "name": "page_name",
    "url": "page_url",
    "snippet": "page_snippet",
    "html": "page_result",
    "last_modified": "page_last_modified",
}
_LONE_SURROGATES = re.compile("[\ud800-\udfff]")


class BatchFormatError(ValueError):
    """The batch as a whole cannot be read; the message names the key and what is wrong with it."""


def parse_batch(batch: Mapping[str, Sequence[object]]) -> list[Query]:
    """Read a batch of column lists.

    Raises:
        BatchFormatError: a key is missing, a column is not a list, or the columns differ in length.
    """
    columns: dict[str, Sequence[object]] = {}
    for key in BATCH_KEYS:
        if key not in batch:
            raise BatchFormatError(f"batch: key {key!r} is missing; expected {', '.join(BATCH_KEYS)}")
        column = batch[key]
        if not isinstance(column, Sequence) or isinstance(column, str):
            raise BatchFormatError(f"batch: {key!r} must be a list, found {type(column).__name__}")
        columns[key] = column
    lengths = {key: len(column) for key, column in columns.items()}
    if len(set(lengths.values())) > 1:
        raise BatchFormatError(f"batch: the columns differ in length: {lengths}")
    return [parse_row(*row) for row in zip(*columns.values(), strict=True)]


def parse_row(interaction_id: object, query: object, search_results: object, query_time: object) -> Query:
    """Read one row. What is wrong with the question itself becomes `Query.fault`; a broken search result is skipped."""
    fault = None
    if not isinstance(query, str) or not query.strip():
        fault = f"the query is not a text with words in it, but {query!r}"
    if not isinstance(search_results, Sequence) or isinstance(search_results, str):
        fault = fault or f"search_results is not a list, but {type(search_results).__name__}"
        search_results = ()
    time_text = clean_text(query_time)
    return Query(
        interaction_id=clean_text(interaction_id),
        text=" ".join(clean_text(query).split()),
        query_time=time_text,
        asked_at=parse_query_time(time_text),
        pages=tuple(_page(item, rank) for rank, item in enumerate(search_results) if isinstance(item, Mapping)),
        fault=fault,
    )


def parse_query_time(text: str) -> datetime | None:
    """``03/05/2024, 23:18:31 PT`` as Pacific wall-clock time without a zone; None where the text has another form."""
    try:
        return datetime.strptime(text.strip().removesuffix("PT").strip(), "%m/%d/%Y, %H:%M:%S")
    except ValueError:
        return None


def clean_text(value: object) -> str:
    """The value as text that any library can encode: "" for anything but a string, lone surrogates replaced."""
    return _LONE_SURROGATES.sub("\ufffd", value) if isinstance(value, str) else ""


def _page(item: Mapping[str, object], rank: int) -> Page:
    return Page(rank=rank, **{field: clean_text(item.get(key)) for field, key in _PAGE_FIELDS.items()})
