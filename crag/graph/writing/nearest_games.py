"""Puts "last game" or "next game" into calls for games if the question asks about these and names no day.

The NBA's table has no calls of that kind, and small models put a date of an example, or "today", into its place.
"""

import re
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from crag.core.queries import pacific_now
from crag.graph.language import Call, Program, Statement
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
    games = _read_games(question, asked_at or pacific_now())
    if games is None:
        return program

    statements: list[Statement] = []
    next_statements = [*program.statements[1:], None]
    for statement, next_statement in zip(program.statements, next_statements, strict=False):
        is_sorted = next_statement is not None and not isinstance(next_statement, Call)
        statements.append(_put_games(statement, games, is_sorted=is_sorted))
    return Program(tuple(statements))


@dataclass(frozen=True, slots=True)
class _GamesInQuestion:
    """The last or next games that a question is about."""

    side: Literal["last", "next"]
    count: int

    def __str__(self) -> str:
        return f"{self.side} game" if self.count == 1 else f"{self.side} {self.count} games"


def _read_games(question: str, asked_at: datetime) -> _GamesInQuestion | None:
    """The games that the question is about, if it is about games of one of these kinds and names no day."""
    text = " ".join(question.lower().split())
    last_match = _LAST.search(text)
    next_match = _NEXT.search(text)
    match = last_match or next_match
    # "Their last and their next game" are of both kinds
    if match is None or (last_match and next_match):
        return None
    # "The last game of 2022" is that of a year
    if any(date.range is not None for date in find_dates(question, asked_at, Calendar.CIVIL)):
        return None

    count_text = match["count"]
    count = 1
    if count_text is not None:
        count = int(count_text) if count_text.isdigit() else NUMBER_WORDS[count_text]
    return _GamesInQuestion("last" if last_match else "next", count)


def _put_games(statement: Statement, games: _GamesInQuestion, *, is_sorted: bool) -> Statement:
    """The statement with the games, if it is a call for games; any other statement unchanged.

    `is_sorted`: the next statement sorts its rows, or takes their average.
    """
    if not isinstance(statement, Call):
        return statement

    table = load_schema(Domain.SPORTS).tables[statement.table]
    position = _date_position(table)
    if position is None:
        # The tables of last and next games have no date, and give one game unless the call says how many
        needs_count = games.count > 1 and statement.take is None
        return replace(statement, take=games.count) if needs_count else statement

    arguments = statement.arguments_of(len(table.parameters))
    if arguments[position] is None and is_sorted:
        # All games of a team, sorted by date: the program finds the last one itself
        return statement

    # A call that takes some rows itself needs no number
    games_in_call = replace(games, count=1) if isinstance(statement.take, int) else games
    arguments[position] = str(games_in_call)
    return replace(statement, arguments=tuple(arguments))


def _date_position(table: Table) -> int | None:
    """The position of the table's date among its parameters, if it has one."""
    kinds = [parameter.kind for parameter in table.parameters]
    return kinds.index(ParameterKind.DATE) if ParameterKind.DATE in kinds else None
