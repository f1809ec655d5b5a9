from dataclasses import replace

from agents.public_data.awards import AwardWin, award_entities
from agents.public_data.description import AwardTable
from agents.public_data.entity import Entity, verbalise

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


def test_a_win_is_told_from_the_award_the_work_and_the_person() -> None:
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


def test_one_person_has_one_paragraph_however_the_name_is_spelt() -> None:
    again = replace(WIN, year=1975, winners=("ANN LEE",), work="Low")
    assert 'for "Deep" (ceremony of 1971) and Best Swim for "Low"' in verbalise(entities(WIN, again)["Ann Lee"], 9)


def test_singers_count_beside_the_writers_of_their_song() -> None:
    song = replace(WIN, performers=("Cher",))
    assert 'Best Swim for "Deep"' in verbalise(entities(song)["Cher"], 9)
    assert "The performer is Cher." in verbalise(entities(song)["Deep"], 9)
