"""What the values of one entity come to."""

import datetime as dt

import pytest

from tests.agents.kg.derive.cases import Found, derived

AWARDS = 'get_movie_person_oscar(None,"ann lee"{winner})["len"]'


@pytest.mark.parametrize(
    ("question", "title", "expected"),
    [
        ("is red kite the original title of that movie?", "Red Kite", "yes"),
        ("is red kite how that movie was officially named at first?", "Roter Drache", "no"),
        ("was there an original title before red kite?", "Red Kite", "no"),
        ("was there another title before red kite originally?", "Roter Drache", "yes"),
        ("was red kite original?", "Red Kite", None),
        ("do you know which title red kite had originally?", "Roter Drache", None),
    ],
)
def test_original_titles(question: str, title: str, expected: str | None) -> None:
    assert derived(question, "movie", 'get_movie("red kite")["original_title"]', (title,)) == expected


def test_whether_there_is_a_language_asks_which() -> None:
    calls = 'get_movie("red kite")["original_language"]'
    assert derived("was there an original language red kite came in?", "movie", calls, ("de",)) == "German (de)"
    assert derived("was red kite shot in german?", "movie", calls, ("de",)) is None


def test_counts() -> None:
    films, won = 'get_movie_person_cast(None,"ann lee")["len"]', AWARDS.format(winner=',eq(winner,"true")')
    some: Found = [{"movie_name": "Red Kite"}]
    assert derived("how many times has ann lee acted?", "movie", films, (3,)) == "3"
    assert derived("was ann lee in any movies between 2001 and 2003?", "movie", films, some) == "yes"
    assert derived("was ann lee in any movies between 2001 and 2003?", "movie", films, ()) is None
    assert derived("was ann lee in any movies between 2001 and 2003?", "movie", films, (0,)) is None
    assert derived("has ann lee ever won an oscar?", "movie", won, (0,)) == "no"
    assert derived("was ann lee in more films than any other?", "movie", films, (3,)) is None


def test_nominations_are_no_wins() -> None:
    rows: Found = [{"winner": True}, {"winner": False}]
    assert derived("how many times did ann lee win an oscar?", "movie", AWARDS.format(winner=""), rows) == "1"
    question = "how many times was ann lee nominated for an oscar, won or not?"
    assert derived(question, "movie", AWARDS.format(winner=""), rows) is None
    assert derived("how many times was ann lee nominated?", "movie", AWARDS.format(winner=""), rows) == "2"


def test_awards_up_to_a_year() -> None:
    dates, count = 'get_grammy_person("ann lee")["award_date"]', 'get_grammy_person("ann lee")["award_count"]'
    question = "how many grammys did ann lee win until the {number}th grammy ({year})?"
    assert derived(question.format(number=60, year=2017), "music", dates, (2010, 2017, 2018)) == "2"
    assert derived(question.format(number=60, year=2017), "music", count, (5,)) is None
    assert derived(question.format(number=62, year=2019), "music", count, (5,)) == "5"


def test_days_that_meet_a_condition() -> None:
    calls = 'get_stock_price("abc","this week")\nsort(ge(close,open),time)["time"]'
    question = "on which days did abc's stock close higher this week?"
    assert derived(question, "finance", calls, (), ("2024-01-02", "2024-01-03")) == "2024-01-02, 2024-01-03"
    many = tuple(f"2024-01-{day:02}" for day in range(1, 20))
    assert derived(question, "finance", calls, (), many) is None  # more than an answer holds


def test_the_volume_of_a_week_is_that_of_its_days_together() -> None:
    calls = 'get_stock_price("abc","this week")["volume"]'
    assert derived("what was abc's volume of trading this week?", "finance", calls, (10_000, 5)) == "10,005 shares"
    assert derived("what was abc's volume each day this week?", "finance", calls, (10_000, 5)) is None


@pytest.mark.parametrize(
    ("question", "span", "expected"),
    [
        ("when did the owls start performing?", ("1975", "1999"), "1975"),
        ("when did the owls disband?", ("1975", "1999"), "1999"),
        ("when did the owls disband?", ("1975",), None),
        ("how long did the owls exist?", ("1975", "1999"), None),
    ],
)
def test_life_spans(question: str, span: tuple[str, ...], expected: str | None) -> None:
    assert derived(question, "music", 'get_person("the owls")["lifespan"]', span) == expected


def test_ages() -> None:
    born = 'get_person("ann lee")["birthday"]'
    film, award = 'get_movie("heat")["release_date"]', 'get_movie_person_oscar(None,"ann lee")["year"]'
    today = dt.date(2024, 3, 5)
    assert derived("how old is ann lee?", "movie", born, ("1974-03-06",), today=today) == "49 years"
    assert derived("how old is ann lee?", "movie", born, ("1974-03-06",)) is None
    assert derived("how old was ann lee when she married?", "movie", born, ("1974-03-06",), today=today) is None
    question = "how old was ann lee when {event}?"
    both = f"{born}\n{film}"
    assert (
        derived(question.format(event="heat came out"), "movie", both, ("1974-11-11",), ("1995-12-15",)) == "21 years"
    )
    both = f"{born}\n{award}"
    assert derived(question.format(event="she won"), "movie", both, ("1974-11-11",), (2016,)) == "42 years"


def test_the_winners_of_several_years() -> None:
    calls = 'get_grammy_year("2016")["best_new_artist"]\nget_grammy_year("2017")["best_new_artist"]'
    question = "who were the best new artists from 2016 to 2017?"
    assert derived(question, "music", calls, ("Ann Lee",), ("Bob Ray",)) == "Ann Lee, Bob Ray"
    assert derived(question, "music", calls, ("Ann Lee",), ()) is None


def test_a_guessed_name_needs_the_number_of_the_question() -> None:
    calls = 'get_grammy_person("ann lee")["award_count"]'
    rows: Found = [{"award_count": 11}]
    assert derived("who is the singer who has won 11 grammy awards?", "music", calls, rows) == "Ann Lee"
    assert derived("who is the singer who has won 12 grammy awards?", "music", calls, rows) is None
