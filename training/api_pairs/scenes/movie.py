"""Scenes of films, the people who make them, and the Oscars."""

from collections import Counter
from collections.abc import Iterator, Sequence

from training.api_pairs.graph import Record
from training.api_pairs.scenes.base import Draw, Scene, SceneFiller, same, scene
from training.api_pairs.shape_files import words
from training.api_pairs.wording import Gap


def _films(draw: Draw, has: str | None = None) -> list[Record]:
    key = draw.has if has is None else has
    return [film for film in draw.graph.films if not key or film.get(key)]


def _renown(film: Record) -> float:
    """How well known a film is, by what it earned and won."""
    return (
        1
        + (film.get("revenue") or 0) / 2e8
        + sum(bool(award.get("winner")) for award in film.get("oscar_awards") or ())
    )


def _film(draw: Draw) -> Scene | None:
    films = _films(draw)
    film = draw.known(films, [_renown(each) for each in films])
    return scene(draw, {"film": film["title"]}) if film else None


def _two_films(draw: Draw) -> Scene | None:
    films = draw.two(_films(draw))
    return scene(draw, {"film": films[0]["title"], "film2": films[1]["title"]}) if films else None


def _trade(person: Record) -> str:
    return "director" if person.get("directed_movies") else "actor" if person.get("acted_movies") else "filmmaker"


def _person(draw: Draw) -> Scene | None:
    person = draw.one([one for one in draw.graph.persons if not draw.has or one.get(draw.has)])
    return scene(draw, {"person": person["name"]}, trade=same(_trade(person))) if person else None


def _two_persons(draw: Draw) -> Scene | None:
    persons = draw.two([one for one in draw.graph.persons if one.get(draw.has)])
    return scene(draw, {"person": persons[0]["name"], "person2": persons[1]["name"]}) if persons else None


def _role(draw: Draw) -> Scene | None:
    films = [film for film in _films(draw, "cast") if len(film["cast"]) > 2]
    if draw.has:
        films = [film for film in films if any(member.get(draw.has) for member in film["cast"])]
    film = draw.one(films)
    if film is None:
        return None
    member = draw.one([one for one in film["cast"] if _is_called(one.get("character") or "")])
    if member is None:
        return None
    names = {"film": film["title"], "actor": member["name"]}
    return scene(draw, names, character=same(_plain_character(member["character"])))


def _is_called(character: str) -> bool:
    return 2 < len(_plain_character(character)) < 30 and "/" not in character and '"' not in character


def _plain_character(character: str) -> str:
    return character.split("(", maxsplit=1)[0].strip().lower()


def _careers(draw: Draw, least: int) -> list[tuple[str, list[Record]]]:
    """Actors with the films that the graph knows them to act in."""
    films: dict[str, list[Record]] = {}
    for film in _films(draw, "cast"):
        for name in dict.fromkeys(member["name"] for member in film["cast"]):
            films.setdefault(name, []).append(film)
    return [(name, found) for name, found in films.items() if len(found) >= least]


def _actor(draw: Draw) -> Scene | None:
    careers = _careers(draw, 1)
    career = draw.known(careers, [len(films) ** 1.5 for _, films in careers])
    return _with_years(draw, "actor", *career) if career else None


def _with_years(draw: Draw, gap: str, name: str, films: Sequence[Record]) -> Scene | None:
    years = sorted({int(film["release_date"][:4]) for film in films if film.get("release_date")})
    if not years:
        return None
    year = draw.rng.choice(years)
    before, after = year - draw.rng.randint(1, 6), year + draw.rng.randint(1, 6)
    return scene(draw, {gap: name}, year=same(year), before=same(before), after=same(after))


def _co_stars(draw: Draw) -> Scene | None:
    film = draw.one([film for film in _films(draw, "cast") if len(film["cast"]) > 1])
    if film is None:
        return None
    pair = draw.two([member["name"] for member in film["cast"][:4]])
    return scene(draw, {"actor": pair[0], "actor2": pair[1]}) if pair else None


def _shared_cast(draw: Draw) -> Scene | None:
    career = draw.one(_careers(draw, 2))
    films = draw.two(career[1]) if career else []
    return scene(draw, {"film": films[0]["title"], "film2": films[1]["title"]}) if films else None


