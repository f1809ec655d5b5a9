"""What the rules derive, and where words or values leave a doubt: one case a line."""

import ast
import datetime as dt
import re
from dataclasses import replace

import pytest

from crag.graph.derive import CallResults, Derived, derived_answer
from crag.graph.language import parse
from crag.graph.results import Result, Row, Status
from crag.graph.schema import Domain
from tests.graph.derive.cases import Found, derived, game

CALLS = {
    "CAP": 'get_stock_market_cap("abc")\nget_stock_market_cap("xyz")',
    "PE": 'get_stock_pe_ratio("abc")\nget_stock_pe_ratio("xyz")',
    "EPS": 'get_stock_eps("abc")\nget_stock_eps("xyz")',
    "PRICES": 'get_stock_price("abc","2024-01-02")["close"]\nget_stock_price("xyz","2024-01-02")["close"]',
    "WEEK": 'get_stock_price("abc","this week")\nsort(ge(close,open),time)["time"]',
    "VOLUME": 'get_stock_price("abc","this week")["volume"]',
    "BORN": 'get_person("ann lee")["birthday"]\nget_person("bob ray")["birthday"]',
    "AGE": 'get_person("ann lee")["birthday"]',
    "AGE AT FILM": 'get_person("ann lee")["birthday"]\nget_movie("heat")["release_date"]',
    "AGE AT AWARD": 'get_person("ann lee")["birthday"]\nget_movie_person_oscar(None,"ann lee")["year"]',
    **{
        key.upper(): f'get_movie("heat")["{key}"]\nget_movie("the most wanted")["{key}"]'
        for key in ("length", "release_date", "budget", "revenue")
    },
    "SONGS": 'get_song("heat")["release_date"]\nget_song("ice")["release_date"]',
    "TITLE": 'get_movie("red kite")["original_title"]',
    "LANGUAGE": 'get_movie("red kite")["original_language"]',
    "FILMS": 'get_movie_person_cast(None,"ann lee")["len"]',
    "FILMS OF YEARS": 'get_movie_person_cast(None,"ann lee",[ge(year,"2001"),le(year,"2003")])["len"]',
    "WON": 'get_movie_person_oscar(None,"ann lee",eq(winner,"true"))["len"]',
    "CHART": 'get_billboard("heat","2024-01-02")["rank"]\nget_billboard("ice","2024-01-02")["rank"]',
    "GRAMMYS": 'get_grammy_person("ann lee")["award_count"]\nget_grammy_person("bob ray")["award_count"]',
    "GRAMMY COUNT": 'get_grammy_person("ann lee")["award_count"]',
    "GRAMMY YEARS": 'get_grammy_person("ann lee")["award_date"]',
    "NEWCOMERS": 'get_grammy_year("2016")["best_new_artist"]\nget_grammy_year("2017")["best_new_artist"]',
    "LIFE": 'get_person("the owls")["lifespan"]',
    "VENUE": 'get_soccer_last_game("nice")["venue"]',
    "RESULT": 'get_soccer_last_game("nice")["result"]',
}
DOMAINS = {"finance": ("CAP", "PE", "EPS", "PRICES", "WEEK", "VOLUME"), "sports": ("VENUE", "RESULT")} | {
    "music": ("SONGS", "CHART", "GRAMMYS", "GRAMMY COUNT", "GRAMMY YEARS", "NEWCOMERS", "LIFE")
}

