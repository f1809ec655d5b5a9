"""Questions with calls and what the graph gave for them, without a graph."""

import datetime as dt
from typing import Any

from crag.graph.derive import CallResults, derived_answer
from crag.graph.language import Average, Call, parse
from crag.graph.results import Result, Row, Status, Value
from crag.graph.schema import Domain, load_schema

Found = tuple[Value, ...] | list[dict[str, Any]]
"""The values of a statement, or the cells of its rows."""


def results_of(calls: str, domain: Domain, found: tuple[Found, ...]) -> list[Result]:
    """A result per statement: of rows the values of the key that it selects, of values alone no rows."""
    results: list[Result] = []
    table, entity = "", ""
    for statement, given in zip(parse(calls, domain).statements, found, strict=True):
        key = None if isinstance(statement, Average) else statement.select
        if isinstance(statement, Call):
            table = statement.table
            key = key or load_schema(domain).tables[table].default_key
            entity = next((name.title() for name in statement.arguments if isinstance(name, str)), "")
        if isinstance(given, tuple):
            results.append(Result("call", Status.OK, values=given))
            continue
        rows = tuple(Row(entity, cells) for cells in given)
        counted = not isinstance(statement, Average) and statement.count
        values = (len(rows),) if counted else tuple(cells[key] for cells in given if key in cells)
        results.append(Result("call", Status.OK, rows, values))
    return results


def derived(question: str, domain: str, calls: str, *found: Found, today: dt.date | None = None) -> str | None:
    """What the rules say."""
    name = Domain(domain)
    results = results_of(calls, name, found)
    answer = derived_answer(CallResults(question, name, parse(calls, name), results, today))
    assert answer is None or answer.reason
    return answer.text if answer else None


def game(result: str | None, venue: str, opponent: str, points: int = 100) -> dict[str, Any]:
    """A row of a game."""
    return {"team": "Owls", "result": result, "venue": venue, "opponent": opponent, "GF": points}