def _crew(draw: Draw) -> Scene | None:
    films = [film for film in _films(draw, "crew") if any(one.get("job") == draw.has for one in film["crew"])]
    film = draw.one(films)
    return scene(draw, {"film": film["title"]}) if film else None


def _directors(draw: Draw) -> list[tuple[str, list[Record]]]:
    films: dict[str, list[Record]] = {}
    for film in _films(draw, "crew"):
        for one in film["crew"]:
            if one.get("job") == "Director":
                films.setdefault(one["name"], []).append(film)
    return list(films.items())


def _director(draw: Draw) -> Scene | None:
    directors = _directors(draw)
    found = draw.known(directors, [len(films) ** 1.5 for _, films in directors])
    return _with_years(draw, "director", *found) if found else None


def _two_directors(draw: Draw) -> Scene | None:
    pair = draw.two(_directors(draw))
    return scene(draw, {"director": pair[0][0], "director2": pair[1][0]}) if pair else None


def _oscars(draw: Draw, kind: str) -> Iterator[tuple[str, Record]]:
    """The awards that were won in categories of a kind, with what people call the category."""
    for said, official in words()["oscar"][kind].items():
        for award in draw.graph.oscars:
            if award.get("winner") and str(award.get("category", "")).lower().startswith(official):
                yield said, award


def _oscar_year(kind: str) -> SceneFiller:
    def fill(draw: Draw) -> Scene | None:
        found = draw.one(list(_oscars(draw, kind)))
        if found is None:
            return None
        said, award = found
        asked = said if said.startswith("best") or draw.rng.random() < 0.5 else f"best {said}"
        year = award.get("year_ceremony")
        return Scene({"year": same(year), "category": Gap(asked, said)})

    return fill


def _oscar_nominees(draw: Draw) -> Scene | None:
    kind = draw.rng.choice(("person", "film"))
    base = _oscar_year(kind)(draw)
    if base is None:
        return None
    key = "film" if kind == "film" else "name"
    return Scene(base.gaps | {"key": Gap("film" if kind == "film" else "person", key)})


def _winners(draw: Draw, field: str) -> list[str]:
    counts = Counter(str(award[field]) for award in draw.graph.oscars if award.get("winner") and award.get(field))
    return [name for name in counts if "," not in name and " and " not in name and len(name) < 40]


def _oscar_film(draw: Draw) -> Scene | None:
    film = draw.one(_winners(draw, "film"))
    return scene(draw, {"film": film}) if film else None


def _two_oscar_films(draw: Draw) -> Scene | None:
    films = draw.two(_winners(draw, "film"))
    return scene(draw, {"film": films[0], "film2": films[1]}) if films else None


def _laureates(draw: Draw) -> list[str]:
    people = set(words()["oscar"]["person"].values())
    wins = Counter(
        str(award["name"])
        for award in draw.graph.oscars
        if award.get("winner") and any(str(award.get("category", "")).lower().startswith(one) for one in people)
    )
    return [name for name in wins if "," not in name and " and " not in name]


def _oscar_person(draw: Draw) -> Scene | None:
    person = draw.one(_laureates(draw))
    return scene(draw, {"person": person}) if person else None


def _two_oscar_persons(draw: Draw) -> Scene | None:
    pair = draw.two(_laureates(draw))
    return scene(draw, {"person": pair[0], "person2": pair[1]}) if pair else None


SCENES: dict[str, SceneFiller] = {
    "film": _film,
    "two films": _two_films,
    "person": _person,
    "two persons": _two_persons,
    "role": _role,
    "actor": _actor,
    "co-stars": _co_stars,
    "shared cast": _shared_cast,
    "crew": _crew,
    "director": _director,
    "two directors": _two_directors,
    "oscar for a person": _oscar_year("person"),
    "oscar for a film": _oscar_year("film"),
    "oscar nominees": _oscar_nominees,
    "oscar film": _oscar_film,
    "two oscar films": _two_oscar_films,
    "oscar person": _oscar_person,
    "two oscar persons": _two_oscar_persons,
}
