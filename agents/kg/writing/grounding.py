"""Does the question give the dates in its calls? Small models fill a gap with a date of an example.

A call about another day answers another question, and a day without a game would look like a false premise.
"""

import re
from datetime import datetime

from agents.kg.language import Call, Program, Sort
from agents.kg.schema import Domain, ParameterKind, Type, load_schema
from agents.questions import Calendar, DateRange, find_dates, resolve_date

_ORDINAL = re.compile(r"\b\d+(?:st|nd|rd|th)\b")
_DIGITS = re.compile(r"\d+")
_ALWAYS = frozenset({"latest", "now", "today", "current", "most recent"})
"""Words for the present, which a question may leave out."""


def invented_dates(question: str, domain: Domain, program: Program, asked_at: datetime | None) -> list[str]:
    """The dates and years of a program for which the question gives no reason."""
    calendar = Calendar.TRADING if domain is Domain.FINANCE else Calendar.CIVIL
    moment = asked_at or datetime.now()
    named = [found.resolved.range for found in find_dates(question, moment, calendar) if found.resolved.range]
    text = f" {' '.join(question.lower().split())} "
    return [date for date in _dates(domain, program) if not _reason_for(date, text, named, moment, calendar)]


def _dates(domain: Domain, program: Program) -> list[str]:
    """The texts of date arguments, and of conditions on dates and years."""
    tables = load_schema(domain).tables
    found: list[str] = []
    table = None
    for statement in program.statements:
        if isinstance(statement, Call):
            table = tables[statement.table]
            pairs = zip(table.parameters, statement.arguments, strict=False)
            times = {ParameterKind.DATE, ParameterKind.YEAR}
            found += [value for parameter, value in pairs if parameter.kind in times and isinstance(value, str)]
        if isinstance(statement, Call | Sort) and table is not None:
            for condition in statement.conditions:
                column = table.column(condition.key)
                timely = column.type in {Type.DATE, Type.YEAR} if column else condition.key.endswith(("date", "year"))
                if timely and isinstance(condition.value, str):
                    found.append(condition.value)
    return found


def _reason_for(date: str, text: str, named: list[DateRange], moment: datetime, calendar: Calendar) -> bool:
    """The question has the words, a near year, an ordinal number, or a date that overlaps."""
    if date.lower() in _ALWAYS or f" {date.lower()}" in text:
        return True
    if date.isdigit() and len(date) == 4:
        if _ORDINAL.search(text):
            return True  # "the 56th grammy awards": the year of an edition
        years = [int(number) for number in _DIGITS.findall(text) if len(number) == 4]
        if years and min(years) - 1 <= int(date) <= max(years) + 1:
            return True  # award years differ by one from film years, and several may be meant
    resolved = resolve_date(date, moment, calendar)
    span = resolved.range if resolved is not None else None
    if span is None:
        return True  # no date, or the present: the executor decides
    return any(span.first <= other.last and span.last >= other.first for other in named)
