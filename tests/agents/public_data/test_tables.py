import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from agents.public_data.entity import Attribute, AwardTable, AwardWin, Entity, award_entities, verbalise
from agents.public_data.tables import INDEX, SHIPPED_TABLES, TableError, load_entities, read_index

ENTRY = {"layout": "entities", "domain": "movie", "label": "films", "source": "-", "licence": "CC0-1.0", "names": ["t"]}


def write(folder: Path, table: str, **entry: object) -> Path:
    (folder / "t.csv").write_text(table, encoding="utf-8")
    (folder / INDEX).write_text(json.dumps({"t.csv": ENTRY | entry}), encoding="utf-8")
    return folder


def test_the_shipped_tables_name_source_and_licence_and_cover_what_they_claim() -> None:
    index = read_index(SHIPPED_TABLES)
    assert {path.name for path in SHIPPED_TABLES.glob("*.csv")} == set(index)
    assert all(table.source and table.licence == "CC0-1.0" for table in index.values())
    entities = load_entities()
    best_pictures = [entity for entity in entities if entity.names[0] == "Best Picture"]
    assert [entity.years[0] for entity in best_pictures] == list(range(1990, 2025))
    domains = Counter(entity.domain for entity in entities)
    assert min(domains["movie"], domains["music"], domains["finance"]) >= 60


def test_people_are_reported_what_the_rows_are_to_them(tmp_path: Path) -> None:
    table = "t,d,y\nOne,Ann|Bo,1990\nTwo,ann,1995\n"
    entities = load_entities(write(tmp_path, table, year="y", inverse={"d": "film{s} directed"}))
    paragraphs = {entity.names[0]: verbalise(entity, 9) for entity in entities}
    assert paragraphs["One"] == "The t is One. The ds are Ann and Bo. The y is 1990."
    assert paragraphs["Ann"] == 'The name is Ann. The films directed are "One" (1990) and "Two" (1995).'


@pytest.mark.parametrize(
    ("table", "entry", "message"),
    [
        ("t\nx\n", {"domain": "sport"}, "domain"),
        ("t\nx\n", {"unknown": 1}, "unknown"),
        ("t\nx,y\n", {}, "row 2: more cells"),
        ("other\nx\n", {}, "t.csv: not a table of the layout"),
    ],
)
def test_a_folder_that_cannot_be_used_says_what_is_wrong(
    tmp_path: Path, table: str, entry: dict[str, object], message: str
) -> None:
    with pytest.raises(TableError, match=message):
        load_entities(write(tmp_path, table, **entry))


def test_a_missing_folder_and_a_missing_table_are_named(tmp_path: Path) -> None:
    with pytest.raises(TableError, match=r"nowhere.*cannot be read"):
        load_entities(tmp_path / "nowhere")
    (write(tmp_path, "t\n") / "t.csv").unlink()
    with pytest.raises(TableError, match=r"t\.csv: cannot be read"):
        load_entities(tmp_path)


def one(*attributes: Attribute) -> Entity:
    return Entity(("x",), "movie", "films", attributes)


def test_the_paragraph_reads_as_in_the_paper() -> None:
    film = one(
        Attribute("title{s}", ("Rain Man",), quoted=True),
        Attribute("director{s}", ("Barry Levinson",)),
        Attribute("lead actor{s}", ("Dustin Hoffman", "Tom Cruise")),
        Attribute("budget{s}", ()),
        Attribute("release year{s}", ("1988",)),
    )
    assert verbalise(film, 10) == (
        'The title is "Rain Man". The director is Barry Levinson. '
        "The lead actors are Dustin Hoffman and Tom Cruise. The release year is 1988."
    )


def test_a_value_that_ends_with_a_full_stop_gets_no_second_one() -> None:
    assert verbalise(one(Attribute("name", ("Apple Inc.",))), 10) == "The name is Apple Inc."


def test_a_long_list_is_cut_and_its_length_reported() -> None:
    films = one(Attribute("film{s} directed", tuple(f"F{n}" for n in range(7))))
    assert verbalise(films, 3) == "The films directed are F0, F1, F2 and 4 more (7 in all)."
    assert verbalise(films, 7).endswith("F5 and F6 (7 in all).")


def test_what_happened_in_the_year_of_the_question_survives_the_cut() -> None:
    awards = one(Attribute("award{s} won", tuple(f"Best {n} ({2000 + n})" for n in range(9))))
    assert verbalise(awards, 1, years=(2007,)).startswith("The awards won are Best 7 (2007) and 8 more")


TABLE = AwardTable(
    domain="movie",
    label="awards",
    source="-",
    licence="-",
    layout="awards",
    prize="Golden Fish",
    won="Golden Fish award{s} won",
    nominated="nomination{s}",
    work="film",
    aliases={"Best Swim": ("best swimming",)},
)
WIN = AwardWin("Best Swim", "3rd Golden Fish", 1971, 1970, "Deep", ("Ann Lee",), (), won=True)


def entities(*rows: AwardWin) -> dict[str, Entity]:
    return {entity.names[0]: entity for entity in award_entities(rows, TABLE)}


def test_a_win_is_reported_from_the_award_the_work_and_the_person() -> None:
    found = entities(WIN, replace(WIN, work="Wide", winners=("Bo",), won=False))
    assert set(found) == {"Best Swim", "Deep", "Wide", "Ann Lee", "Bo"}
    assert verbalise(found["Best Swim"], 9) == (
        "The award is Golden Fish for Best Swim. The ceremony is 3rd Golden Fish, held in 1971. The awarded year is "
        '1970. The winner is Ann Lee for "Deep". The other nominee is Bo for "Wide".'
    )
    assert verbalise(found["Deep"], 9) == (
        'The film is "Deep". The awarded year is 1970. '
        "The Golden Fish award won is Best Swim (Ann Lee, ceremony of 1971)."
    )
    assert verbalise(found["Bo"], 9) == 'The name is Bo. The nomination is Best Swim for "Wide" (ceremony of 1971).'


def test_an_award_goes_by_its_aliases_and_both_its_years() -> None:
    award = entities(WIN)["Best Swim"]
    assert award.names == ("Best Swim", "Golden Fish for Best Swim", "best swimming")
    assert award.years == (1971, 1970)
    assert award.one_a_year


def test_singers_count_beside_the_writers_of_their_song() -> None:
    song = replace(WIN, performers=("Cher",))
    assert 'Best Swim for "Deep"' in verbalise(entities(song)["Cher"], 9)
    assert "The performer is Cher." in verbalise(entities(song)["Deep"], 9)
