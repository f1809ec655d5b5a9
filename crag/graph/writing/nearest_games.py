"""Puts "last game" or "next game" into calls for games if the question asks about these and names no day.

The NBA's table has no calls of that kind, and small models put a date of an example, or "today", into its place.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from crag.core.queries import pacific_now
from crag.graph.language import Argument, Call, Program, Statement
from crag.graph.schema import Domain, ParameterKind, Table, load_schema
from crag.text.dates import Calendar, find_dates
from crag.text.matching import NUMBER_WORDS

_COUNT = "|".join(word for word, number in NUMBER_WORDS.items() if number > 0)
_GAMES = r"(?:game|match|fixture|outing|contest)(?:e?s)?\b"
_LAST = re.compile(
    rf"""
    \b(?: last | latest | most\ recent | previous )[ ]
    (?: (?P<count> [1-9][0-9]? | {_COUNT} )\ )?
    (?: [\w'-]{{1,20}}\ ){{0,3}}?                  # "last nba game", "last home games"
    {_GAMES}
  | \blast\ (?:time|play(?:ed)?|took|met|faced|competed)\b
  | \bplay(?:ed)?\ last\b
    """,
    re.VERBOSE,
)
_NEXT = re.compile(
    rf"""
    \b(?: next | upcoming | coming )[ ]
    (?: (?P<count> [1-9][0-9]? | {_COUNT} )\ )?
    (?: [\w'-]{{1,20}}\ ){{0,3}}?
    {_GAMES}
  | \bnext\ (?:time|play)\b
  | \b(?:play|playing|face|facing|meet|opponent)\ next\b
    """,
    re.VERBOSE,
)


def with_nearest_games(
    question: str,
    domain: Domain,
    program: Program,
    asked_at: datetime | None,
) -> Program:
    """The program with the games that the question means in its calls; unchanged if it means days, or no game.

    Example: for "did the nuggets win their last game?", ``get_nba_on_date("nuggets","today")["result"]`` becomes
    ``get_nba_on_date("nuggets","last game")["result"]``.
    """
    if domain is not Domain.SPORTS:
        return program
    asked = _asked_games(question, asked_at or pacific_now())
    if asked is None:
        return program

    statements: list[Statement] = []
    for index, statement in enumerate(program.statements):
        following = program.statements[index + 1 : index + 2]
        statements.append(_with_games(statement, following, asked))
    return Program(tuple(statements))


@dataclass(frozen=True, slots=True)
class _AskedGames:
    """The last or next games that a question is about."""

    side: Literal["last", "next"]
    count: int

    def __str__(self) -> str:
        return f"{self.side} game" if self.count == 1 else f"{self.side} {self.count} games"


def _asked_games(question: str, asked_at: datetime) -> _AskedGames | None:
    """The games that the question is about, if it is about games of one of these kinds and names no day."""
    text = " ".join(question.lower().split())
    last = _LAST.search(text)
    following = _NEXT.search(text)
    match = last or following
    if match is None or (last and following):
        return None
    # "The last game of 2022" is that of a year
    if any(date.range is not None for date in find_dates(question, asked_at, Calendar.CIVIL)):
        return None

    written = match["count"]
    count = 1
    if written is not None:
        count = int(written) if written.isdigit() else NUMBER_WORDS[written]
    return _AskedGames("last" if last else "next", count)


def _with_games(statement: Statement, following: Sequence[Statement], asked: _AskedGames) -> Statement:
    """A call for games with those that are asked about; any other statement unchanged."""
    if not isinstance(statement, Call):
        return statement

    table = load_schema(Domain.SPORTS).tables[statement.table]
    position = _date_position(table)
    if position is None:
        # The tables of last and next games have no date, and give one game unless the call says how many
        has_count = asked.count > 1 and statement.take is None
        return replace(statement, take=asked.count) if has_count else statement

    missing = len(table.parameters) - len(statement.arguments)
    arguments: list[Argument] = [*statement.arguments, *[None] * missing]
    is_sorted = bool(following) and not isinstance(following[0], Call)
    if arguments[position] is None and is_sorted:
        # All games of a team, sorted by date: the program finds the last one itself
        return statement

    # A call that takes some rows itself needs no number
    wanted = replace(asked, count=1) if isinstance(statement.take, int) else asked
    arguments[position] = str(wanted)
    return replace(statement, arguments=tuple(arguments))


def _date_position(table: Table) -> int | None:
    kinds = [parameter.kind for parameter in table.parameters]
    return kinds.index(ParameterKind.DATE) if ParameterKind.DATE in kinds else None
