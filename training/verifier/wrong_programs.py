"""Programs that ask something else than their question: the wrong half of the verifier's graph examples.

Each change is a mistake that a writing model makes: another key, table, name or time, a condition or a side left out,
a count or an order turned round.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random

from agents.kg.trainable import (
    Call,
    Condition,
    Domain,
    KgQueryError,
    ParameterKind,
    Program,
    Sort,
    Statement,
    load_schema,
    parse,
    render,
)

Names = Mapping[tuple[Domain, ParameterKind], Sequence[str]]
"""Names that other questions ask about, by domain and kind of parameter."""
Change = Callable[[Domain, Program, Random], Iterator[Program]]

OTHER_KEYS = 2
"""Wrong programs with another key, for each right one; of the other changes one each."""
COUNT_SHARE = 0.3
"""Share of the programs whose count is changed: such mistakes are easy to see."""
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_YEAR = re.compile(r"(?:19|20)\d{2}")


def wrong_programs(domain: Domain, program: Program, names: Names, rng: Random) -> dict[str, list[Program]]:
    """Change -> the programs that it makes; empty lists where it does not apply."""
    changes = {
        "key": list(_other_keys(domain, program, rng)),
        "table": list(_other_table(domain, program, rng)),
        "name": list(_other_name(domain, program, names, rng)),
        "time": list(_other_time(program, rng)),
        "condition": list(_without_condition(program, rng)),
        "count": list(_other_count(program)) if rng.random() < COUNT_SHARE else [],
        "order": list(_other_order(program)),
        "side": list(_without_side(program, rng)),
    }
    return {
        change: [one for one in made if one != program and _can_be_written(domain, one)]
        for change, made in changes.items()
    }


def _can_be_written(domain: Domain, program: Program) -> bool:
    """Whether the language allows it: a change may leave a statement without the one that it builds on."""
    try:
        return bool(program.statements) and parse(render(program), domain) == program
    except KgQueryError:
        return False


def names_of(programs: Sequence[tuple[Domain, Program]]) -> dict[tuple[Domain, ParameterKind], list[str]]:
    """The names in the programs' calls, each once."""
    found: dict[tuple[Domain, ParameterKind], list[str]] = {}
    for domain, program in programs:
        for call in _calls(program):
            for parameter, argument in zip(
                load_schema(domain).tables[call.table].parameters, call.arguments, strict=False
            ):
                if isinstance(argument, str) and parameter.kind.is_entity:
                    found.setdefault((domain, parameter.kind), []).append(argument)
    return {kind: sorted(set(names)) for kind, names in found.items()}


def _calls(program: Program) -> list[Call]:
    return [statement for statement in program.statements if isinstance(statement, Call)]


def _with(program: Program, place: int, statement: Statement) -> Program:
    return Program((*program.statements[:place], statement, *program.statements[place + 1 :]))


def _other_keys(domain: Domain, program: Program, rng: Random) -> Iterator[Program]:
    """Another column of the same table, those of the same type twice as often."""
    selecting = [(p, one) for p, one in enumerate(program.statements) if isinstance(one, Call | Sort) and one.select]
    calls = _calls(program)
    if not selecting or not calls:
        return
    place, statement = selecting[-1]
    columns = load_schema(domain).tables[calls[-1].table].columns
    own = columns.get(statement.select or "")
    others = [name for name in columns if name != statement.select]
    weights = [2.0 if own and columns[name].type == own.type else 1.0 for name in others]
    for _ in range(min(OTHER_KEYS, len(others))):
        (name,) = rng.choices(others, weights)
        yield _with(program, place, replace(statement, select=name))


