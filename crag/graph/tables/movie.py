"""The five movie tables (db3 section 3.2)."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Literal

from crag.graph.conditions import allowed_numbers
from crag.graph.context import LookupContext, TableQuery, quote_names
from crag.graph.language import Condition, Operator
from crag.graph.results import Cell, MeaninglessCallError, NotFoundError, Row
from crag.graph.spelling import search_names
from crag.graph.tables.films import find_films, release_year
from crag.text.matching import (
    best_match,
    contains_words,
    is_one_letter_apart,
    normalise_name,
    same_name,
)

OSCAR_YEARS = range(1990, 2022)
"""The ceremonies whose awards the server has; it fails on others."""

_GENDERS = {1: "female", 2: "male"}
_FAR_BETTER_KNOWN = 3
"""A person with so many times the films of the next is meant by a part of a name."""
_LEADS = 3
_MOST_PEOPLE_FOUND = 10
"""The server's limit: it may know more people than so many."""

_Record = Mapping[str, Any]
_Part = Literal["cast", "crew"]


# --- the tables -------------------------------------------------------------------------------------------------------


def get_person(context: LookupContext, query: TableQuery) -> list[Row]:
    """One row: the person."""
    person = find_person(context, query.require_name("a person"))
    cells: dict[str, Cell] = {
        "name": person["name"],
        "birthday": person.get("birthday"),
        "films as an actor": _acted_count(person) or None,
    }
    return [Row(person["name"], cells)]


def get_movie(context: LookupContext, query: TableQuery) -> list[Row]:
    """The film; if several have the title, the best known comes first."""
    rows: list[Row] = []
    for film in find_films(context, query.require_name("a film"), query.conditions):
        cells = {"title": film["title"], **_film_cells(film), **_makers(film)}
        rows.append(Row(film["title"], cells))
    return rows


def get_movie_person_oscar(context: LookupContext, query: TableQuery) -> list[Row]:
    """The awards of a film, of a person or, without either, of the ceremonies that the conditions on `year` allow."""
    title, person_name = query.names
    if title is not None:
        film = find_films(context, title, ())[0]
        entity = film["title"]
        awards = _of_person(film.get("oscar_awards") or (), person_name)
    elif person_name is not None:
        person = find_person(context, person_name)
        entity = person["name"]
        awards = person.get("oscar_awards") or []
    else:
        entity, awards = _ceremonies(context, query.conditions)
    return [Row(entity, _award_cells(award)) for award in awards]


def _credits(context: LookupContext, query: TableQuery, part: _Part) -> list[Row]:
    """Rows of the cast or crew table, from the film's side if a film is named.

    The record of an actor lists only the films in which somebody acted, so there may be others that the person made.
    """
    title, person_name = query.names
    if title is not None:
        film = find_films(context, title, query.conditions)[0]
        members = list(film.get(part) or ())
        if part == "cast":
            # Leading roles first: a call without ALL takes the first row
            members.sort(key=_credit_order)
        members = _of_person(members, person_name)
        return [Row(film["title"], _member_cells(film, member, part)) for member in members]

    if person_name is None:
        raise MeaninglessCallError(f"get_movie_person_{part} needs a film or a person")
    person = find_person(context, person_name)
    return _credits_of_person(
        context,
        person,
        query,
        part,
    )


get_movie_person_cast = partial(_credits, part="cast")
get_movie_person_crew = partial(_credits, part="crew")


# --- people -----------------------------------------------------------------------------------------------------------


def find_person(context: LookupContext, name: str) -> _Record:
    """The person with that name; of several, the one with awards and most films.

    A part of a name is enough if one match is far better known than the next. One wrong letter in a short word is
    accepted only if the graph knows a single person with such a name. Raises NotFoundError: nobody, or several may be
    meant.
    """
    replies = search_names(context, "/movie/get_person_info", name, _name_of_person)
    records = [person for person in replies if person.get("name")]
    people = sorted(records, key=_fame_of_person, reverse=True)

    match = best_match(name, [person["name"] for person in people])
    if match is not None:
        candidates = [people[match.position]]
    else:
        candidates = [person for person in people if contains_words(person["name"], name)]
        if not candidates and len(records) < _MOST_PEOPLE_FOUND:
            candidates = _only_person(person for person in people if is_one_letter_apart(person["name"], name))

    # Best known first, so only the first two are compared.
    is_ambiguous = False
    if len(candidates) > 1:
        best_known, next_known = candidates[:2]
        is_ambiguous = _acted_count(best_known) < _FAR_BETTER_KNOWN * _acted_count(next_known)
    if not candidates or is_ambiguous:
        names = quote_names([person["name"] for person in records])
        raise NotFoundError(f'the graph has no person "{name}"; nearest: {names}')

    person: _Record = candidates[0]
    if match is None or not match.exact:
        context.remark(f'"{name}" is read as the person "{person["name"]}"')
    return person


def _only_person(people: Iterable[_Record]) -> list[_Record]:
    """The people if all have one name, else nobody."""
    namesakes = list(people)
    names = {normalise_name(person["name"]) for person in namesakes}
    return namesakes if len(names) == 1 else []


def _name_of_person(person: _Record) -> str:
    return person.get("name") or ""


def _acted_count(person: _Record) -> int:
    return len(person.get("acted_movies") or ())


def _fame_of_person(person: _Record) -> tuple[bool, int]:
    return bool(person.get("oscar_awards")), _acted_count(person)


