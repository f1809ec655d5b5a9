"""Finds dates in written calls that have no basis in the question."""

import re
from collections.abc import Sequence
from datetime import datetime

from crag.core.queries import pacific_now
from crag.graph.language import Average, Call, Program
from crag.graph.schema import Domain, Table, Type, load_schema
from crag.text.dates import Calendar, DateRange, find_dates, resolve_date

_ORDINAL = re.compile(r"\b\d+(?:st|nd|rd|th)\b")
_DIGITS = re.compile(r"\d+")
_PRESENT = frozenset({"latest", "now", "today", "current", "most recent"})
"""Dates that a question may omit."""


def invented_dates(
    question: str,
    domain: Domain,
    program: Program,
    asked_at: datetime | None,
) -> list[str]:
    """The dates and years of a program that have no basis in the question: small models copy them from examples.

    A call about another day answers another question, and a day without a game would look like a false premise.
    """
    calendar = Calendar.TRADING if domain is Domain.FINANCE else Calendar.CIVIL
    moment = asked_at or pacific_now()
    text = f" {' '.join(question.lower().split())} "
    question_ranges = [mention.range for mention in find_dates(question, moment, calendar) if mention.range]

    invented: list[str] = []
    for date in _dates_in_calls(domain, program):
        if _has_words_for(date, text):
            continue
        resolved = resolve_date(date, moment, calendar)
        if resolved is None or resolved.range is None:
            continue  # not a date, or the present: the executor decides
        if not _overlaps_any(resolved.range, question_ranges):
            invented.append(date)
    return invented


def _dates_in_calls(domain: Domain, program: Program) -> list[str]:
    """The dates and years in arguments and conditions, as they are written: "2023-01-28", "last friday"."""
    tables = load_schema(domain).tables
    dates: list[str] = []
    table: Table | None = None
    for statement in program.statements:
        if isinstance(statement, Call):
            table = tables[statement.table]
            dates += _dates_in_arguments(statement, table)
        if isinstance(statement, Average) or table is None:
            continue
        # The conditions of a sort are on the table of the call before.
        for condition in statement.conditions:
            value = condition.value
            if isinstance(value, str) and _is_time_key(table, condition.key):
                dates.append(value)
    return dates


def _dates_in_arguments(call: Call, table: Table) -> list[str]:
    dates: list[str] = []
    for parameter, argument in zip(table.parameters, call.arguments, strict=False):
        if not parameter.kind.is_entity and isinstance(argument, str):
            dates.append(argument)
    return dates


def _is_time_key(table: Table, key: str) -> bool:
    column = table.column(key)
    if column is None:
        return key.endswith(("date", "year"))
    return column.type in {Type.DATE, Type.YEAR}


def _has_words_for(date: str, text: str) -> bool:
    """Whether the question has the words of a date, a year near it, or an ordinal number.

    "The 56th grammy awards" mean the year of the ceremony. Award years and film years differ by one.
    """
    # In the question's words: "last friday"
    if date.lower() in _PRESENT or f" {date.lower()}" in text:
        return True
    if not date.isdigit() or len(date) != 4:
        return False

    # "The 56th grammy awards": the year follows from knowledge, not from the text
    if _ORDINAL.search(text) is not None:
        return True
    years = [int(number) for number in _DIGITS.findall(text) if len(number) == 4]
    if not years:
        return False
    return min(years) - 1 <= int(date) <= max(years) + 1


def _overlaps_any(days: DateRange, question_ranges: Sequence[DateRange]) -> bool:
    return any(days.first <= other.last and days.last >= other.first for other in question_ranges)
