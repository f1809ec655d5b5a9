"""The five movie tables (db3 section 3.2)."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from crag.graph.conditions import year_range
from crag.graph.context import LookupContext, TableQuery, name_list
from crag.graph.language import Condition, Operator
from crag.graph.results import Cell, MeaninglessCallError, NotFoundError, Row
from crag.text.matching import NameMatch, best_match, contains_words, normalise_name, same_name

OSCAR_YEARS = range(1990, 2022)
"""The ceremonies whose awards the server has; it fails on others."""

_GENDERS = {1: "female", 2: "male"}
_YEAR_BEHIND = re.compile(r"\s{0,9}[\[(]?\b((?:19|20)\d\d)[\])]?\s{0,9}$")
_SUBTITLE = re.compile(r":|\s[-\u2013]\s|\s\(| or (?=\()")
_Record = Mapping[str, Any]


def get_person(context: LookupContext, query: TableQuery) -> list[Row]:
    """One row: the person."""
    person = find_person(context, query.name("a person"))
    cells = {"name": person["name"], "birthday": person.get("birthday"), "films as an actor": _films(person) or None}
    return [Row(person["name"], cells)]


def get_movie(context: LookupContext, query: TableQuery) -> list[Row]:
    """The film; if several have the title, the best known comes first."""
    return [
        Row(film["title"], {"title": film["title"], **_film_cells(film), **_makers(film)})
        for film in find_films(context, query.name("a film"), query.conditions)
    ]


def get_movie_person_oscar(context: LookupContext, query: TableQuery) -> list[Row]:
    """The awards of a film, of a person or, without either, of the ceremonies that the conditions on `year` allow."""
    movie, person = query.names
    if movie is not None:
        film = find_films(context, movie, ())[0]
        entity, awards = film["title"], _of_person(film.get("oscar_awards") or (), person)
    elif person is not None:
        record = find_person(context, person)
        entity, awards = record["name"], record.get("oscar_awards") or []
    else:
        entity, awards = _ceremonies(context, query.conditions)
    return [Row(entity, _award_cells(award)) for award in awards]


def find_person(context: LookupContext, name: str) -> _Record:
    """The person with that name; of several, the one with awards and most films.

    A part of a name is enough if one match is far better known than the next.
    """
    found = [person for person in context.ask("/movie/get_person_info", query=name) if person.get("name")]
    people = sorted(found, key=lambda one: (bool(one.get("oscar_awards")), _films(one)), reverse=True)
    match = best_match(name, [person["name"] for person in people])
    named = [people[match.position]] if match else [one for one in people if contains_words(one["name"], name)]
    if not named or (len(named) > 1 and _films(named[0]) < 3 * _films(named[1])):
        raise NotFoundError(f'the graph has no person "{name}"; nearest: {name_list([p["name"] for p in found])}')
    person: _Record = named[0]
    if match is None or not match.exact:
        context.remark(f'"{name}" is read as the person "{person["name"]}"')
    return person


def find_films(context: LookupContext, title: str, conditions: Sequence[Condition]) -> list[_Record]:
    """The films with that title (or its first part, or without a year) in the allowed years, best known first."""
    stem, year = _stem(title)
    films, match = _search_film(context, title, title)
    if match is None and stem != title:
        more, match = _search_film(context, stem, stem if year is not None else title)
        films = more if match is not None else [*films, *more]
    if match is None:
        raise NotFoundError(f'the graph has no film "{title}"; nearest: {name_list([f["title"] for f in films])}')
    best = films[match.position]
    if not match.exact:
        context.remark(f'"{title}" is read as the film "{best["title"]}"')
    same = [film for film in films if normalise_name(film["title"]) == normalise_name(best["title"])]
    allowed = year_range(conditions) or (range(year, year + 1) if year is not None else None)
    if allowed is not None:
        same = [film for film in same if (_year(film) or 0) in allowed] or same
    if len(same) > 1:
        years = ", ".join(str(_year(film) or "?") for film in same)
        context.remark(f'{len(same)} films are called "{best["title"]}" ({years}); the best known comes first')
    return same


def _search_film(context: LookupContext, query: str, title: str) -> tuple[list[_Record], NameMatch | None]:
    """The films found, best known first, and the one that is meant.

    A title also matches the only film whose title continues it ("Borat" and "Borat: Cultural Learnings ...").
    """
    found = [film for film in context.ask("/movie/get_movie_info", query=query) if film.get("title")]
    films = sorted(found, key=_fame, reverse=True)
    match = best_match(title, [film["title"] for film in films])
    if match is None:
        wanted, stems = normalise_name(title), [normalise_name(_stem(film["title"])[0]) for film in films]
        longer = [place for place, stem in enumerate(stems) if stem == wanted]
        match = NameMatch(longer[0], 0.9, exact=False) if len(longer) == 1 else None
    return films, match


def _stem(title: str) -> tuple[str, int | None]:
    """The title without subtitle, bracket and year, and that year."""
    year = _YEAR_BEHIND.search(title)
    if year is not None and year.start() > 0:
        return title[: year.start()].strip(), int(year.group(1))
    return _SUBTITLE.split(title, maxsplit=1)[0].strip() or title, None


def _films(person: _Record) -> int:
    return len(person.get("acted_movies") or ())


def _credits(context: LookupContext, query: TableQuery, part: str) -> list[Row]:
    """Rows of the cast or crew table, from the film's side if a film is named.

    The record of an actor lists only the films in which somebody acted, so there may be others that the person made.
    """
    movie, person = query.names
    if movie is not None:
        film = find_films(context, movie, query.conditions)[0]
        members = sorted(film.get(part) or (), key=_credit_order if part == "cast" else lambda _: 0)
        return [Row(film["title"], _member_cells(film, one, part)) for one in _of_person(members, person)]
    if person is None:
        raise MeaninglessCallError(f"get_movie_person_{part} needs a film or a person")
    record = find_person(context, person)
    rows: list[Row] = []
    for identifier, film in _films_of(context, record, part, query):
        members = [m for m in film.get(part) or () if m.get("id") == record.get("id")]
        if not members and (part == "cast" or identifier in (record.get("directed_movies") or ())):
            members = [{"name": record["name"], "job": "Director"}]
        rows.extend(Row(record["name"], _member_cells(film, member, part)) for member in members)
    lists_works = bool(record.get("directed_movies")) or any(row.cells.get("job") == "Director" for row in rows)
    if part == "crew" and not lists_works and (not rows or _only_directing(query.conditions)):
        raise NotFoundError(f"the graph does not list the films that {record['name']} made")
    return rows


get_movie_person_cast = partial(_credits, part="cast")
get_movie_person_crew = partial(_credits, part="crew")


def _films_of(context: LookupContext, person: _Record, part: str, query: TableQuery) -> Iterable[tuple[int, _Record]]:
    """The films of a person with their records, one HTTP call each; no calls if only their number is needed."""
    acted, directed = person.get("acted_movies") or (), person.get("directed_movies") or ()
    others = () if directed and _only_directing(query.conditions) else acted
    identifiers = list(dict.fromkeys(acted if part == "cast" else [*directed, *others]))
    if part == "cast" and not query.keys and not query.whole and not query.conditions:
        return [(identifier, {}) for identifier in identifiers]
    found = context.ask_all("/movie/get_movie_info_by_id", identifiers)
    return [(identifier, film) for identifier, film in zip(identifiers, found, strict=True) if film]


def _only_directing(conditions: Sequence[Condition]) -> bool:
    wanted = [c.value for c in conditions if c.key == "job" and c.operator is Operator.EQ]
    return any(isinstance(value, str) and normalise_name(value) == "director" for value in wanted)


def _of_person(records: Iterable[_Record], name: str | None) -> list[_Record]:
    """The credits of a person (None: all), also as one of several names or by surname."""
    return [
        record
        for record in records
        if name is None or same_name(said := record.get("name") or "", name) or contains_words(said, name)
    ]


def _ceremonies(context: LookupContext, conditions: Sequence[Condition]) -> tuple[str, list[_Record]]:
    """All awards of the ceremonies in the years that the conditions allow."""
    allowed = year_range(conditions)
    if allowed is None:
        raise MeaninglessCallError("get_movie_person_oscar needs a film, a person or a condition on year")
    years = [year for year in OSCAR_YEARS if year in allowed]
    if not years:
        raise NotFoundError(f"the graph has Oscars of {OSCAR_YEARS[0]} to {OSCAR_YEARS[-1]} only")
    replies = context.ask_all("/movie/get_year_info", [str(year) for year in years])
    awards = [award for reply in replies for award in (reply or {}).get("oscar_awards") or ()]
    span = str(years[0]) if len(years) == 1 else f"{years[0]} to {years[-1]}"
    return f"the {span} Academy Awards", awards


def _film_cells(film: _Record) -> dict[str, Cell]:
    return {
        "release_date": film.get("release_date"),
        "year": _year(film),
        "revenue": film.get("revenue") or None,  # 0: unknown
        "budget": film.get("budget") or None,
        **{key: film.get(key) for key in ("rating", "original_title", "original_language", "length")},
        "genres": tuple(genre["name"] for genre in film.get("genres") or () if genre.get("name")) or None,
    }


def _makers(film: _Record) -> dict[str, Cell]:
    """Not keys of the table, but part of the record that the model reads."""
    directors = tuple(m["name"] for m in film.get("crew") or () if m.get("job") == "Director" and m.get("name"))
    leads = tuple(m["name"] for m in sorted(film.get("cast") or (), key=_credit_order)[:3] if m.get("name"))
    return {"directed by": directors or None, "lead actors": leads or None}


def _member_cells(film: _Record, member: _Record, part: str) -> dict[str, Cell]:
    role = {
        "character": member.get("character") or None,
        "gender": _GENDERS.get(member.get("gender") or 0),
        "order": member.get("order"),
    }
    own = role if part == "cast" else {"job": member.get("job")}
    return {"movie_name": film.get("title"), "name": member.get("name"), **own, **(_film_cells(film) if film else {})}


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
    return float(order) if isinstance(order, int | float) else float("inf")


def _fame(film: _Record) -> tuple[float, int, int]:
    """A sort key for films with the same title, from obscure to well known."""
    people = len(film.get("cast") or ()) + len(film.get("crew") or ())
    return float(film.get("revenue") or 0), len(film.get("oscar_awards") or ()), people


def _year(film: _Record) -> int | None:
    text = str(film.get("release_date") or "")[:4]
    return int(text) if text.isdigit() else None
