"""Fillers about films, the people who make them, and the Oscars."""

from collections.abc import Iterator, Sequence

from training.api_pairs.fillers.base import Draw, Filler, Filling, filling, named, same
from training.api_pairs.graph import Record
from training.api_pairs.templates import Gap, words


def _films(draw: Draw, has: str | None = None) -> list[Record]:
    key = draw.has if has is None else has
    return [film for film in draw.graph.films if not key or film.get(key)]


def _titles(draw: Draw) -> list[str]:
    return [film["title"] for film in _films(draw)]


def _renown(film: Record) -> float:
    """A film's fame, from what it earned and won."""
    won = sum(bool(award.get("winner")) for award in film.get("oscar_awards") or ())
    return 1 + (film.get("revenue") or 0) / 2e8 + won


def _film(draw: Draw) -> Filling:
    films = _films(draw)
    return filling(draw, {"film": draw.one(films, [_renown(each) for each in films])["title"]})


def _persons(draw: Draw) -> list[Record]:
    return [one for one in draw.graph.persons if not draw.has or one.get(draw.has)]


def _person(draw: Draw) -> Filling:
    person = draw.one(_persons(draw))
    trade = "director" if person.get("directed_movies") else "actor" if person.get("acted_movies") else "filmmaker"
    return filling(draw, {"person": person["name"]}, trade=same(trade))


def _role(draw: Draw) -> Filling:
    films = [film for film in _films(draw, "cast") if len(film["cast"]) > 2]
    if draw.has:
        films = [film for film in films if any(member.get(draw.has) for member in film["cast"])]
    film = draw.one(films)
    member = draw.one([one for one in film["cast"] if _is_called(one.get("character") or "")])
    names = {"film": film["title"], "actor": member["name"]}
    return filling(draw, names, character=same(_plain_character(member["character"])))


def _is_called(character: str) -> bool:
    return 2 < len(_plain_character(character)) < 30 and "/" not in character and '"' not in character


def _plain_character(character: str) -> str:
    return character.split("(", maxsplit=1)[0].strip().lower()


def _careers(draw: Draw, least: int) -> list[tuple[str, list[Record]]]:
    """Actors with their films in the graph."""
    films: dict[str, list[Record]] = {}
    for film in _films(draw, "cast"):
        for name in dict.fromkeys(member["name"] for member in film["cast"]):
            films.setdefault(name, []).append(film)
    return [(name, found) for name, found in films.items() if len(found) >= least]


def _actor(draw: Draw) -> Filling:
    return _with_years(draw, "actor", _careers(draw, 1))


def _with_years(draw: Draw, gap: str, people: Sequence[tuple[str, list[Record]]]) -> Filling:
    """A person, weighted by number of films, with years around one of the films."""
    name, films = draw.one(people, [len(films) ** 1.5 for _, films in people])
    year = draw.one(sorted({int(film["release_date"][:4]) for film in films if film.get("release_date")}))
    before, after = year - draw.rng.randint(1, 6), year + draw.rng.randint(1, 6)
    return filling(draw, {gap: name}, year=same(year), before=same(before), after=same(after))


def _co_stars(draw: Draw) -> Filling:
    film = draw.one([film for film in _films(draw, "cast") if len(film["cast"]) > 1])
    one, other = draw.several([member["name"] for member in film["cast"][:4]])
    return filling(draw, {"actor": one, "actor2": other})


def _shared_cast(draw: Draw) -> Filling:
    _, films = draw.one(_careers(draw, 2))
    one, other = draw.several([film["title"] for film in films])
    return filling(draw, {"film": one, "film2": other})


def _with_crew(draw: Draw) -> list[str]:
    films = _films(draw, "crew")
    return [film["title"] for film in films if any(one.get("job") == draw.has for one in film["crew"])]


def _directors(draw: Draw) -> list[tuple[str, list[Record]]]:
    films: dict[str, list[Record]] = {}
    for film in _films(draw, "crew"):
        for one in film["crew"]:
            if one.get("job") == "Director":
                films.setdefault(one["name"], []).append(film)
    return list(films.items())


def _director(draw: Draw) -> Filling:
    return _with_years(draw, "director", _directors(draw))


def _oscars(draw: Draw, kind: str) -> Iterator[tuple[str, Record]]:
    """The awards won in categories of a kind, with the category's everyday name."""
    for said, official in words()["oscar"][kind].items():
        for award in draw.graph.oscars:
            if award.get("winner") and str(award.get("category", "")).lower().startswith(official):
                yield said, award


def _oscar_year(kind: str) -> Filler:
    def fill(draw: Draw) -> Filling:
        said, award = draw.one(list(_oscars(draw, kind)))
        asked = said if said.startswith("best") or draw.rng.random() < 0.5 else f"best {said}"
        return Filling({"year": same(award.get("year_ceremony")), "category": Gap(asked, said)})

    return fill


def _oscar_nominees(draw: Draw) -> Filling:
    kind, key = draw.rng.choice((("person", "name"), ("film", "film")))
    return Filling(_oscar_year(kind)(draw).gaps | {"key": Gap(kind, key)})


def _oscar_films(draw: Draw) -> list[str]:
    names = {str(award["film"]): None for award in draw.graph.oscars if award.get("winner") and award.get("film")}
    return [name for name in names if "," not in name and " and " not in name and len(name) < 40]


def _oscar_persons(draw: Draw) -> list[str]:
    categories = tuple(words()["oscar"]["person"].values())
    won = [award for award in draw.graph.oscars if award.get("winner")]
    names = {str(one["name"]): None for one in won if str(one.get("category", "")).lower().startswith(categories)}
    return [name for name in names if "," not in name and " and " not in name]


FILLERS: dict[str, Filler] = {
    "film": _film,
    "two films": named("film", _titles, 2),
    "person": _person,
    "two persons": named("person", lambda draw: [one["name"] for one in _persons(draw)], 2),
    "role": _role,
    "actor": _actor,
    "co-stars": _co_stars,
    "shared cast": _shared_cast,
    "crew": named("film", _with_crew),
    "director": _director,
    "two directors": named("director", lambda draw: [name for name, _ in _directors(draw)], 2),
    "oscar for a person": _oscar_year("person"),
    "oscar for a film": _oscar_year("film"),
    "oscar nominees": _oscar_nominees,
    "oscar film": named("film", _oscar_films),
    "two oscar films": named("film", _oscar_films, 2),
    "oscar person": named("person", _oscar_persons),
    "two oscar persons": named("person", _oscar_persons, 2),
}
