"""The entities of a question, spelled the same for every source, so that an entity is in one fold."""

from collections.abc import Iterator, Mapping, Sequence

from agents.kg.trainable import (
    Call,
    Domain,
    ParameterKind,
    Program,
    load_schema,
    nicknames,
    normalise_name,
    team_spelling,
)
from training.api_pairs.fillers import spoken_name
from training.api_pairs.graph import Graph

CompanyNames = Mapping[str, str]
"""Normalised name of a company -> its ticker in lower case."""


def company_names(graphs: Sequence[Graph]) -> CompanyNames:
    """The names of listed companies, with and without their legal forms, and nicknames."""
    found: dict[str, str] = {}
    for graph in reversed(graphs):
        for ticker, listed in reversed(graph.companies.items()):
            for short in (False, True):
                found[normalise_name(spoken_name(listed, short=short))] = ticker.lower()
    return found | {name: ticker.lower() for name, ticker in nicknames().items()}


def groups_of(domain: Domain, program: Program, companies: CompanyNames) -> tuple[str, ...]:
    """The entities in a program's calls, teams in full, companies by ticker; without any, table and values."""
    calls = [statement for statement in program.statements if isinstance(statement, Call)]
    found = [name for call in calls for name in _names(domain, call, companies)]
    if not found:
        values = [list(_values(call)) for call in calls]
        found = [" ".join(each) for each in values if len(each) > 1]
    return tuple(dict.fromkeys(name for name in found if name))


def _names(domain: Domain, call: Call, companies: CompanyNames) -> Iterator[str]:
    for parameter, argument in zip(load_schema(domain).tables[call.table].parameters, call.arguments, strict=False):
        names = argument if isinstance(argument, tuple) else (argument,)
        for name in names:
            if not isinstance(name, str) or not parameter.kind.is_entity:
                continue
            if parameter.kind is ParameterKind.TEAM:
                yield team_spelling(name, "nba" if "nba" in call.table else "soccer")[0].casefold()
            elif parameter.kind is ParameterKind.COMPANY:
                yield companies.get(normalise_name(name), name).casefold()
            else:
                yield name.casefold()


def _values(call: Call) -> Iterator[str]:
    """A substitute for a missing entity: "movie_person_oscar 2012 visual effects"."""
    yield call.table.removeprefix("get_")
    yield from (argument for argument in call.arguments if isinstance(argument, str))
    yield from (one.value for one in call.conditions if isinstance(one.value, str) and one.value != "true")
