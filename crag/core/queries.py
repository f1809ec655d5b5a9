"""Reads the evaluator's batch into `Query` objects. A malformed row costs one answer; a malformed batch is an error.

`LIMITS` bounds each field: names, snippets and addresses are processed in this process, where only their size bounds
the time. Later stages have limits in their modules (`crag.web.extract`, `crag.graph.client`).
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import TypeGuard
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from crag.core.contracts import Page, Query
from crag.core.text import clean, encodable

BATCH_KEYS = ("interaction_id", "query", "search_results", "query_time")
"""The evaluator's fields; domain, question type and dynamism are withheld at run time."""

TIME_FORMAT = "%m/%d/%Y, %H:%M:%S PT"
"""Of `query_time`: Pacific time."""
TIME_FORMS = '"03/05/2024, 23:18:31 PT", "2024-03-05T23:18:31", with Z or an offset such as +01:00, or "2024-03-05"'
"""The forms that `parse_query_time` reads, for messages."""
_PACIFIC = "America/Los_Angeles"
_US_ZONES = {"p": _PACIFIC, "m": "America/Denver", "c": "America/Chicago", "e": "America/New_York"}
"""The first letter of PT, MT, CT and ET. Whether it is PST or PDT, the date knows better than who wrote it."""
_DAY_AND_TIME = re.compile(
    r"""
    (?: (?P<year>\d{4}) (?P<dash>-?) (?P<month>\d\d) (?P=dash) (?P<day>\d\d)   # 2024-03-05, 20240305
      | (?P<us_month>\d{1,2}) / (?P<us_day>\d{1,2}) / (?P<us_year>\d{4})        # 3/5/2024: month first, as in CRAG
    )
    (?: (?: T | \s*,\s* | \s+ )
        (?P<hour>\d{1,2}) (?P<colon>:?) (?P<minute>\d\d)
        (?: (?P=colon) (?P<second>\d\d) (?: [.,]\d{1,9} )? )?
        \s*
        (?: (?P<utc>Z|UTC|GMT)
          | (?P<us_zone>[PMCE])[SD]?T                                            # PT, EST; not CET
          | (?P<sign>[-+\u2212]) (?P<hours>\d\d) (?: :? (?P<minutes>[0-5]\d) )?   # +01:00, -08
        )?
    )?
    """,
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
"""ISO 8601 and what is near it. A number such as a Unix time is none: ``1709683111`` is seconds, or a date and an hour.
"""
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
    """Read a batch of column lists. Raises BatchFormatError: a column is missing, not a list, or of another length."""
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

    # In the order of the arguments of `parse_row`.
    columns = [batch[key] for key in BATCH_KEYS]
    return [parse_row(*row) for row in zip(*columns, strict=True)]


def parse_row(interaction_id: object, query: object, search_results: object, query_time: object) -> Query:
    """Read one row, cleaned and within `LIMITS`. `Query.fault` says what is wrong; a broken result is skipped."""
    fault = None
    notes: list[str] = []

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

    time_text, asked_at = _read_time(query_time, notes)
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
        asked_at=asked_at,
        pages=tuple(pages),
        fault=fault,
        notes=tuple(notes),
    )


def format_query_time(moment: datetime | None = None) -> str:
    """A moment, by default now, in the evaluator's form; without a zone it is the machine's."""
    return _format_time((moment or datetime.now()).astimezone(ZoneInfo(_PACIFIC)))


def pacific_now() -> datetime:
    """Now as Pacific wall-clock time without a zone, whatever the machine's own zone is."""
    return datetime.now(ZoneInfo(_PACIFIC)).replace(tzinfo=None)


def parse_query_time(text: str) -> datetime | None:
    """A time as Pacific wall-clock time without a zone; None for a form that is not read.

    CRAG's own form is ``03/05/2024, 23:18:31 PT``; ISO 8601 is read too. A time without a zone is Pacific time, as in
    CRAG: it must not depend on the machine. A date alone is its midnight, and fractions of a second are dropped.

    >>> parse_query_time("2024-03-06T07:18:31Z")
    datetime.datetime(2024, 3, 5, 23, 18, 31)
    """
    text = text.strip()
    # CRAG's own form first, with or without "PT".
    with suppress(ValueError):
        return datetime.strptime(text.removesuffix("PT").strip(), TIME_FORMAT.removesuffix(" PT"))

    match = _DAY_AND_TIME.fullmatch(text)
    if match is None:
        return None
    try:
        return _pacific_time(match)
    except (ValueError, OverflowError):  # no day of the calendar, or beyond the years 1 to 9999
        return None
    except ZoneInfoNotFoundError:  # a machine without time zones
        return None


def _pacific_time(match: re.Match[str]) -> datetime:
    """The moment of a match of `_DAY_AND_TIME`.

    Raises ValueError, OverflowError: the calendar has no such moment; ZoneInfoNotFoundError: the machine has no zones.
    """
    moment = datetime(
        year=int(match["year"] or match["us_year"]),
        month=int(match["month"] or match["us_month"]),
        day=int(match["day"] or match["us_day"]),
        hour=int(match["hour"] or 0),
        minute=int(match["minute"] or 0),
        second=int(match["second"] or 0),
    )

    zone = _zone_of(match)
    if zone is None:
        return moment
    return moment.replace(tzinfo=zone).astimezone(ZoneInfo(_PACIFIC)).replace(tzinfo=None)


def _zone_of(match: re.Match[str]) -> tzinfo | None:
    """The zone that a match of `_DAY_AND_TIME` names; None for Pacific time, which needs no data about zones."""
    if match["utc"]:
        return UTC
    if match["sign"]:
        offset = timedelta(hours=int(match["hours"]), minutes=int(match["minutes"] or 0))
        return timezone(offset if match["sign"] == "+" else -offset)

    name = _US_ZONES[(match["us_zone"] or "p").lower()]
    return None if name == _PACIFIC else ZoneInfo(name)


def normalise_query_time(text: str) -> str | None:
    """A time in CRAG's form, in which prompts show it; None if `parse_query_time` cannot read it.

    >>> normalise_query_time("2024-03-05")
    '03/05/2024, 00:00:00 PT'
    """
    moment = parse_query_time(text)
    return None if moment is None else _format_time(moment)


def _format_time(moment: datetime) -> str:
    """The Pacific wall-clock time in `TIME_FORMAT`; `strftime` alone pads no year before 1000."""
    return moment.strftime(TIME_FORMAT.replace("%Y", f"{moment.year:04}"))


def _read_time(value: object, notes: list[str]) -> tuple[str, datetime | None]:
    """The row's time as prompts show it, and as a moment; a time that is not understood stays as it is."""
    text = _read_field("query_time", value, notes)
    moment = parse_query_time(text)
    if moment is not None:
        return _format_time(moment), moment

    # A time that was cut has a note already.
    was_cut = isinstance(value, str) and len(value) > LIMITS["query_time"]
    if text.strip() and not was_cut:
        notes.append(f"query_time {text!r} is not a time that is understood, such as {TIME_FORMS}")
    return text, None


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
    return clean(value, references=references, max_characters=limit)
