"""Rewrites labelled calls in the style of the writer's own examples.

The labels of the real questions name teams in full, compute days and leave counting to the reader of the rows. The
examples and the sampled questions copy names and days from the question and count in the calls. A small model learns
one style better than two. A rewritten program is used only if it gives the same as the labelled one.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from itertools import zip_longest
from typing import Any

from agents.dates import Calendar, find_dates, resolve_date
from agents.kg.trainable import (
    Argument,
    Call,
    Condition,
    Domain,
    League,
    Operator,
    ParameterKind,
    Program,
    Sort,
    Statement,
    load_schema,
    team_spelling,
)

DaysInWords = Callable[[str, str], str | None]
"""First and last day, ``YYYY-MM-DD`` -> the question's words for them, unless it writes the dates out."""


def example_style(
    domain: Domain, program: Program, question: str, asked_at: datetime | None, frame: Mapping[str, Any]
) -> Program:
    """The program in the style of the examples; `frame` has the labels' filters and count."""
    in_words = _days_in_words(domain, question, asked_at)
    statements: list[Statement] = []
    for statement, following in zip_longest(program.statements, program.statements[1:]):
        if isinstance(statement, Call):
            call = replace(statement, arguments=_arguments(domain, statement, question.lower(), in_words))
            if isinstance(following, Sort) and call.select != "music":
                call = replace(call, select=None)
            is_result = call.table == "get_nba_on_date" and call.select == "result"
            statements.append(_counted(call, frame) if is_result else call)
        else:
            statements.append(_sort(statement, in_words) if isinstance(statement, Sort) else statement)
    return Program(tuple(statements))


def _arguments(domain: Domain, call: Call, question: str, in_words: DaysInWords) -> tuple[Argument, ...]:
    """Names in the question's spelling, computed days in its words."""
    kinds = [parameter.kind for parameter in load_schema(domain).tables[call.table].parameters]
    named = [_name(call.table, kind, argument, question) for kind, argument in zip(kinds, call.arguments, strict=False)]
    places = [place for place, kind in enumerate(kinds[: len(named)]) if kind is ParameterKind.DATE]
    days = [day for place in places if isinstance(day := named[place], str) and _is_day(day)]
    said = in_words(days[0], days[-1]) if days and len(days) == len(places) else None
    if said is None:
        return tuple(named)
    named[places[0]] = said
    return tuple(argument for place, argument in enumerate(named) if place not in places[1:])


def _name(table: str, kind: ParameterKind, argument: Argument, question: str) -> Argument:
    if isinstance(argument, tuple):
        return tuple(str(_name(table, kind, name, question)) for name in argument)
    if not isinstance(argument, str) or not kind.is_entity:
        return argument
    if argument.lower() in question:
        return argument.lower()
    return _team(table, argument, question) if kind is ParameterKind.TEAM else argument


def _team(table: str, name: str, question: str) -> str:
    """The part of the team's name in the question that identifies the team."""
    league: League = "nba" if "nba" in table else "soccer"
    spelled = team_spelling(name, league)
    words = name.lower().split()
    parts = [" ".join(words[first:last]) for first in range(len(words)) for last in range(first + 1, len(words) + 1)]
    said = [part for part in parts if f" {part}" in f" {question}" and team_spelling(part, league) == spelled]
    return max(said, key=len, default=name.lower())


def _counted(call: Call, frame: Mapping[str, Any]) -> Call:
    """The call with the filter on results and the count that the labels leave out."""
    wanted = {key: value for key, operator, value in frame.get("filters", ()) if operator == "eq"}
    conditions = tuple(Condition(Operator.EQ, key, wanted[key]) for key in ("venue", "result") if key in wanted)
    if not conditions:
        return call
    if frame.get("aggregate") == "len":
        return replace(call, conditions=conditions, select=None, count=True)
    return replace(call, conditions=conditions, select=frame.get("select"), take="all")


def _sort(sort: Sort, in_words: DaysInWords) -> Sort:
    take = "all" if sort.conditions and not sort.count and sort.take is None else sort.take
    take = None if sort.count and take == "all" else take
    return replace(sort, conditions=_conditions(sort.conditions, in_words), take=take)


def _conditions(conditions: tuple[Condition, ...], in_words: DaysInWords) -> tuple[Condition, ...]:
    """Replace a range of days by the question's words for it, a whole year by the year."""
    ends = [
        end
        for one in conditions
        if one.operator in {Operator.GE, Operator.LE} and isinstance(end := one.value, str) and _is_day(end)
    ]
    if len(conditions) != 2 or len(ends) != 2:
        return conditions
    said = in_words(ends[0], ends[1])
    if said is None and ends == [f"{ends[0][:4]}-01-01", f"{ends[0][:4]}-12-31"]:
        said = ends[0][:4]
    return conditions if said is None else (Condition(Operator.EQ, conditions[0].key, said),)


def _days_in_words(domain: Domain, question: str, asked_at: datetime | None) -> DaysInWords:
    if asked_at is None:
        return lambda *_: None
    calendar = Calendar.TRADING if domain is Domain.FINANCE else Calendar.CIVIL
    found = find_dates(question, asked_at, calendar)

    def in_words(first: str, last: str) -> str | None:
        ends = [resolve_date(text, asked_at, calendar) for text in (first, last)]
        spans = [end.range for end in ends if end and end.range]
        for one in found:
            days = one.resolved.range
            if len(spans) < 2 or days is None or (days.is_day and one.text[-1:].isdigit() and "day of" not in one.text):
                continue
            if days.first <= spans[0].first and spans[1].last <= days.last:
                return one.text.lower().removeprefix("the ").removeprefix("year ")
        return None

    return in_words


def _is_day(text: str) -> bool:
    return len(text) == len("2024-01-01") and text[:4].isdigit() and text[4] == "-"
