"""The questions of ../shared/data/kg whose labels name a date, and whether our dates are the labelled ones.

A label is a filter (`eq`, or `ge` and `le`) on a date or a range of dates, or the newest record. Prices exist only for
sessions up to the question, so two finance ranges are equal if they have the same past sessions; some labels leave out
the session of the question.
"""

import re
from calendar import monthrange
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from pathlib import Path
from typing import NamedTuple

from agents.common.queries import parse_query_time
from agents.questions.calendars import DateRange, sessions
from agents.questions.dates import Calendar, MomentKind, ResolvedDate, eastern_time, find_dates, resolve_date
from evaluation.datasets import read_records

_DATE_FIELDS = frozenset({"time", "date", "year", "release_date"})
_CALL = re.compile(r"get_(?:stock_price|soccer_on_date|nba_on_date)\((.*?)\)(?:\[|$)")
_QUOTED = re.compile(r"\"([^\"]*)\"|'((?:[^'\\]|\\.)*)'")


class LabelledQuestion(NamedTuple):
    """A question with the date that its label means (None: the newest record), and the date argument of its call."""

    query: str
    domain: str
    asked_at: datetime
    label: DateRange | None
    argument: str


def labelled_questions(path: Path) -> Iterator[LabelledQuestion]:
    """The questions of the file whose label is a date, a range or the newest record."""
    for _, row in read_records(path):
        frame, asked_at = row["frame"] or {"table": "none", "filters": []}, parse_query_time(row["query_time"])
        label = _label({operator: value for field, operator, value in frame["filters"] if field in _DATE_FIELDS})
        if asked_at and (label or frame["table"] == "stock_latest"):
            call = next((match[1] for match in map(_CALL.match, row["calls"]) if match), "")
            arguments = [double or single for double, single in _QUOTED.findall(call)[1:]]
            # Two arguments are the ends of a range.
            yield LabelledQuestion(row["query"], row["domain"], asked_at, label, " to ".join(arguments))


def differs(question: LabelledQuestion) -> tuple[bool | None, bool]:
    """Whether the date of the call's argument (None: it has none), and every date of the text, is another one."""
    calendar = Calendar.TRADING if question.domain == "finance" else Calendar.CIVIL
    in_text = find_dates(question.query, question.asked_at, calendar)
    argument = None
    if question.argument:
        argument = not _agrees(question, resolve_date(question.argument, question.asked_at, calendar))
    return argument, not any(_agrees(question, mention.resolved) for mention in in_text)


def _agrees(question: LabelledQuestion, resolved: ResolvedDate | None) -> bool:
    label = question.label
    if resolved is None or label is None:
        return resolved is not None and resolved.range is None and resolved.kind is MomentKind.LATEST
    days = resolved.range
    if days is None or question.domain != "finance" or label.is_day or days.is_day:
        return days == label
    today = eastern_time(question.asked_at).date()
    ours, labelled = (set(sessions(part.first, min(part.last, today))) for part in (days, label))
    return ours ^ labelled <= {today}


def _label(bounds: Mapping[str, str]) -> DateRange | None:
    first, last = bounds.get("eq", bounds.get("ge")), bounds.get("eq", bounds.get("le"))
    return DateRange(_end_of(first, 0), _end_of(last, -1)) if first and last else None


def _end_of(text: str, end: int) -> date:
    """The first (end 0) or last (-1) day of YYYY, YYYY-MM or YYYY-MM-DD."""
    year, month, day, *_ = [*map(int, text.split("-")), 0, 0]
    month = month or (1, 12)[end]
    return date(year, month, day or (1, monthrange(year, month)[1])[end])
