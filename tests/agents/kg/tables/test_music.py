import pytest

from agents.kg.results import Status
from tests.agents.kg.conftest import Run
from tests.agents.kg.faulty_server import FaultyServer
from tests.agents.kg.test_executor import run_against


@pytest.mark.parametrize(
    ("program", "values"),
    [
        ('get_person("zoe vox")["birth_place"]', ("GB",)),  # written in lower case: not the one in capitals
        ('get_person("ZOE VOX")["birth_place"]', ("US",)),
        ('get_person("zoe vox")["name"]', ("Zoe Vox",)),
        ('get_person("the wrens choir")["lifespan"]', ("1990", "2001")),
        ('ALL get_person("wrens choir")["members"]', ("Ida", "Jo", "Max")),
        ('get_person("wrens choir")["members"]["len"]', (3,)),
        ('get_person("zoe vox")["members"]["len"]', ()),  # unknown, not none
        ('get_person(["wrens choir","max trio"])["members"]', ("Jo", "Max")),
        ('get_person("zoe vox")["music"]["len"]', (4,)),  # each once
        ('get_person("zoe vox")["music"]\nsort(None,-release_date)["name"]', ("2011-04-08: Live Somewhere",)),
        ('get_person("zoe vox")["music"]\nsort(None,release_date)', ()),
        ('get_person("zoe vox")["music"]\nALL sort(eq(release_date,"2010"),release_date)["name"]',
         ("Second Song", "Hello Moon")),
        ('get_person("zoe vox")["music"]\nsort(eq(release_date,"2010-03"),release_date)["len"]', (1,)),
        ('get_person("max trio")["music"]["len"]', (0,)),
        ('get_song("hello moon")["author"]', ("Zoe Vox",)),
        ('get_song("\u00f7")["release_date"]', ("2017-03-03",)),  # the search knows no signs
        ('get_grammy_person("zoe vox")["award_count"]', (3,)),
        ('get_grammy_person("zoe vox")["award_date"]', (2012, 2018)),
        ('get_grammy_person("max trio")["award_count"]', (1,)),
        ('get_grammy_person("nobody at all")["award_count"]', ()),  # nothing known of them is not no awards
        ('get_grammy_song("second song")["award_count"]', (1,)),
        ('get_grammy_year("2018")["best_new_artist"]', ("Zoe Vox",)),
        ('get_grammy_year("2021")["best_new_artist"]', ()),
        ('get_billboard(None,"2024-02-28",eq(rank,"2"))["song"]', ("Second Song",)),
        ('ALL get_billboard(None,"today",le(rank,"5"))["song"]', ("Hello Moon", "Second Song")),
        ('get_billboard("hello moon","2024-02-28")["weeks_in_chart"]', (7,)),
        ('get_billboard("hello moon")["rank_last_week"]', (2,)),
        ('get_billboard("hello moon","2024-02-27")["rank"]', ()),
    ],
)  # fmt: skip
def test_values(run: Run, program: str, values: tuple[object, ...]) -> None:
    result = run("music", program).results[-1]
    assert result.values == values
    whole = program.endswith("sort(None,release_date)")
    assert result.status is (Status.OK if values or whole else Status.NOT_FOUND)


def test_works_of_which_the_day_is_unknown_are_told(run: Run) -> None:
    result = run("music", 'get_person("zoe vox")["music"]\nsort(eq(release_date,"2012"),release_date)["name"]').results[
        1
    ]
    assert result.status is Status.NOT_FOUND
    assert "the release date of 1 of 4 works is unknown" in result.explanation


def test_whole_works_are_told_with_their_dates_and_without_the_artist(run: Run) -> None:
    outcome = run("music", 'get_person("zoe vox")["music"]\nALL sort(None,name)')
    assert outcome.results[1].text == (
        "4 works of Zoe Vox. 2011-04-08: Live Somewhere, 2011-04-08; Hello Moon, 2010-03-04; Second Song, 2010; "
        "Undated."
    )
    assert outcome.calls == 2 + 4  # search, works, and a date each


def test_a_year_in_which_one_field_cannot_be_read_still_has_the_others(run: Run) -> None:
    """The server fails with 500 on a missing nominee."""
    whole = run("music", 'get_grammy_year("2018")').results[0]
    assert "song of the year Hello Moon" in whole.text
    assert any("1 of 3 records could not be read" in remark for remark in whole.explanation)
    assert run("music", 'get_grammy_year("2018")["album_of_the_year"]').results[0].status is Status.KG_DOWN


def test_only_what_is_asked_for_is_asked(run: Run) -> None:
    assert run("music", 'get_song("hello moon")["author"]').calls == 2
    assert run("music", 'get_person("zoe vox")["music"]["len"]').calls == 2


def test_concerts_are_asked_for_last(run: Run) -> None:
    """Their day stands in their title; when the calls run out, it is they that are missing."""
    with FaultyServer() as server:
        server.results |= {
            "/music/search_artist_entity_by_name": ["Zoe Vox"],
            "/music/get_artist_all_works": [
                "2001-02-03: Here",
                "A Song with a Longer Title",
                "2002-02-03: There",
                "B",
            ],
            "/music/get_song_release_date": "2000",
        }
        program = 'get_person("zoe vox")["music"]\nsort(None,release_date)["name"][:9]'
        results = run_against(server.url, "music", program, calls=4).results
    assert results[1].values == ("A Song with a Longer Title", "B", "2001-02-03: Here", "2002-02-03: There")
    assert any("2 of 4 records could not be read" in remark for remark in results[1].explanation)
