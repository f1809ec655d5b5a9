"""A call may only name dates for which the question gives a reason."""

from datetime import datetime

import pytest

from agents.kg.language import parse
from agents.kg.schema import Domain
from agents.kg.writing.grounding import invented_dates

ASKED = datetime(2024, 3, 13, 10, 0)


@pytest.mark.parametrize(
    ("question", "domain", "calls", "invented"),
    [
        (
            "the lakers last night?",
            "sports",
            'get_nba_on_date("lakers","2023-01-28")["GF"]',
            ["2023-01-28"],
        ),
        ("did the lakers win yesterday?", "sports", 'get_nba_on_date("lakers","2024-03-12")["result"]', []),
        ("lakers on january 5, 2023?", "sports", 'get_nba_on_date("lakers","2023-01-05")["result"]', []),
        ("lakers wins in the 2023 season?", "sports", 'get_nba_on_date("lakers","2023")["result"]', []),
        ("what does kr cost?", "finance", 'get_stock_price("kr","latest")["close"]', []),
        ("what did kr close at last friday?", "finance", 'get_stock_price("kr","last friday")["close"]', []),
        (
            "songs by tool?",
            "music",
            'get_person("tool")["music"]\nsort(eq(release_date,"2018"),release_date)["name"]',
            ["2018"],
        ),
        ("best new artist from 2016 to 2018?", "music", 'get_grammy_year("2017")["best_new_artist"]', []),
        ("best new artist at the 56th grammys?", "music", 'get_grammy_year("2013")["best_new_artist"]', []),
        ("best picture of 2012?", "movie", 'get_movie_person_oscar(None,None,eq(year,"2013"))["film"]', []),
        ("who directed heat?", "movie", 'get_movie_person_crew("heat",None,eq(job,"Director"))["name"]', []),
    ],
)
def test_dates_need_a_reason_in_the_question(question: str, domain: str, calls: str, invented: list[str]) -> None:
    assert invented_dates(question, Domain(domain), parse(calls, Domain(domain)), ASKED) == invented
