"""Which is more, whether it is, and by how much; nothing where the words or the values leave a doubt."""

import pytest

from tests.agents.kg.derive.cases import Found, derived, game

CAP = 'get_stock_market_cap("abc")\nget_stock_market_cap("xyz")'
BORN = 'get_person("ann lee")["birthday"]\nget_person("bob ray")["birthday"]'
FILM = 'get_movie("heat")["{key}"]\nget_movie("the most wanted")["{key}"]'
PRICE = 'get_stock_price("abc","2024-01-02")["close"]\nget_stock_price("{name}","{day}")["close"]'
CHART = 'get_billboard("heat","2024-01-02")["rank"]\nget_billboard("ice","2024-01-02")["rank"]'


@pytest.mark.parametrize(
    ("question", "domain", "calls", "found", "expected"),
    [
        ("which company has a larger market cap, abc or xyz?", "finance", CAP, ((2.0,), (1.0,)), "abc"),
        ("does abc or xyz have the lower market cap?", "finance", CAP, ((2.0,), (1.0,)), "xyz"),
        ("which has the larger market cap, abc or xyz?", "finance", CAP, ((1.0,), (1.0,)), None),
        ("which has the larger market cap, abc or xyz?", "finance", CAP, ((1.0,), ()), None),
        ("which has the larger market cap, abc or xyz?", "finance", CAP, ((1.0,), (1e300,)), None),
        ("which has not the larger market cap, abc or xyz?", "finance", CAP, ((1.0,), (2.0,)), None),
        ("which market cap is nicer, that of abc or xyz?", "finance", CAP, ((1.0,), (2.0,)), None),
        ("which of the two banks has the larger market cap?", "finance", CAP, ((1.0,), (2.0,)), None),
        ("who is older, ann lee or bob ray?", "movie", BORN, (("1974-11-11",), ("1963-12-18",)), "bob ray"),
        ("who is younger, ann lee or bob ray?", "movie", BORN, (("1974-11-11",), ("1963-12-18",)), "ann lee"),
        ("who has the larger birthday, ann lee or bob ray?", "movie", BORN, (("1974",), ("1963",)), None),
        (
            "which film is shorter, heat or the most wanted?",
            "movie",
            FILM.format(key="length"),
            ((170,), (95,)),
            "the most wanted",
        ),
        (
            "which came out earlier, heat or the most wanted?",
            "movie",
            FILM.format(key="release_date"),
            (("1995-12-15",), ("1995",)),
            None,
        ),
        ("which song was higher in the chart, heat or ice?", "music", CHART, ((3,), (7,)), "heat"),
        (
            "with $1000, of which can i buy more shares, abc or xyz?",
            "finance",
            PRICE.format(name="xyz", day="2024-01-02"),
            ((10.0,), (20.0,)),
            "abc",
        ),
    ],
)
def test_which_is_more(question: str, domain: str, calls: str, found: tuple[Found, ...], expected: str | None) -> None:
    assert derived(question, domain, calls, *found) == expected


def test_a_rise_is_not_read_off_one_price() -> None:
    calls = PRICE.format(name="xyz", day="2024-01-02")
    question = "which share gained more on 2024-01-02, abc or xyz?"
    assert derived(question, "finance", calls, (10.0,), (20.0,)) is None
    assert derived(question.replace("gained more", "closed higher"), "finance", calls, (10.0,), (20.0,)) == "xyz"


def test_games_are_counted_before_they_are_compared() -> None:
    calls = 'get_nba_on_date("owls","2022")["{key}"]\nget_nba_on_date("bears","2022")["{key}"]'
    owls = [game("W", "Home", "Cats", 90), game("L", "Away", "Cats", 120), game("W", "Away", "Dogs", 90)]
    bears = [game("W", "Home", "Cats", 200), game("L", "Away", "Cats", 1)]
    question = "in 2022, which team had more wins, owls or bears?"
    assert derived(question, "sports", calls.format(key="result"), owls, bears) == "owls"
    points = "in 2022, did the owls score more points than the bears?"
    assert derived(points, "sports", calls.format(key="GF"), owls, bears) == "yes"
    at_home = "in 2022, did the owls score more points at home than the bears?"
    assert derived(at_home, "sports", calls.format(key="GF"), owls, bears) == "no"


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("is ann lee older than bob ray?", "no"),
        ("is bob ray older than ann lee?", "yes"),
        ("was ann lee born later than bob ray?", "yes"),
        ("is it true that ann lee and bob ray are older?", None),
        ("isn't ann lee older than bob ray?", None),
    ],
)
def test_whether_one_is_more_depends_on_who_stands_first(question: str, expected: str | None) -> None:
    assert derived(question, "movie", BORN, ("1974-11-11",), ("1963-12-18",)) == expected


@pytest.mark.parametrize(
    ("question", "calls", "found", "expected"),
    [
        ("how much longer is heat than the most wanted?", FILM.format(key="length"), ((170,), (95,)), "75 minutes"),
        (
            "what is the difference between the budgets of heat and the most wanted?",
            FILM.format(key="budget"),
            ((6e7,), (7e7,)),
            "$10,000,000",
        ),
        (
            "how many times as much as heat did the most wanted make?",
            FILM.format(key="revenue"),
            ((2e6,), (5e6,)),
            "2.5 times",
        ),
        (
            "by what percentage is the budget of heat higher than that of the most wanted?",
            FILM.format(key="budget"),
            ((6e7,), (5e7,)),
            "20%",
        ),
        (
            "how many days were between the releases of heat and the most wanted?",
            FILM.format(key="release_date"),
            (("1995-12-15",), ("1997-10-10",)),
            "665 days",
        ),
        ("how much older is bob ray than ann lee?", BORN, (("1974-12-20",), ("1963-12-18",)), "11 years"),
        ("how much older is bob ray than ann lee?", BORN, (("1974-11-11",), ("1963-12-18",)), None),
    ],
)
def test_by_how_much(question: str, calls: str, found: tuple[Found, ...], expected: str | None) -> None:
    assert derived(question, "movie", calls, *found) == expected


def test_a_change_in_per_cent_goes_from_the_earlier_day_to_the_later() -> None:
    calls = PRICE.format(name="abc", day="2023-01-02")
    found: tuple[Found, ...] = ([{"time": "2024-01-02", "close": 15.0}], [{"time": "2023-01-02", "close": 10.0}])
    question = "by what percentage did abc's price rise from 2023-01-02 to 2024-01-02?"
    assert derived(question, "finance", calls, *found) == "50%"


def test_what_is_compared_to_something_is_said_with_both_numbers() -> None:
    calls = PRICE.format(name="xyz", day="2024-01-02")
    question = "what was the closing price of abc compared to xyz on 2024-01-02?"
    said = derived(question, "finance", calls, (10.5,), (20.0,))
    assert said == "xyz has the higher closing price: $20, against $10.50 of abc"


def test_awards_up_to_a_year_are_not_all_awards() -> None:
    calls = 'get_grammy_person("ann lee")["award_count"]\nget_grammy_person("bob ray")["award_count"]'
    question = "who has won more grammy awards until {year}, ann lee or bob ray?"
    assert derived(question.format(year=2019), "music", calls, (5,), (13,)) == "bob ray"
    assert derived(question.format(year=2012), "music", calls, (5,), (13,)) is None
