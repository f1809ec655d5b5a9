"""A naive twin of the executor: it reads the small graph's tables itself, without HTTP and without guessing names."""

from collections.abc import Mapping
from random import Random
from typing import Any

from crag.graph.language import Call, Condition, Key, Operator, Program, Sort
from crag.graph.schema import Domain, Type, load_schema
from tests.graph import small_graph


def naive_rows(call: Call) -> list[dict[str, Any]]:
    """The rows of a table, straight from the graph; only names that are written exactly."""
    name = str(call.arguments[0]) if call.arguments else ""
    if call.table == "get_stock_price":
        bars = small_graph.PRICES[name]
        return [{"time": day[:10], **{key.lower(): value for key, value in row.items()}} for day, row in bars.items()]
    if call.table == "get_stock_dividend":
        return [{"date": day[:10], "value": value} for day, value in small_graph.DIVIDENDS[name].items()]
    assert call.table == "get_movie_person_cast"
    films: list[dict[str, Any]] = [*small_graph.MOVIES.values()]
    film = next(film for film in films if film["title"] == name)
    shown = {key: film.get(key) for key in ("release_date", "budget", "revenue", "rating", "length", "original_title")}
    return [
        {"movie_name": name, "year": int(film["release_date"][:4]), **shown, **member}
        | {"gender": {1: "female", 2: "male"}[member["gender"]]}
        for member in sorted(film["cast"], key=lambda member: member["order"])
    ]


def compare(one: Any, operator: Operator, other: Any, *, strict: bool = False) -> bool:
    if operator in {Operator.EQ, Operator.NEQ}:
        return bool((one == other) is (operator is Operator.EQ))
    above, below = (one > other, one < other) if strict else (one >= other, one <= other)
    return bool(above if operator is Operator.GE else below)


def naive_test(row: Mapping[str, Any], condition: Condition) -> bool:
    cell, operator, wanted = row.get(condition.key), condition.operator, condition.value
    if isinstance(wanted, Key):
        return None not in {cell, row.get(wanted.name)} and compare(cell, operator, row[wanted.name], strict=True)
    if cell is None:
        return False
    if not isinstance(cell, str):
        return compare(cell, operator, float(str(wanted)))
    if cell[:2] not in {"19", "20"}:
        return compare(cell.casefold(), operator, str(wanted).casefold())
    first, last = f"{wanted}-01-01"[:10], f"{wanted}-12-31"[:10]  # of a year or a day
    if operator in {Operator.EQ, Operator.NEQ}:
        return (first <= cell <= last) is (operator is Operator.EQ)
    return cell >= first if operator is Operator.GE else cell <= last


def naive(program: Program, default: object) -> tuple[object, ...]:
    rows: list[dict[str, Any]] = []
    values: tuple[object, ...] = ()
    for statement in program.statements:
        assert isinstance(statement, Call | Sort)
        rows = naive_rows(statement) if isinstance(statement, Call) else rows
        rows = [row for row in rows if all(naive_test(row, condition) for condition in statement.conditions)]
        take = statement.take or (default if isinstance(statement, Call) else "all" if statement.conditions else 1)
        if isinstance(statement, Sort) and statement.key:
            have = [row for row in rows if row.get(statement.key) is not None]
            ties = sorted(have, key=lambda row: str(row.get("release_date") or ""), reverse=statement.descending)
            have = sorted(ties, key=lambda row: row[statement.key or ""], reverse=statement.descending)
            rows = have + [row for row in rows if row.get(statement.key) is None]
        taken = rows if take == "all" else rows[: int(str(take))]
        found = [row.get(statement.select or "") for row in taken]
        values = (len(rows),) if statement.count else tuple(value for value in found if value is not None)
    return values


TABLES = {
    "get_stock_price": (Domain.FINANCE, ["ABC", "THN"]),
    "get_stock_dividend": (Domain.FINANCE, ["ABC", "THN"]),
    "get_movie_person_cast": (Domain.MOVIE, ["The Red Kite", "The Red Kite 2", "Borough: Cultural Notes"]),
}
VALUES = {
    Type.DATE: ("2024", "2023", "2024-02-26", "1999-05-01"),
    Type.YEAR: ("1999", "2005"),
    Type.TEXT: ("Ann Lee", "female"),
}
KEYS = {
    "get_stock_price": ("time", "open", "high", "close", "volume"),
    "get_stock_dividend": ("date", "value"),
    "get_movie_person_cast": ("name", "gender", "order", "release_date", "year", "revenue", "budget", "rating"),
}


def random_conditions(table: str, domain: Domain, rng: Random) -> tuple[Condition, ...]:
    columns = load_schema(domain).tables[table].columns
    conditions = []
    for key in rng.sample(KEYS[table], rng.choice([0, 0, 1, 1, 2])):
        alike = [
            other for other in KEYS[table] if other != key and columns[other].type is columns[key].type is not Type.TEXT
        ]
        texts = columns[key].type is Type.TEXT
        operator = rng.choice([Operator.EQ, Operator.NEQ] if texts else list(Operator))
        wanted = rng.choice(VALUES.get(columns[key].type, ("0.2", "11", "100")))
        value: str | Key = Key(rng.choice(alike)) if alike and rng.random() < 0.3 else wanted
        conditions.append(Condition(operator, key, value))
    return tuple(conditions)


def random_program(rng: Random) -> tuple[Domain, Program]:
    table = rng.choice(list(TABLES))
    domain, names = TABLES[table]
    takes = [None, "all", 1, 2, 7]
    call = Call(
        table,
        (rng.choice(names),),
        random_conditions(table, domain, rng),
        rng.choice(KEYS[table]),
        take=rng.choice(takes),  # type: ignore[arg-type]
    )
    if rng.random() < 0.4:
        return domain, Program((call,))
    sort = Sort(
        random_conditions(table, domain, rng),
        key := rng.choice([None, *KEYS[table]]),
        key is not None and rng.random() < 0.5,
        rng.choice(KEYS[table]),
        take=rng.choice(takes),  # type: ignore[arg-type]
    )
    return domain, Program((call, sort))


def table_of(program: Program) -> str:
    first = program.statements[0]
    assert isinstance(first, Call)
    return first.table