CASES = """
which company has a larger market cap, abc or xyz? | CAP | (2.0,) (1.0,) | abc
which has the larger market cap, abc or xyz? | CAP | (1.0,) (1.0,) | None
which has the larger market cap, abc or xyz? | CAP | (1.0,) () | None
which has the larger market cap, abc or xyz? | CAP | (1.0,) (1e300,) | None
which has not the larger market cap, abc or xyz? | CAP | (1.0,) (2.0,) | None
which market cap is nicer, that of abc or xyz? | CAP | (1.0,) (2.0,) | None
which of the two banks has the larger market cap? | CAP | (1.0,) (2.0,) | None
who is older, ann lee or bob ray? | BORN | ("1974-11-11",) ("1963-12-18",) | bob ray
who has the larger birthday, ann lee or bob ray? | BORN | ("1974",) ("1963",) | None
which film is shorter, heat or the most wanted? | LENGTH | (170,) (95,) | the most wanted
what is the combined market cap of abc and xyz? | CAP | (2e9,) (1e9,) | $3,000,000,000
what is the average market cap of abc and xyz? | CAP | (2e9,) (1e9,) | $1,500,000,000
what is the total running time of heat and the most wanted? | LENGTH | (170,) (95,) | 265 minutes
what is the average length of heat and the most wanted? | LENGTH | (170,) (95,) | 132.5 minutes
how many grammys do ann lee and bob ray have in total? | GRAMMYS | (5,) (13,) | 18
how many grammys do ann lee and bob ray each have in total? | GRAMMYS | (5,) (13,) | None
what is the total pe ratio of abc and xyz? | PE | (10.0,) (20.0,) | None
what is the average pe ratio of abc and xyz? | PE | (10.0,) (20.0,) | 15
how much larger is the market cap of xyz than that of abc? | CAP | (2e9,) (1.5e9,) | None
how much smaller is the market cap of xyz than that of abc? | CAP | (2e9,) (1.5e9,) | $500,000,000
how many minutes shorter is heat than the most wanted? | LENGTH | (170,) (95,) | None
how many more grammys does ann lee have than bob ray? | GRAMMYS | (5,) (13,) | None
how many more grammys does bob ray have than ann lee? | GRAMMYS | (5,) (13,) | 8
which has the better pe ratio, abc or xyz? | PE | (10.0,) (20.0,) | None
which is undervalued by its pe ratio, abc or xyz? | PE | (10.0,) (20.0,) | abc
which lost more per share, abc or xyz? | EPS | (-1.0,) (-2.0,) | None
which has the lower eps, abc or xyz? | EPS | (-1.0,) (-2.0,) | xyz
which film made more profit, heat or the most wanted? | REVENUE | (6e7,) (5e7,) | None
with $1000, of which can i buy more shares, abc or xyz? | PRICES | (10.0,) (20.0,) | abc
which share gained more on 2024-01-02, abc or xyz? | PRICES | (10.0,) (20.0,) | None
which share closed higher on 2024-01-02, abc or xyz? | PRICES | (10.0,) (20.0,) | xyz
who has won more grammy awards until 2019, ann lee or bob ray? | GRAMMYS | (5,) (13,) | bob ray
who has won more grammy awards until 2012, ann lee or bob ray? | GRAMMYS | (5,) (13,) | None
is ann lee older than bob ray? | BORN | ("1974-11-11",) ("1963-12-18",) | no
is bob ray older than ann lee? | BORN | ("1974-11-11",) ("1963-12-18",) | yes
is it true that ann lee and bob ray are older? | BORN | ("1974-11-11",) ("1963-12-18",) | None
isn't ann lee older than bob ray? | BORN | ("1974-11-11",) ("1963-12-18",) | None
can you tell me if heat is longer than the most wanted? | LENGTH | (170,) (95,) | yes
what is the total length of heat and the most wanted in 2022-12? | LENGTH | (170,) (95,) | None
was heat released before ice? | SONGS | ("1997",) ("1997-10-10",) | None
was heat released before ice? | SONGS | ("1997",) ("1997",) | None
was heat released before ice? | SONGS | ("1997-10-10",) ("1997-10-10",) | no
was heat released before ice? | SONGS | ("1996",) ("1997-10-10",) | yes
how much longer is heat than the most wanted? | LENGTH | (170,) (95,) | 75 minutes
how many times as much as heat did the most wanted make? | REVENUE | (2e6,) (5e6,) | 2.5 times
by what percentage is the budget of heat higher than that of the most wanted? | BUDGET | (6e7,) (5e7,) | 20%
how many days lie between heat and the most wanted? | RELEASE_DATE | ("1995-12-15",) ("1997-10-10",) | 665 days
how much older is bob ray than ann lee? | BORN | ("1974-12-20",) ("1963-12-18",) | 11 years
how much older is bob ray than ann lee? | BORN | ("1974-11-11",) ("1963-12-18",) | None
is red kite the original title of that movie? | TITLE | ("Red Kite",) | yes
was there an original title before red kite? | TITLE | ("Red Kite",) | no
was red kite original? | TITLE | ("Red Kite",) | None
do you know which title red kite had originally? | TITLE | ("Roter Drache",) | None
was there an original language red kite came in? | LANGUAGE | ("de",) | German (de)
was red kite shot in german? | LANGUAGE | ("de",) | None
how many times has ann lee acted? | FILMS | (3,) | 3
was ann lee in any movies between 2001 and 2003? | FILMS OF YEARS | [{"movie_name":"Red Kite"}] | yes
was ann lee in any movies between 2001 and 2003? | FILMS OF YEARS | () | None
was ann lee in any movies between 2001 and 2003? | FILMS | [{"movie_name":"Red Kite"}] | None
was ann lee in more films than any other? | FILMS | (3,) | None
how many films has ann lee directed? | FILMS | (3,) | None
has ann lee ever directed a film? | FILMS | (3,) | None
how many films has ann lee acted in since 2010? | FILMS | (3,) | None
has ann lee ever won a grammy? | WON | [{"winner": True}] | None
has ann lee ever won an oscar? | WON | [{"winner": True}] | yes
how many oscars did ann lee win before 2010? | WON | [{"winner": True}] | None
how many grammys did ann lee win until the 60th grammy (2017)? | GRAMMY YEARS | (2010,2017,2018) | 2
how many grammys did ann lee win until the 60th grammy (2017)? | GRAMMY COUNT | (5,) | None
how many grammys did ann lee win until the 62nd grammy (2019)? | GRAMMY COUNT | (5,) | 5
who is the singer who has won 11 grammy awards? | GRAMMY COUNT | [{"award_count":11}] | Ann Lee
who is the singer who has won 12 grammy awards? | GRAMMY COUNT | [{"award_count":11}] | None
who were the best new artists from 2016 to 2017? | NEWCOMERS | ("Ann Lee",) ("Bob Ray",) | Ann Lee, Bob Ray
who were the best new artists from 2016 to 2017? | NEWCOMERS | ("Ann Lee",) () | None
on which days did abc's stock close higher this week? | WEEK | () ("2024-01-02","2024-01-03") | 2024-01-02, 2024-01-03
what was abc's volume of trading this week? | VOLUME | (10_000,5) | 10,005 shares
what was abc's volume each day this week? | VOLUME | (10_000,5) | None
when did the owls start performing? | LIFE | ("1975","1999") | 1975
when did the owls disband? | LIFE | ("1975","unknown") | None
when did the owls disband? | LIFE | ("unknown","1999-02-03") | 1999-02-03
on what day did the owls break up? | LIFE | ("1975","1999-02-03") | 1999-02-03
in what year did the owls die? | LIFE | ("1975","1999-02-03") | 1999
when did the owls form? | LIFE | ("unknown","1999") | None
from when until when did the owls exist? | LIFE | ("1975","1999") | None
when was the owls born? | LIFE | ("1975","unknown") | 1975
how long did the owls exist? | LIFE | ("1975","1999") | None
how old is ann lee? | AGE | ("1974-03-06",) | 49 years
which had the larger market cap in 2010, abc or xyz? | CAP | (2.0,) (1.0,) | None
which company's market cap grew more, abc or xyz? | CAP | (2.0,) (1.0,) | None
how much larger was the market cap of abc than that of xyz in 2010? | CAP | (2e9,) (1e9,) | None
which had a higher eps last year, abc or xyz? | EPS | (2.0,) (1.0,) | None
which famous actor is older, ann lee or bob ray? | BORN | ("1974-11-11",) ("1963-12-18",) | bob ray
who became an actor first, ann lee or bob ray? | BORN | ("1974-11-11",) ("1963-12-18",) | None
which company of the energy sector has the larger market cap, abc or xyz? | CAP | (2.0,) (1.0,) | abc
is the market cap of abc or the industry average larger? | CAP | (2.0,) (1.0,) | None
whose wife is older, ann lee or bob ray? | BORN | ("1974-11-11",) ("1963-12-18",) | None
who started acting earlier, ann lee or bob ray? | BORN | ("1974-11-11",) ("1963-12-18",) | None
who died first, ann lee or bob ray? | BORN | ("1974-11-11",) ("1963-12-18",) | None
did ann lee die before bob ray? | BORN | ("1974-11-11",) ("1963-12-18",) | None
who was older when they won, ann lee or bob ray? | BORN | ("1974-11-11",) ("1963-12-18",) | None
which film's trailer came out first, heat or the most wanted? | RELEASE_DATE | ("1995",) ("1997",) | None
which film started filming first, heat or the most wanted? | RELEASE_DATE | ("1995",) ("1997",) | None
which film came out first, heat or the most wanted? | RELEASE_DATE | ("1995",) ("1997",) | heat
which film is better, heat or the most wanted? | REVENUE | (6e7,) (5e7,) | None
which film did better at the box office, heat or the most wanted? | REVENUE | (6e7,) (5e7,) | heat
which film made more in the us, heat or the most wanted? | REVENUE | (6e7,) (5e7,) | None
which film has more oscars, heat or the most wanted? | REVENUE | (6e7,) (5e7,) | None
who has more grammy nominations, ann lee or bob ray? | GRAMMYS | (5,) (13,) | None
who has more albums, ann lee or bob ray? | GRAMMYS | (5,) (13,) | None
which song stayed longer on the chart, heat or ice? | CHART | (3,) (10,) | None
how old is ann lee's daughter? | AGE | ("1974-03-06",) | None
how old was ann lee when she married? | AGE | ("1974-03-06",) | None
how old was ann lee when heat came out? | AGE AT FILM | ("1974-11-11",) ("1995-12-15",) | 21 years
how old was ann lee when she won? | AGE AT AWARD | ("1974-11-11",) (2016,) | 42 years
did nice play at home or on the road? | VENUE | ("Away",) | Away
how did nice fare in terms of wins and losses? | RESULT | ("D",) | D (draw)
did nice enjoy their last game? | RESULT | ("W",) | None
who won? | RESULT | ("W",) | None
"""


