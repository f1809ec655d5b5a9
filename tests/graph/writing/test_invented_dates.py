"""Dates of calls that the question gives no reason for."""

from datetime import datetime

import pytest

from crag.graph.language import parse
from crag.graph.schema import Domain
from crag.graph.writing import invented_dates

ASKED = datetime(2024, 3, 13, 10, 0)

CASES = """
sports | the lakers last night? | get_nba_on_date("lakers","2023-01-28")["GF"] | 2023-01-28
sports | did the lakers win yesterday? | get_nba_on_date("lakers","2024-03-12")["result"] | -
sports | lakers on january 5, 2023? | get_nba_on_date("lakers","2023-01-05")["result"] | -
sports | lakers wins in the 2023 season? | get_nba_on_date("lakers","2023")["result"] | -
finance | what does kr cost? | get_stock_price("kr","latest")["close"] | -
finance | what did kr close at last friday? | get_stock_price("kr","last friday")["close"] | -
music | songs by tool? | get_person("tool")["music"] ⏎ sort(eq(release_date,"2018"),release_date)["name"] | 2018
music | best new artist from 2016 to 2018? | get_grammy_year("2017")["best_new_artist"] | -
music | best new artist at the 56th grammys? | get_grammy_year("2013")["best_new_artist"] | -
movie | best picture of 2012? | get_movie_person_oscar(None,None,eq(year,"2013"))["film"] | -
movie | who directed heat? | get_movie_person_crew("heat",None,eq(job,"Director"))["name"] | -
"""
"""Domain, question, calls, the dates that are invented."""


@pytest.mark.parametrize("case", CASES.strip("\n").split("\n"))
def test_dates_need_a_reason_in_the_question(case: str) -> None:
    domain, question, calls, invented = (part.strip() for part in case.split("|"))
    program = parse(calls.replace(" ⏎ ", "\n"), Domain(domain))
    assert invented_dates(question, Domain(domain), program, ASKED) == [
        date for date in invented.split() if date != "-"
    ]
