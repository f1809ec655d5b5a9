"""What each table gives for the small graph. The plain cases stand in calls.txt."""

import ast
from datetime import datetime
from pathlib import Path

import pytest

from agents.kg.results import Status
from agents.kg.schema import Domain
from agents.kg.tables.encyclopedia import plain
from tests.agents.kg.conftest import WEDNESDAY, Run
from tests.agents.kg.faulty_server import FaultyServer
from tests.agents.kg.language.cases import lines
from tests.agents.kg.test_executor import run_against

FOLDER = Path(__file__).parent


@pytest.mark.parametrize(("domain", "line"), list(lines(FOLDER / "calls.txt")))
def test_values(run: Run, domain: Domain, line: str) -> None:
    program, _, values = line.replace("⏎", "\n").rpartition(" ==> ")
    result = run(domain, program, MARCH if domain is Domain.SPORTS else WEDNESDAY).results[-1]
    assert result.values == ast.literal_eval(values)
    shows_rows = program.endswith("sort(None,release_date)")
    assert result.status is (Status.OK if result.values or shows_rows else Status.NOT_FOUND)


def test_a_record_without_the_films_somebody_directed_does_not_say_that_there_are_none(run: Run) -> None:
    for person in ("dan only", "ann lee"):
        result = run("movie", f'get_movie_person_crew(None,"{person}",eq(job,"Director"))["len"]').results[0]
        assert result.status is Status.NOT_FOUND
        assert "does not list the films" in result.explanation[0]


def test_several_films_of_one_title_are_reported(run: Run) -> None:
    (result,) = run("movie", 'get_movie("blue door")["revenue"]').results
    assert '2 films are called "Blue Door" (2010, 1950)' in result.explanation[0]
    assert "(1 more films match.)" in result.text


def test_years_without_award_lists_are_not_asked_for(run: Run) -> None:
    outcome = run("movie", 'get_movie_person_oscar(None,None,eq(year,"2030"))["film"]')
    assert (outcome.results[0].status, outcome.calls) == (Status.NOT_FOUND, 0)
    assert "1990 to 2021 only" in outcome.results[0].explanation[0]


def test_the_number_of_roles_needs_no_film(run: Run) -> None:
    outcome = run("movie", 'get_movie_person_cast(None,"ann lee")["len"]')
    assert (outcome.results[0].values, outcome.calls) == ((3,), 1)


def test_today_is_the_day_in_new_york(run: Run) -> None:
    late = datetime(2024, 2, 26, 22, 0)
    assert run("finance", 'get_stock_price("abc","today")["open"]', late).results[0].values == (14,)


def test_the_latest_price_never_lies_in_the_future(run: Run) -> None:
    """Before the first minute that is known there is the last session."""
    early = datetime(2024, 2, 27, 6, 0)
    assert run("finance", 'get_stock_price("abc","latest")["close"]', early).results[0].values == (15,)


def test_another_day_than_the_one_asked_for_is_reported(run: Run) -> None:
    (result,) = run("finance", 'get_stock_price("abc","2024-02-25")["open"]').results
    assert "2024-02-23" in result.text
    assert result.explanation == ("there are no prices of 2024-02-25; those of 2024-02-23 are the nearest",)


def test_a_day_outside_the_data_says_what_there_is(run: Run) -> None:
    (result,) = run("finance", 'get_stock_price("abc","2023-01-02")["open"]').results
    assert "it has those of 2024-02-22 to 2024-02-28" in result.explanation[0]


def test_a_call_without_a_company_or_with_a_date_that_is_none_makes_no_sense(run: Run) -> None:
    for program in ('get_stock_price(None,"2024-02-22")["open"]', 'get_stock_price("abc","blue")["open"]'):
        assert run("finance", program).results[0].status is Status.INVALID


def test_works_of_which_the_day_is_unknown_are_reported(run: Run) -> None:
    result = run("music", 'get_person("zoe vox")["music"]\nsort(eq(release_date,"2012"),release_date)["name"]').results[
        1
    ]
    assert result.status is Status.NOT_FOUND
    assert "the release date of 1 of 4 works is unknown" in result.explanation


def test_whole_works_are_reported_with_their_dates_and_without_the_artist(run: Run) -> None:
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


MARCH = datetime(2024, 3, 5, 12, 0)


def test_no_game_of_a_known_team_is_evidence_and_no_game_of_an_unknown_one_is_not(run: Run) -> None:
    for team, date, empty in (
        ("everton", "2024-02-11", True),
        ("springfield", "2024-02-10", False),
        ("manchester", "2024-02-10", False),
    ):
        (result,) = run("sports", f'get_soccer_on_date("{team}","{date}")["GF"]', MARCH).results
        assert (result.status, result.empty_calendar) == (Status.NOT_FOUND, empty)


def test_the_evidence_outlives_a_sort(run: Run) -> None:
    results = run("sports", 'get_nba_on_date("bulls","2022-12-25")\nsort(None,-GF)["GF"]', MARCH).results
    assert [result.empty_calendar for result in results] == [True, True]
    assert results[1].explanation[0] == "the graph has no game of Chicago Bulls on 2022-12-25"


def test_a_span_costs_a_call_a_month_or_a_year(run: Run) -> None:
    assert run("sports", 'get_soccer_on_date("everton","2024-02")["GF"]', MARCH).calls == 1
    assert run("sports", 'get_soccer_on_date("everton","last month")["GF"]', MARCH).calls == 1
    assert run("sports", 'get_nba_on_date("bulls","2022")["GF"]', MARCH).calls == 1


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("[[Foo (city)|Foo]]<ref name=a>b [[c]]</ref>, [[Bar]]", "Foo, Bar"),
        ("{{convert|828|m|abbr=on}}", "828 m"),
        ("{{nowrap|{{val|3|u=km}} [http://x.y home page]}}<br/>'''b'''", "3 home page b"),
        ("a &amp; b<!-- hidden -->{{efn|note}}", "a & b"),
        ("", ""),
        ("{{" * 500 + "[[" * 500, "{{" * 500 + "[[" * 500),
    ],
)
def test_markup_gives_way_to_text(markup: str, text: str) -> None:
    assert plain(markup) == text


def test_an_article_and_its_entries(run: Run) -> None:
    (whole,) = run("open", 'get_open("tall tower")').results
    assert whole.text == "Tall Tower: The Tall Tower stands in Foo. Its facts: height 828 m; location Foo."
    assert "{{convert" in str(whole.values[0])  # as the server has it
    assert run("open", 'get_open("Tall Tower")["height"]').results[0].values == ("828 m",)
    assert run("open", 'get_open("tall tower")["weight"]').results[0].status is Status.NOT_FOUND


def test_a_title_without_an_article_and_an_unknown_one_are_not_found(run: Run) -> None:
    for title, reason in (("tall tower (novel)", "no article"), ("long tower bridge", "nearest:")):
        (result,) = run("open", f'get_open("{title}")').results
        assert result.status is Status.NOT_FOUND
        assert reason in result.explanation[0]
