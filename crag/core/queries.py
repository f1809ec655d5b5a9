"""The evaluator's batch -> `Query` objects. A malformed row costs one answer; a malformed batch is an error.

`LIMITS` bounds each field: names, snippets and addresses are processed in this process, where only their size bounds
the time. The limits of later stages (`web.extract`, `crag.graph.client`) stand there.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from crag.core.contracts import Page, Query
from crag.core.text import clean, encodable

BATCH_KEYS = ("interaction_id", "query", "search_results", "query_time")
"""The evaluator's fields; domain, question type and dynamism are withheld at run time."""

TIME_FORMAT = "%m/%d/%Y, %H:%M:%S PT"
"""Of `query_time`: Pacific time."""
_PAGE_FIELDS = ("page_name", "page_url", "page_snippet", "page_result")
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
"""Most characters of each field of the evaluator's batch; of `search_results`, most results."""


class BatchFormatError(ValueError):
    """The whole batch is unreadable; the message names the key and the problem."""


def parse_batch(batch: Mapping[str, Sequence[object]]) -> list[Query]:
    """Read a batch of column lists. Raises BatchFormatError: a column is missing, is no list, or differs in length."""
    if not isinstance(batch, Mapping):
        raise BatchFormatError(f"batch: must be a dict of lists, found {type(batch).__name__}")
    for key in BATCH_KEYS:
        if key not in batch:
            raise BatchFormatError(f"batch: key {key!r} is missing; expected {', '.join(BATCH_KEYS)}")
        if not isinstance(batch[key], Sequence) or isinstance(batch[key], str):
            raise BatchFormatError(f"batch: {key!r} must be a list, found {type(batch[key]).__name__}")
    lengths = {key: len(batch[key]) for key in BATCH_KEYS}
    if len(set(lengths.values())) > 1:
        raise BatchFormatError(f"batch: the columns differ in length: {lengths}")
    return [parse_row(*row) for row in zip(*(batch[key] for key in BATCH_KEYS), strict=True)]


def parse_row(interaction_id: object, query: object, search_results: object, query_time: object) -> Query:
    """Read one row, cleaned and within `LIMITS`. `Query.fault` says what is wrong; a broken result is skipped."""
    notes: list[str] = []
    fault = None
    text = " ".join(_field("query", query, notes, references=True).split())
    if not text:
        found = "an empty one" if isinstance(query, str) else type(query).__name__
        fault = f"the query is not a text with words in it, but {found}"
    if not isinstance(search_results, Sequence) or isinstance(search_results, str):
        fault = fault or f"search_results is not a list, but {type(search_results).__name__}"
        search_results = ()
    most = LIMITS["search_results"]
    if len(search_results) > most:
        notes.append(f"search_results was cut from {len(search_results):,} to {most:,} results")
    time_text = _field("query_time", query_time, notes)
    identifier = _field("interaction_id", interaction_id, notes)
    pages = []
    for rank, item in enumerate(search_results[:most]):
        if isinstance(item, Mapping):
            place = f"search result {rank}: "
            name, url, snippet, html = (_field(key, item.get(key), notes, place) for key in _PAGE_FIELDS)
            pages.append(Page(name, url, snippet, html, rank))
    return Query(identifier, text, time_text, parse_query_time(time_text), tuple(pages), fault, tuple(notes))


def query_time_of(moment: datetime | None = None) -> str:
    """A moment, by default now, in the evaluator's form; without a zone it is the machine's."""
    return (moment or datetime.now()).astimezone(ZoneInfo("America/Los_Angeles")).strftime(TIME_FORMAT)


def parse_query_time(text: str) -> datetime | None:
    """``03/05/2024, 23:18:31 PT`` as Pacific wall-clock time without a zone; None for other forms."""
    try:
        return datetime.strptime(text.strip().removesuffix("PT").strip(), TIME_FORMAT.removesuffix(" PT"))
    except ValueError:
        return None


def _field(name: str, value: object, notes: list[str], place: str = "", *, references: bool = False) -> str:
    """The field's text within its limit. HTML is cleaned where it is parsed; see `crag.core.text`."""
    if not isinstance(value, str):
        return ""
    most = LIMITS[name]
    if len(value) > most:
        notes.append(f"{place}{name} was cut from {len(value):,} to {most:,} characters")
    return encodable(value[:most]) if name == "page_result" else clean(value, references=references, most=most)