@pytest.mark.parametrize("case", CASES.strip().splitlines())
def test_what_follows_from_the_values(case: str) -> None:
    question, calls, values, expected = case.split(" | ")
    domain = next((name for name, known in DOMAINS.items() if calls in known), "movie")
    found = [ast.literal_eval(part) for part in re.split(r"(?<=[)\]]) (?=[(\[])", values)]
    assert str(derived(question, domain, CALLS[calls], *found, today=dt.date(2024, 3, 5))) == expected


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


def test_a_change_in_per_cent_goes_from_the_earlier_day_to_the_later() -> None:
    calls = 'get_stock_price("abc","2024-01-02")["close"]\nget_stock_price("abc","2023-01-02")["close"]'
    found: tuple[Found, ...] = ([{"time": "2024-01-02", "close": 15.0}], [{"time": "2023-01-02", "close": 10.0}])
    question = "by what percentage did abc's price rise from 2023-01-02 to 2024-01-02?"
    assert derived(question, "finance", calls, *found) == "50%"


def test_what_is_compared_to_something_is_told_with_both_numbers() -> None:
    answer = derived("what was the close of abc compared to xyz?", "finance", CALLS["PRICES"], (10.5,), (20.0,))
    assert answer == "xyz has the higher closing price: $20, against $10.50 of abc"


