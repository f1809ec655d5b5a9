"""What each table gives for the small graph. The plain cases stand in calls.txt."""

import ast
from datetime import datetime
from pathlib import Path

import pytest

from crag.graph.results import Status
from crag.graph.schema import Domain
from crag.graph.wiki_markup import plain
from tests.graph.conftest import WEDNESDAY, Run
from tests.graph.faulty_server import FaultyServer
from tests.graph.language.cases import lines
from tests.graph.test_executor import run_against

FOLDER = Path(__file__).parent
MARCH = datetime(2024, 3, 5, 12, 0)


@pytest.mark.parametrize(("domain", "line"), list(lines(FOLDER / "calls.txt")))
def test_a_program_gives_the_values_of_its_line(run: Run, domain: Domain, line: str) -> None:
    program, _, values = line.replace("⏎", "\n").rpartition(" ==> ")
    result = run(domain, program, MARCH if domain is Domain.SPORTS else WEDNESDAY).results[-1]
    assert result.values == ast.literal_eval(values)
    # A statement without a key gives whole records: rows, and no values
    is_found = bool(result.values or result.rows)
    assert result.status is (Status.OK if is_found else Status.NOT_FOUND)


EXPLAINED = """
movie | get_movie_person_crew(None,"dan only",eq(job,"Director"))["len"] | not_found | does not list the films
movie | get_movie_person_crew(None,"ann lee",eq(job,"Director"))["len"] | not_found | does not list the films
movie | get_movie("blue door")["revenue"] | ok | 2 films are called "Blue Door" (2010, 1950)
movie | get_movie_person_oscar(None,None,eq(year,"2030"))["film"] | not_found | 1990 to 2021 only
finance | get_stock_price("abc","2024-02-25")["open"] | ok | those of 2024-02-23 are the nearest
finance | get_stock_price("abc","2023-01-02")["open"] | not_found | it has those of 2024-02-22 to 2024-02-28
finance | get_stock_price(None,"2024-02-22")["open"] | invalid | needs a company
finance | get_stock_price("abc","blue")["open"] | invalid | "blue" is not a date
movie | get_movie("red kite",eq(release_date,"blue"))["year"] | invalid | "blue" is not a date
music | get_person("zoe vox")["music"]⏎sort(eq(release_date,"2012"),name) | not_found | 1 of 4 works is unknown
music | get_grammy_year("2018") | ok | 1 of 3 records could not be read
music | get_grammy_year("2018")["album_of_the_year"] | kg_down | status 500
sports | get_nba_on_date("bulls","2022-12-25")⏎sort(None,-GF)["GF"] | not_found | no game of Chicago Bulls on 2022-12-25
open | get_open("tall tower")["weight"] | not_found | does not know the weight
open | get_open("tall tower (novel)") | not_found | no article
open | get_open("long tower bridge") | not_found | nearest:
movie | get_movie("the red kite part two")["year"] | ok | read as the film "The Red Kite 2"
movie | get_movie("the red kite three")["year"] | not_found | no film "the red kite three"
"""


@pytest.mark.parametrize("case", EXPLAINED.strip().splitlines())
def test_what_is_odd_or_missing_is_explained(run: Run, case: str) -> None:
    domain, program, status, explanation = case.split(" | ")
    result = run(domain, program.replace("⏎", "\n"), MARCH if domain == "sports" else WEDNESDAY).results[-1]
    assert result.status == status
    assert explanation in " ".join(result.explanation)
    assert result.empty_calendar is (domain == "sports")


@pytest.mark.parametrize(
    ("domain", "program", "requests"),
    [
        ("movie", 'get_movie_person_oscar(None,None,eq(year,"2030"))["film"]', 0),  # a year without awards
        ("movie", 'get_movie_person_cast(None,"ann lee")["len"]', 1),  # the number of roles needs no film
        ("music", 'get_song("hello moon")["author"]', 2),
        ("music", 'get_person("zoe vox")["music"]["len"]', 2),
        ("music", 'get_person("zoe vox")["music"]\nALL sort(None,name)', 2 + 4),  # search, works, and a date each
        ("sports", 'get_soccer_on_date("everton","2024-02")["GF"]', 1),
        ("sports", 'get_soccer_on_date("everton","last month")["GF"]', 1),
        ("sports", 'get_nba_on_date("bulls","2022")["GF"]', 1),
    ],
)
def test_only_what_is_needed_is_asked(run: Run, domain: str, program: str, requests: int) -> None:
    assert run(domain, program, MARCH).request_count == requests


def test_today_is_the_day_in_new_york_and_the_latest_price_never_lies_in_the_future(run: Run) -> None:
    late, early = datetime(2024, 2, 26, 22, 0), datetime(2024, 2, 27, 6, 0)
    assert run("finance", 'get_stock_price("abc","today")["open"]', late).results[0].values == (14,)
    assert run("finance", 'get_stock_price("abc","latest")["close"]', early).results[0].values == (12,)


def test_concerts_are_asked_for_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their titles name the day. When the requests run out, the dates of other works are known."""
    monkeypatch.setattr("crag.graph.executor.MAX_REQUESTS", 4)
    with FaultyServer() as server:
        server.results |= {
            "/music/search_artist_entity_by_name": ["Zoe Vox"],
            "/music/get_artist_all_works": ["2001-02-03: Here", "A Song with a Longer Title", "2002-02-03: There", "B"],
            "/music/get_song_release_date": "2000",
        }
        program = 'get_person("zoe vox")["music"]\nsort(None,release_date)["name"][:9]'
        results = run_against(server.url, "music", program).results
    assert results[1].values == ("A Song with a Longer Title", "B", "2001-02-03: Here", "2002-02-03: There")
    assert any("2 of 4 records could not be read" in remark for remark in results[1].explanation)


def test_no_game_of_a_known_team_proves_something_and_no_game_of_an_unknown_one_does_not(run: Run) -> None:
    for team, date, empty in (
        ("everton", "2024-02-11", True),
        ("springfield", "2024-02-10", False),
        ("manchester", "2024-02-10", False),
    ):
        (result,) = run("sports", f'get_soccer_on_date("{team}","{date}")["GF"]', MARCH).results
        assert (result.status, result.empty_calendar) == (Status.NOT_FOUND, empty)


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("[[Foo (city)|Foo]]<ref name=a>b [[c]]</ref>, [[Bar]]", "Foo, Bar"),
        ("{{convert|828|m|abbr=on}}", "828 m"),
        ("{{cvt|1,234.5|ft|m|0}} high", "1,234.5 ft high"),
        ("''None''{{Efn|Under [[Ann Lee]], and", "None"),
        ("{{nowrap|{{val|3|u=km}} [http://x.y home page]}}<br/>'''b'''", "3 home page b"),
        ("a &amp; b<!-- hidden -->{{efn|note}}", "a & b"),
        ("", ""),
        ("{{" * 500 + "[[" * 500, "{{" * 500 + "[[" * 500),
    ],
)
def test_markup_gives_way_to_text(markup: str, text: str) -> None:
    assert plain(markup) == text


def test_the_whole_article_is_the_summary_as_the_server_has_it(run: Run) -> None:
    assert "{{convert" in str(run("open", 'get_open("tall tower")').results[0].values[0])