def _other_table(domain: Domain, program: Program, rng: Random) -> Iterator[Program]:
    """Another table with parameters of the same kinds."""
    calls = _calls(program)
    if len(program.statements) != 1 or not calls:
        return
    tables = load_schema(domain).tables
    kinds = [parameter.kind for parameter in tables[calls[0].table].parameters]
    others = [
        table
        for table in load_schema(domain).callable_tables
        if table.name != calls[0].table and [parameter.kind for parameter in table.parameters] == kinds
    ]
    if others:
        table = rng.choice(others)
        yield Program((Call(table.name, calls[0].arguments, select=rng.choice(sorted(table.columns))),))


def _other_name(domain: Domain, program: Program, names: Names, rng: Random) -> Iterator[Program]:
    """Another name of the same kind in the first argument that names something."""
    for place, call in enumerate(program.statements):
        if not isinstance(call, Call):
            continue
        for number, parameter in enumerate(load_schema(domain).tables[call.table].parameters[: len(call.arguments)]):
            others = [name for name in names.get((domain, parameter.kind), ()) if name != call.arguments[number]]
            if isinstance(call.arguments[number], str) and others:
                arguments = (*call.arguments[:number], rng.choice(others), *call.arguments[number + 1 :])
                yield _with(program, place, replace(call, arguments=arguments))
                return


def _other_time(program: Program, rng: Random) -> Iterator[Program]:
    """Another day or year in an argument or a condition."""
    for place, statement in enumerate(program.statements):
        if isinstance(statement, Call):
            for number, argument in enumerate(statement.arguments):
                moved = _moved(argument, rng) if isinstance(argument, str) else None
                if moved:
                    arguments = (*statement.arguments[:number], moved, *statement.arguments[number + 1 :])
                    yield _with(program, place, replace(statement, arguments=arguments))
                    return
        if isinstance(statement, Call | Sort):
            for number, condition in enumerate(statement.conditions):
                moved = _moved(condition.value, rng) if isinstance(condition.value, str) else None
                if moved:
                    conditions = _exchanged(statement.conditions, number, replace(condition, value=moved))
                    yield _with(program, place, replace(statement, conditions=conditions))
                    return


def _moved(text: str, rng: Random) -> str | None:
    """The day or year of a text moved by a little; None for another text."""
    if _DAY.fullmatch(text):
        year, month, day = (int(part) for part in text.split("-"))
        day = (day - 1 + rng.choice((1, 2, 3, 7, 14, 27))) % 28 + 1
        return f"{year:04d}-{month:02d}-{day:02d}"
    if _YEAR.fullmatch(text):
        return str(int(text) + rng.choice((-3, -2, -1, 1, 2, 3)))
    return None


def _without_condition(program: Program, rng: Random) -> Iterator[Program]:
    limited = [(p, one) for p, one in enumerate(program.statements) if isinstance(one, Call | Sort) and one.conditions]
    if limited:
        place, statement = rng.choice(limited)
        left_out = rng.randrange(len(statement.conditions))
        kept = tuple(one for number, one in enumerate(statement.conditions) if number != left_out)
        yield _with(program, place, replace(statement, conditions=kept))


def _other_count(program: Program) -> Iterator[Program]:
    place = len(program.statements) - 1
    statement = program.statements[place] if program.statements else None
    if isinstance(statement, Call | Sort):
        yield _with(program, place, replace(statement, count=not statement.count))


def _other_order(program: Program) -> Iterator[Program]:
    for place, statement in enumerate(program.statements):
        if isinstance(statement, Sort) and statement.key:
            yield _with(program, place, replace(statement, descending=not statement.descending))
            return


def _without_side(program: Program, rng: Random) -> Iterator[Program]:
    """One of several calls left out, as when the other side of a comparison is not asked for."""
    places = [place for place, one in enumerate(program.statements) if isinstance(one, Call)]
    if len(places) > 1 and len(places) == len(program.statements):
        left_out = rng.choice(places)
        yield Program(tuple(one for place, one in enumerate(program.statements) if place != left_out))


def _exchanged(conditions: tuple[Condition, ...], number: int, condition: Condition) -> tuple[Condition, ...]:
    return (*conditions[:number], condition, *conditions[number + 1 :])