def test_nominations_are_no_wins() -> None:
    calls, rows = 'get_movie_person_oscar(None,"ann lee")["len"]', [{"winner": True}, {"winner": False}]
    assert derived("how many times did ann lee win an oscar?", "movie", calls, rows) == "1"
    assert derived("how many times was ann lee nominated for an oscar, won or not?", "movie", calls, rows) is None
    assert derived("how many times was ann lee nominated?", "movie", calls, rows) == "2"


def test_more_days_than_an_answer_holds_are_none() -> None:
    many = tuple(f"2024-01-{day:02}" for day in range(1, 20))
    question = "on which days did abc's stock close higher this week?"
    assert derived(question, "finance", CALLS["WEEK"], (), many) is None


@pytest.mark.parametrize(("year", "expected"), [('"2018"', "Red Kite"), ("*", "Red Kite"), ('"2017"', None)])
def test_only_what_uses_the_values_before_it_is_the_end_of_a_chain(year: str, expected: str | None) -> None:
    won = 'get_movie_person_oscar(None,"ann lee",[eq(category,"best actress"),eq(winner,"true")])["year"]\n'
    best = f'get_movie_person_oscar(None,None,[eq(year,{year}),eq(category,"best picture"),eq(winner,"true")])["film"]'
    question = "at the time ann lee won best actress, which movie won best picture?"
    assert derived(question, "movie", won + best, (2018,), ("Red Kite",)) == expected
    question = "how many people saw the movie that won best picture when ann lee won best actress?"
    assert derived(question, "movie", won + best, (2018,), ("Red Kite",)) is None


def test_nothing_is_derived_where_a_call_failed_or_may_have_missed_something() -> None:
    program = parse(CALLS["LENGTH"], Domain.MOVIE)
    good = Result("call", Status.OK, values=(90,))
    longer = replace(good, values=(120,))

    def said(*results: Result) -> Derived | None:
        question = "which is longer, heat or the most wanted?"
        return derived_answer(CallResults(question, Domain.MOVIE, program, results))

    assert said(good, longer)
    assert not said(good)
    assert not said(good, replace(longer, partial=True))
    assert not said(good, replace(longer, status=Status.NOT_FOUND))
    of_both = parse('get_movie(["heat","ice"])["length"]', Domain.MOVIE)
    rows = tuple(Row(name, {"length": length}) for name, length in (("Heat", 170), ("Ice", 95)))
    both = [Result("call", Status.OK, rows, (170, 95))]
    answer = derived_answer(CallResults("which is longer, heat or ice?", Domain.MOVIE, of_both, both))
    assert answer
    assert answer.text == "heat"  # a list of names is a reading for each
