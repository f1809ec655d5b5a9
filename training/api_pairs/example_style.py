"""Labelled calls -> calls that ask the same in the style of the writer's own examples.

The labels of the real questions name teams in full, compute days and leave counting to whoever reads the rows; the
examples and the sampled questions copy names and days from the question and let the calls count. A small model learns
one way better than two. A rewritten program is taken only where it gives what the labelled one gives.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

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
from agents.questions import Calendar, DateRange, FoundDate, find_dates, resolve_date


def example_style(
    domain: Domain, program: Program, question: str, asked_at: datetime | None, frame: Mapping[str, Any]
) -> Program:
    """The program in the style of the examples; `frame` has the labels' filters and count."""
    dates = _Dates(domain, question, asked_at)
    statements: list[Statement] = []
    for place, statement in enumerate(program.statements):
        following = program.statements[place + 1] if place + 1 < len(program.statements) else None
        if isinstance(statement, Call):
            statements.append(_call(domain, statement, question, dates, frame, sorted_next=isinstance(following, Sort)))
        elif isinstance(statement, Sort):
            statements.append(_sort(statement, dates))
        else:
            statements.append(statement)
    return Program(tuple(statements))


def _call(
    domain: Domain, call: Call, question: str, dates: "_Dates", frame: Mapping[str, Any], *, sorted_next: bool
) -> Call:
    parameters = load_schema(domain).tables[call.table].parameters
    arguments: list[Argument] = []
    for parameter, argument in zip(parameters, call.arguments, strict=False):
        spell = _speller(call.table, parameter.kind, question)
        if isinstance(argument, str):
            arguments.append(spell(argument))
        else:
            arguments.append(tuple(map(spell, argument)) if isinstance(argument, tuple) else argument)
    call = replace(call, arguments=tuple(dates.as_said(arguments, [each.kind for each in parameters])))
    if sorted_next and call.select != "music":
        call = replace(call, select=None)
    return _counted(call, frame) if call.table == "get_nba_on_date" and call.select == "result" else call


def _speller(table: str, kind: ParameterKind, question: str) -> Callable[[str], str]:
    if not kind.is_entity:
        return lambda name: name
    if kind is ParameterKind.TEAM:
        league: League = "nba" if "nba" in table else "soccer"
        return lambda name: _team_as_said(name, league, question)
    return lambda name: name.lower() if name.lower() in question.lower() else name


def _team_as_said(name: str, league: League, question: str) -> str:
    """A team as the question has it: in full, or by the words of its name that are enough to tell it."""
    if name.lower() in question.lower():
        return name.lower()
    spelled = team_spelling(name, league)
    words = name.lower().split()
    parts = [" ".join(words[first:last]) for first in range(len(words)) for last in range(first + 1, len(words) + 1)]
    said = [part for part in parts if f" {part}" in f" {question.lower()}" and team_spelling(part, league) == spelled]
    return max(said, key=len, default=name.lower())


def _counted(call: Call, frame: Mapping[str, Any]) -> Call:
    """The condition on results, and the count, that the labels leave to the reader of the rows."""
    wanted = {key: value for key, operator, value in frame.get("filters", ()) if operator == "eq"}
    conditions = [Condition(Operator.EQ, key, wanted[key]) for key in ("venue", "result") if key in wanted]
    if not conditions:
        return call
    if frame.get("aggregate") == "len":
        return replace(call, conditions=tuple(conditions), select=None, count=True)
    return replace(call, conditions=tuple(conditions), select=frame.get("select"), take="all")


def _sort(sort: Sort, dates: "_Dates") -> Sort:
    take = "all" if sort.conditions and not sort.count and sort.take is None else sort.take
    take = None if sort.count and take == "all" else take
    return replace(sort, conditions=dates.conditions(sort.conditions), take=take)


class _Dates:
    """The days that a question names in words."""

    def __init__(self, domain: Domain, question: str, asked_at: datetime | None) -> None:
        self._calendar = Calendar.TRADING if domain is Domain.FINANCE else Calendar.CIVIL
        self._asked_at = asked_at
        self._found: list[FoundDate] = []
        if asked_at is not None:
            self._found = [one for one in find_dates(question, asked_at, self._calendar) if one.resolved.range]

    def as_said(self, arguments: Sequence[Argument], kinds: Sequence[ParameterKind]) -> Iterator[Argument]:
        """The arguments, a computed day or span of days in the question's words."""
        places = [place for place, kind in enumerate(kinds[: len(arguments)]) if kind is ParameterKind.DATE]
        texts = [arguments[place] for place in places]
        computed = [text for text in texts if isinstance(text, str) and _is_day(text)]
        said = self._words_for(computed[0], computed[-1]) if computed and len(computed) == len(texts) else None
        for place, argument in enumerate(arguments):
            if said is None or place not in places:
                yield argument
            elif place == places[0]:
                yield said

    def conditions(self, conditions: tuple[Condition, ...]) -> tuple[Condition, ...]:
        """The conditions; from the first to the last day of a year is that year."""
        ends = [one.value for one in conditions if one.operator in {Operator.GE, Operator.LE}]
        if len(conditions) != 2 or len(ends) != 2 or not all(isinstance(end, str) and _is_day(end) for end in ends):
            return conditions
        said = self._words_for(str(ends[0]), str(ends[1]))
        year = str(ends[0])[:4]
        if said is None and [str(end)[4:] for end in ends] == ["-01-01", "-12-31"] and str(ends[1])[:4] == year:
            said = year
        return conditions if said is None else (Condition(Operator.EQ, conditions[0].key, said),)

    def _words_for(self, first: str, last: str) -> str | None:
        """What the question calls a span of days, unless it writes them out."""
        for one in self._found:
            days = one.resolved.range
            written_out = one.text[-1:].isdigit() and "day of" not in one.text
            if days is not None and not (days.is_day and written_out) and self._fits(days, first, last):
                return one.text.lower().removeprefix("the ").removeprefix("year ")
        return None

    def _fits(self, days: DateRange, first: str, last: str) -> bool:
        if self._asked_at is None:
            return False
        one, other = (resolve_date(text, self._asked_at, self._calendar) for text in (first, last))
        if one is None or other is None or one.range is None or other.range is None:
            return False
        return days.first <= one.range.first and other.range.last <= days.last


def _is_day(text: str) -> bool:
    return len(text) == len("2024-01-01") and text[:4].isdigit() and text[4] == "-"
