"""Finds the films that a title means: among namesakes, sequels and titles that are nearly the same."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from crag.graph.conditions import allowed_numbers, as_number
from crag.graph.context import LookupContext, quote_names
from crag.graph.language import Condition
from crag.graph.results import NotFoundError
from crag.graph.spelling import search_names
from crag.text.matching import (
    NameMatch,
    best_title_match,
    first_part_form,
    has_part_number,
    has_same_article,
    normalise_name,
    part_number_spellings,
    same_numbers,
    title_form,
    title_forms,
)

_TITLE_BEGINNING_SIMILARITY = 0.9

_YEAR_AT_END = re.compile(r"\s{0,9}[\[(]?\b((?:19|20)\d\d)[\])]?\s{0,9}$")
_SUBTITLE = re.compile(r":|\s[-\u2013]\s|\s\(| or (?=\()")

Film = Mapping[str, Any]
"""A record of the server."""


def find_films(
    context: LookupContext,
    title: str,
    conditions: Sequence[Condition],
) -> list[Film]:
    """The films with that title (or its first part, or without a year) in the allowed years, best known first.

    Raises NotFoundError: the graph has no film with such a title.
    """
    stem, year = _stem(title)
    films, match = _search_film(context, title, title)
    if match is None and stem != title:
        # A year at the end is no part of the title; a subtitle is, but the search may know the film without it
        sought_title = stem if year is not None else title
        films_of_stem, match = _search_film(context, stem, sought_title)
        films = films_of_stem if match is not None else [*films, *films_of_stem]
    if match is None:
        titles = quote_names([film["title"] for film in films])
        raise NotFoundError(f'the graph has no film "{title}"; nearest: {titles}')

    best_title = films[match.position]["title"]
    if not match.exact:
        context.remark(f'"{title}" is read as the film "{best_title}"')

    # "Dune (1984)" means the film of that year
    allowed_years = allowed_numbers(conditions, "year")
    if allowed_years is None and year is not None:
        allowed_years = range(year, year + 1)
    namesakes = _namesakes(films, best_title, allowed_years)
    # The film with the same article comes first: "The Batman", not "Batman"
    namesakes.sort(key=lambda film: not has_same_article(film["title"], best_title))
    if len(namesakes) > 1:
        years = ", ".join(str(release_year(film) or "?") for film in namesakes)
        context.remark(f'{len(namesakes)} films are called "{best_title}" ({years}); the best known comes first')
    return namesakes


def _namesakes(films: Sequence[Film], title: str, allowed_years: range | None) -> list[Film]:
    """The films of exactly this title: those of the allowed years, or all if no year has one."""
    normalised_title = normalise_name(title)
    namesakes = [film for film in films if normalise_name(film["title"]) == normalised_title]
    if allowed_years is None:
        return namesakes
    of_those_years = [film for film in namesakes if (release_year(film) or 0) in allowed_years]
    return of_those_years or namesakes


def _search_film(
    context: LookupContext,
    query: str,
    title: str,
) -> tuple[list[Film], NameMatch | None]:
    """The films that a search for `query` finds, best known first, and the one that `title` means, if any.

    A sequel is searched again under other spellings of its number: a word search finds only what is written.
    """
    films = _best_known_first(search_names(context, "/movie/get_movie_info", query, _title_of))
    match = _match_title(title, films)
    spellings = part_number_spellings(title_form(title))
    if match is None and spellings:
        replies = context.ask_all("/movie/get_movie_info", spellings)
        records = list(films)
        for reply in replies:
            records += reply or ()
        films = _best_known_first(records)
        match = _match_title(title, films)

    if match is None:
        match = _match_first_part(title, films)
    return films, match


def _title_of(film: Film) -> str:
    return film.get("title") or ""


def _best_known_first(records: Sequence[Film]) -> list[Film]:
    """Each film with a title once, the best known first."""
    film_by_key: dict[object, Film] = {}
    for film in records:
        if film.get("title"):
            key = film.get("id") or (film["title"], film.get("release_date"))
            film_by_key.setdefault(key, film)
    return sorted(film_by_key.values(), key=_fame_of_film, reverse=True)


def _match_title(title: str, films: Sequence[Film]) -> NameMatch | None:
    """The film that is meant: its title, with the number of a part in any spelling, or the beginning of its title.

    A title that is nearly the same but has another number is another film.
    """
    match = best_title_match(title, [film["title"] for film in films])
    if match is not None:
        return match

    for form in title_forms(title):
        for index, film in enumerate(films):
            # "Terminator 2" is "Terminator 2: Judgment Day"
            if has_part_number(form) and f"{title_form(film['title'])} ".startswith(f"{form} "):
                return NameMatch(index, _TITLE_BEGINNING_SIMILARITY, exact=False)

    # Longer titles that begin with this one, such as "Borat: Cultural Learnings ..." for "Borat"
    longer: list[int] = []
    normalised_title = normalise_name(title)
    for index, film in enumerate(films):
        stem, _ = _stem(film["title"])
        if normalise_name(stem) == normalised_title and same_numbers(title, film["title"]):
            longer.append(index)

    # If several films continue the title, none of them is clearly meant
    return NameMatch(longer[0], _TITLE_BEGINNING_SIMILARITY, exact=False) if len(longer) == 1 else None


def _match_first_part(title: str, films: Sequence[Film]) -> NameMatch | None:
    """The first part: "Rocky" for "Rocky 1", "Kill Bill: Vol. 1" for "Kill Bill"; only where no film has the title."""
    form = first_part_form(title_form(title))
    for index, film in enumerate(films):
        if title_form(film["title"]) == form:
            return NameMatch(index, _TITLE_BEGINNING_SIMILARITY, exact=False)
    return None


def _stem(title: str) -> tuple[str, int | None]:
    """The title without subtitle, bracket and year, and that year."""
    # A title that is only a year, such as "1917", has no stem before it.
    year = _YEAR_AT_END.search(title)
    if year is not None and year.start() > 0:
        stem = title[: year.start()].strip()
        return stem, int(year.group(1))

    beginning = _SUBTITLE.split(title, maxsplit=1)[0].strip()
    return beginning or title, None


def _fame_of_film(film: Film) -> tuple[float, int, int]:
    """A sort key for films with the same title, from obscure to well known."""
    revenue = as_number(film.get("revenue")) or 0.0
    award_count = len(film.get("oscar_awards") or ())
    cast_count = len(film.get("cast") or ())
    crew_count = len(film.get("crew") or ())
    return revenue, award_count, cast_count + crew_count


def release_year(film: Film) -> int | None:
    """The year of release, if it is known."""
    year = str(film.get("release_date") or "")[:4]
    if not year.isdecimal():
        return None
    return int(year)
