"""Reads the evaluator's batch into `Query` objects. A malformed row costs one answer; a malformed batch is an error.

`LIMITS` bounds each field: names, snippets and addresses are processed in this process, where only their size bounds
the time. Later stages have limits in their modules (`crag.web.extract`, `crag.graph.client`).
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TypeGuard
from zoneinfo import ZoneInfo

from crag.core.contracts import Page, Query
from crag.core.text import clean, encodable

BATCH_KEYS = ("interaction_id", "query", "search_results", "query_time")
"""The evaluator's fields; domain, question type and dynamism are withheld at run time."""

TIME_FORMAT = "%m/%d/%Y, %H:%M:%S PT"
"""The form of `query_time`, which is Pacific time."""

LIMITS = {
    "interaction_id": 200,  # identifiers are UUIDs of 36; every trace has them
    "query": 2_000,  # the longest public question has 204; every prompt contains it, some twice
    "query_time": 100,  # the evaluator's form has 23; prompts contain it
    "search_results": 50,  # task 3 gives 50; each is ranked, and the best are read
    "page_name": 500,  # real titles have fewer than 100; rankers and prompts read them
    "page_url": 2_000,  # the limit of browsers and servers; the context shows the host
    "page_snippet": 10_000,  # real ones have up to 3,000; they are cut into passages like pages
    "page_result": 20_000_000,  # real pages have up to 1.6 million; 2 million bytes are parsed
}
"""The maximum length of each field: characters, but for `search_results` the number of results."""


class BatchFormatError(ValueError):
    """The whole batch is unreadable; the message names the key and the problem."""


def parse_batch(batch: Mapping[str, Sequence[object]]) -> list[Query]:
    """Read a batch of column lists. Raises BatchFormatError: a column is missing, is no list, or differs in length."""
    if not isinstance(batch, Mapping):
        raise BatchFormatError(f"batch: must be a dict of lists, found {type(batch).__name__}")

    for key in BATCH_KEYS:
        if key not in batch:
            raise BatchFormatError(f"batch: key {key!r} is missing; expected {', '.join(BATCH_KEYS)}")
        if not _is_list(batch[key]):
            raise BatchFormatError(f"batch: {key!r} must be a list, found {type(batch[key]).__name__}")

    lengths = {key: len(batch[key]) for key in BATCH_KEYS}
    if len(set(lengths.values())) > 1:
        raise BatchFormatError(f"batch: the columns differ in length: {lengths}")

    columns = [batch[key] for key in BATCH_KEYS]
    return [parse_row(*row) for row in zip(*columns, strict=True)]


def parse_row(interaction_id: object, query: object, search_results: object, query_time: object) -> Query:
    """Read one row, cleaned and within `LIMITS`. `Query.fault` says what is wrong; a broken result is skipped."""
    fault = None
    notes: list[str] = []

    # A question is one line in prompts.
    text = " ".join(_read_field("query", query, notes, references=True).split())
    if not text:
        description = "an empty one" if isinstance(query, str) else type(query).__name__
        fault = f"the query must be a string with words, found {description}"

    results: Sequence[object] = ()
    if _is_list(search_results):
        results = search_results
    elif fault is None:
        fault = f"search_results must be a list, found {type(search_results).__name__}"

    max_results = LIMITS["search_results"]
    if len(results) > max_results:
        notes.append(f"search_results was cut from {len(results):,} to {max_results:,} results")

    time_text = _read_field("query_time", query_time, notes)
    identifier = _read_field("interaction_id", interaction_id, notes)

    # A skipped result keeps its rank, so that ranks are positions in the evaluator's list.
    pages = []
    for rank, result in enumerate(results[:max_results]):
        if isinstance(result, Mapping):
            pages.append(_read_page(result, rank, notes))

    return Query(
        interaction_id=identifier,
        text=text,
        query_time=time_text,
        asked_at=parse_query_time(time_text),
        pages=tuple(pages),
        fault=fault,
        notes=tuple(notes),
    )


def format_query_time(moment: datetime | None = None) -> str:
    """A moment, by default now, in the evaluator's form. A moment without a zone is in the machine's."""
    pacific_time = (moment or datetime.now()).astimezone(ZoneInfo("America/Los_Angeles"))
    return pacific_time.strftime(TIME_FORMAT)


def parse_query_time(text: str) -> datetime | None:
    """``03/05/2024, 23:18:31 PT``, also without the ``PT``, as Pacific wall-clock time without a zone.

    None for other forms.
    """
    without_zone = text.strip().removesuffix("PT").strip()
    try:
        return datetime.strptime(without_zone, TIME_FORMAT.removesuffix(" PT"))
    except ValueError:
        return None


def _is_list(value: object) -> TypeGuard[Sequence[object]]:
    """Whether a value is a list of any kind; a string is a sequence too, but no list."""
    return isinstance(value, Sequence) and not isinstance(value, str)


def _read_page(result: Mapping[str, object], rank: int, notes: list[str]) -> Page:
    """One search result as a page; what is missing or no string becomes ""."""
    prefix = f"search result {rank}: "
    return Page(
        name=_read_field("page_name", result.get("page_name"), notes, prefix),
        url=_read_field("page_url", result.get("page_url"), notes, prefix),
        snippet=_read_field("page_snippet", result.get("page_snippet"), notes, prefix),
        html=_read_field("page_result", result.get("page_result"), notes, prefix),
        rank=rank,
    )


def _read_field(name: str, value: object, notes: list[str], note_prefix: str = "", *, references: bool = False) -> str:
    """The field's text within its limit; a cut adds a note. HTML is cleaned where it is parsed (`crag.core.text`)."""
    if not isinstance(value, str):
        return ""

    limit = LIMITS[name]
    if len(value) > limit:
        notes.append(f"{note_prefix}{name} was cut from {len(value):,} to {limit:,} characters")
    if name == "page_result":
        return encodable(value[:limit])
    return clean(value, references=references, most=limit)
