"""When a value of the graph is the answer by itself. The real labels say how often that is right."""

import ast

import pytest

from crag.graph.derive import CallResults, direct_answer
from crag.graph.language import parse
from crag.graph.results import Result, Row, Status, Value
from crag.graph.schema import Domain


def answer(question: str, domain: Domain, calls: str, *values: tuple[Value, ...]) -> str | None:
    results = [Result(call, Status.OK, values=found) for call, found in zip(calls.split("\n"), values, strict=True)]
    return direct_answer(CallResults(question, domain, parse(calls, domain), results))


CASES = """
when was big fish released? | movie | get_movie("big fish")["release_date"] | ['2003-12-25'] | 2003-12-25
what year was big fish released? | movie | get_movie("big fish")["release_date"] | ['2003-12-25'] | 2003
can you tell me who made big fish? | movie | get_movie("big fish")["revenue"] | [1.0] | None
was big fish a hit? | movie | get_movie("big fish")["revenue"] | [122919055] | None
how much did big fish make? | movie | get_movie("big fish")["revenue"] | [122919055] | $122,919,055
how much did big fish make? | movie | get_movie("big fish")["title"] | ['Big Fish'] | None
how many members does tool have? | music | get_person("tool")["members"]["len"] | [4] | 4
who is in tool? | music | ALL get_person("tool")["members"] | ['Adam Jones', 'Danny Carey'] | Adam Jones, Danny Carey
what did kr close at yesterday? | finance | get_stock_price("kr","yesterday")["close"] | [49.345] | $49.35
kr volume this week, in total? | finance | get_stock_price("kr","this week")["volume"] | [10, 20] | 30 shares
what was kr's volume this week? | finance | get_stock_price("kr","this week")["volume"] | [10, 20] | None
how old was he when big fish came out? | movie | get_movie("big fish")["release_date"] | ['2003-12-25'] | None
did they play at home or away? | sports | get_soccer_last_game("Nice")["venue"] | ['Home'] | None
when did tool last release a song or album? | music | get_song("tool")["release_date"] | ['2019'] | 2019
do you know offhand who made heat or dust? | music | get_song("heat or dust")["author"] | ['Al'] | Al
what does kr pay in total? | finance | ALL get_stock_dividend("kr")["value"] | [0.5, 0.5] | $1
how many songs has tool? | music | get_person("tool")["music"]["len"] | [0] | None
how many goals on 2024-01-02? | sports | get_soccer_on_date("nice","2024-01")["GF"] | [2] | None
when was tool born? | music | get_person("tool")["birth_date"] | ['1990'] | 1990
what day did tool die? | music | get_person("tool")["birth_date"] | ['1990'] | None
when did ann lee pass away? | movie | get_person("ann lee")["birthday"] | ['1990-01-02'] | None
what day did tool die? | music | get_person("tool")["lifespan"] | ['1990', 'unknown'] | None
when was the trailer for big fish released? | movie | get_movie("big fish")["release_date"] | ['2003-12-25'] | None
when did big fish start filming? | movie | get_movie("big fish")["release_date"] | ['2003-12-25'] | None
when was big fish released in japan? | movie | get_movie("big fish")["release_date"] | ['2003-12-25'] | None
when did big fish premiere in theaters? | movie | get_movie("big fish")["release_date"] | ['2003-12-25'] | 2003-12-25
on what day of the week did big fish come out? | movie | get_movie("big fish")["release_date"] | ['2003-12-25'] | None
how much did big fish make in its opening weekend? | movie | get_movie("big fish")["revenue"] | [122919055] | None
what is the budget of big fish in euros? | movie | get_movie("big fish")["budget"] | [70000000] | None
how many shares of kr can i buy for $100? | finance | get_stock_price("kr","today")["close"] | [10.5] | None
what was kr's market cap in 2010? | finance | get_stock_market_cap("kr") | [2e9] | None
what is kr's market cap? | finance | get_stock_market_cap("kr") | [2e9] | $2,000,000,000
what was kr's eps last year? | finance | get_stock_eps("kr") | [1.5] | None
what is kr's forward pe ratio? | finance | get_stock_pe_ratio("kr") | [15.0] | None
when was tool's daughter born? | music | get_person("tool")["birth_date"] | ['1990'] | None
where does tool live? | music | get_person("tool")["birth_place"] | ['US'] | None
when was the famous actor ann lee born? | movie | get_person("ann lee")["birthday"] | ['1990-01-02'] | 1990-01-02
who covered heat? | music | get_song("heat")["author"] | ['Al'] | None
how many grammy nominations does tool have? | music | get_grammy_person("tool")["award_count"] | [4] | None
how many grammys does tool have? | music | get_grammy_person("tool")["award_count"] | [4] | 4
how many goals did nice concede? | sports | get_soccer_last_game("nice")["GF"] | [2] | None
who is the coach of nice? | sports | get_soccer_last_game("nice")["Captain"] | ['Al'] | None
who makes alan wake? | open | get_open("alan wake")["name"] | ['Alan Wake'] | None
"""
"""Question, domain, calls, values, answer."""


@pytest.mark.parametrize("case", CASES.strip().splitlines())
def test_only_a_value_of_the_kind_asked_for_is_an_answer(case: str) -> None:
    question, domain, calls, values, expected = case.split(" | ")
    said = answer(question, Domain(domain), calls, tuple(ast.literal_eval(values)))
    assert str(said) == expected


def test_two_entities_are_compared_by_the_model_and_a_statement_that_failed_is_no_answer() -> None:
    calls = 'get_movie("heat")["length"]\nget_movie("casino")["length"]'
    assert answer("what is the length of heat, and of casino?", Domain.MOVIE, calls, (170,), (178,)) is None
    call = 'get_movie("heat")["length"]'
    failed = [Result(call, Status.NOT_FOUND)]
    assert direct_answer(CallResults("how long is heat?", Domain.MOVIE, parse(call, Domain.MOVIE), failed)) is None


def test_a_number_too_large_to_be_rounded_is_still_an_answer() -> None:
    said = answer("what is the pe ratio of kr?", Domain.FINANCE, 'get_stock_pe_ratio("kr")', (1e300,))
    assert str(said).startswith("1")


def test_rows_that_the_question_does_not_mean_are_no_answer() -> None:
    calls = 'ALL get_nba_on_date("owls","2022",eq(result,"W"))["opponent"]'
    row = Row("Owls", {"team": "Owls", "opponent": "Cats", "result": "W", "venue": "Home"})
    found = [Result(calls, Status.OK, (row,), ("Cats",))]
    program = parse(calls, Domain.SPORTS)

    def said(question: str) -> str | None:
        return direct_answer(CallResults(question, Domain.SPORTS, program, found))

    assert said("which teams did the owls beat in 2022?") == "Cats"
    assert said("which teams beat the owls in 2022?") is None
    assert said("who did the owls play in 2022?") == "Cats"
    assert said("who did the owls play away in 2022?") is None