def _credits_of_person(
    context: LookupContext,
    person: _Record,
    query: TableQuery,
    part: _Part,
) -> list[Row]:
    """The credits of a person in all their films.

    Raises NotFoundError: the record does not list what the person made, so that no rows prove nothing.
    """
    directed = person.get("directed_movies") or ()
    rows: list[Row] = []
    for film_id, film in _films_of(context, person, part, query):
        members = [member for member in film.get(part) or () if member.get("id") == person.get("id")]

        # The person's record lists the film, even if the film's record lacks the person.
        if not members and (part == "cast" or film_id in directed):
            members = [{"name": person["name"], "job": "Director"}]

        for member in members:
            cells = _member_cells(film, member, part)
            rows.append(Row(person["name"], cells))

    if part == "crew":
        lists_works = bool(directed) or any(row.cells.get("job") == "Director" for row in rows)
        if not lists_works and (not rows or _only_directing(query.conditions)):
            raise NotFoundError(f"the graph does not list the films that {person['name']} made")
    return rows


def _films_of(
    context: LookupContext,
    person: _Record,
    part: _Part,
    query: TableQuery,
) -> Iterable[tuple[int, _Record]]:
    """The films of a person with their records, one request each; none if only their number is needed."""
    acted = person.get("acted_movies") or ()
    directed = person.get("directed_movies") or ()
    if part == "cast":
        films = acted
    elif directed and _only_directing(query.conditions):
        films = directed
    else:
        films = [*directed, *acted]
    # A film that somebody directed and acted in is in both lists
    film_ids = list(dict.fromkeys(films))

    needs_no_records = not query.keys and not query.whole and not query.conditions
    if part == "cast" and needs_no_records:
        return [(film_id, {}) for film_id in film_ids]

    records = context.ask_all("/movie/get_movie_info_by_id", film_ids)
    return [(film_id, record) for film_id, record in zip(film_ids, records, strict=True) if record]


def _only_directing(conditions: Sequence[Condition]) -> bool:
    """Whether the conditions allow no other job than directing."""
    for condition in conditions:
        is_job = condition.key == "job" and condition.operator is Operator.EQ
        if is_job and isinstance(condition.value, str) and normalise_name(condition.value) == "director":
            return True
    return False


def _of_person(records: Iterable[_Record], name: str | None) -> list[_Record]:
    """The credits of a person (None: all), also as one of several names or by surname."""
    if name is None:
        return list(records)

    credits_of_person: list[_Record] = []
    for record in records:
        credited = record.get("name") or ""
        if same_name(credited, name) or contains_words(credited, name):
            credits_of_person.append(record)
    return credits_of_person


# --- awards -----------------------------------------------------------------------------------------------------------


def _ceremonies(
    context: LookupContext,
    conditions: Sequence[Condition],
) -> tuple[str, list[_Record]]:
    """A name for the ceremonies in the years that the conditions allow, and all their awards."""
    allowed = allowed_numbers(conditions, "year")
    if allowed is None:
        raise MeaninglessCallError("get_movie_person_oscar needs a film, a person or a condition on year")

    # The conditions may allow years that the server fails on
    years = [year for year in OSCAR_YEARS if year in allowed]
    if not years:
        raise NotFoundError(f"the graph has Oscars of {OSCAR_YEARS[0]} to {OSCAR_YEARS[-1]} only")

    awards: list[_Record] = []
    for ceremony in context.ask_all("/movie/get_year_info", list(map(str, years))):
        if ceremony:
            awards += ceremony.get("oscar_awards") or ()

    span = str(years[0])
    if len(years) > 1:
        span = f"{years[0]} to {years[-1]}"
    return f"the {span} Academy Awards", awards


# --- cells ------------------------------------------------------------------------------------------------------------


def _film_cells(film: _Record) -> dict[str, Cell]:
    genres = _names_of(film.get("genres") or ())
    return {
        "release_date": film.get("release_date"),
        "year": release_year(film),
        "revenue": film.get("revenue") or None,  # 0: unknown
        "budget": film.get("budget") or None,
        "rating": film.get("rating"),
        "original_title": film.get("original_title"),
        "original_language": film.get("original_language"),
        "length": film.get("length"),
        "genres": genres,
    }


def _makers(film: _Record) -> dict[str, Cell]:
    """Not keys of the table, but part of the record that the model reads."""
    crew = film.get("crew") or ()
    directors = [member for member in crew if member.get("job") == "Director"]

    cast = sorted(film.get("cast") or (), key=_credit_order)
    leads = cast[:_LEADS]
    return {"directed by": _names_of(directors), "lead actors": _names_of(leads)}


def _names_of(records: Iterable[_Record]) -> tuple[str, ...] | None:
    """The names of people or genres; None if none has one."""
    names = [record["name"] for record in records if record.get("name")]
    return tuple(names) or None


def _member_cells(film: _Record, member: _Record, part: _Part) -> dict[str, Cell]:
    cells: dict[str, Cell] = {"movie_name": film.get("title"), "name": member.get("name")}
    if part == "cast":
        cells["character"] = member.get("character") or None
        cells["gender"] = _GENDERS.get(member.get("gender") or 0)
        cells["order"] = member.get("order")
    else:
        cells["job"] = member.get("job")

    if film:  # empty if only the number of films is needed
        cells |= _film_cells(film)
    return cells


def _award_cells(award: _Record) -> dict[str, Cell]:
    return {
        "film": award.get("film"),
        "name": (award.get("name") or "").strip() or None,
        "category": award.get("category"),
        "year": award.get("year_ceremony"),
        "ceremony": award.get("ceremony"),
        "winner": bool(award.get("winner")),
    }


def _credit_order(member: _Record) -> float:
    order = member.get("order")
    # Credits without a place come last
    return float(order) if isinstance(order, int | float) else float("inf")
