"""The names in the calls of questions, spelled the same for every question, so that an entity is in one fold."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from crag.core.csv_files import CsvReader
from crag.graph.entities import nicknames, team_spelling
from crag.graph.language import Call, Program, names_in
from crag.graph.schema import Domain, ParameterKind, load_schema
from crag.text.matching import normalise_name

_LISTING_COLUMNS = ("Name", "Symbol")
_SECURITY = re.compile(
    r"""
    # The kind of a share and all that follows it; not a kind at the very beginning, which is the company's name.
    \s{1,9}(?:class\ [a-z]\ |series\ [a-z]\ )?
      (?:common|ordinary|capital|american\ depositary|depositary|subordinate|voting|preferred|beneficial|american)\b.*
    | \s{1,9}(?:warrants?|units?|rights?|adss?|adrs?)\b.*
    | \s{1,9}\(.*
    """,
    re.IGNORECASE | re.VERBOSE,
)
_LEGAL_FORM = re.compile(
    r",? (?:inc\.?|corp\.?|corporation|ltd\.?|limited|plc|n\.v\.|s\.a\.|co\.?|company|l\.p\.)$", re.IGNORECASE
)
"""At the end of a listed name, which still has its dots and commas.

Not `crag.text.matching.LEGAL_FORMS`, which are those of plain names, and more: with "llc", "ag" and "se" more spellings
would name a company, and pairs would fall into other groups than before.
"""


CompanyNames = Mapping[str, str]
"""Normalised name of a company -> its ticker in lower case."""


def company_names(folder: Path) -> CompanyNames:
    """The names of listed companies without the kind of share, with and without their legal forms; and nicknames."""
    tickers: dict[str, str] = {}
    path = folder / "finance/company_name.dict"
    if path.is_file():
        with path.open(encoding="utf-8", newline="") as lines:
            # Not strict: a published list may have rows with surplus cells or open quotes
            listings = CsvReader(lines, str(path), _LISTING_COLUMNS, _LISTING_COLUMNS, strict=False)
            rows = [row.cells for row in listings]

        # The first listing of a name counts, so it is written last.
        for row in reversed(rows):
            # "Apple Inc. Common Stock" becomes "Apple Inc"
            name = _SECURITY.sub("", row["Name"]).strip(" ,.")
            for spelling in (name, _without_legal_forms(name)):
                tickers[normalise_name(spelling)] = row["Symbol"].lower()

    # Last, because a nickname that we list is meant on purpose
    for nickname, ticker in nicknames().items():
        tickers[nickname] = ticker.lower()
    return tickers


def _without_legal_forms(name: str) -> str:
    """The name of a company without the legal forms at its end.

    >>> _without_legal_forms("Example Holding Co. Ltd")
    'Example Holding'
    """
    while True:
        # One form at a time, from the end: "Co. Ltd" has two
        shorter = _LEGAL_FORM.sub("", name).strip(" ,.")
        if shorter == name:
            return name
        name = shorter


def groups_of(domain: Domain, program: Program, companies: CompanyNames) -> tuple[str, ...]:
    """The entities in a program's calls, teams in full, companies by ticker.

    Without any, table and values of each call: "movie_person_oscar 2012 visual effects".
    """
    calls = [statement for statement in program.statements if isinstance(statement, Call)]

    groups: list[str] = []
    for call in calls:
        groups += _entities(domain, call, companies)
    if not groups:
        groups = [_table_and_values(call) for call in calls]

    distinct = dict.fromkeys(groups)
    return tuple(filter(None, distinct))


def _table_and_values(call: Call) -> str:
    """The table of a call and its strings; empty if it has no strings."""
    values: list[object] = list(call.arguments)
    # "true" only switches a filter on and names nothing
    values += [condition.value for condition in call.conditions if condition.value != "true"]
    strings = [value for value in values if isinstance(value, str)]
    if not strings:
        return ""
    return " ".join([call.table.removeprefix("get_"), *strings])


def _entities(domain: Domain, call: Call, companies: CompanyNames) -> Iterator[str]:
    """The names in the arguments of a call, in one spelling for each entity."""
    parameters = load_schema(domain).tables[call.table].parameters
    # Trailing optional arguments may be missing, so the lengths may differ
    for parameter, argument in zip(parameters, call.arguments, strict=False):
        if parameter.kind.is_entity:
            for name in names_in(argument):
                yield _spelling(name, call.table, parameter.kind, companies)


def _spelling(
    name: str,
    table: str,
    kind: ParameterKind,
    companies: CompanyNames,
) -> str:
    if kind is ParameterKind.TEAM:
        # "lakers" and "los angeles lakers" must fall into one fold
        team, *_ = team_spelling(name, "nba" if "nba" in table else "soccer")
        return team.casefold()
    if kind is ParameterKind.COMPANY:
        # A name that is not listed is its own group
        return companies.get(normalise_name(name), name).casefold()
    return name.casefold()
