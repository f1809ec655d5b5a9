"""Which results of the server can be used."""

from typing import Any

import pytest

from agents.kg.endpoints import KgReplyError, check_shape, request

GOOD: list[tuple[str, list[Any]]] = [
    ("/music/get_members", [["Lady Gaga", "Ga-Ga"], [], None]),
    ("/open/search_entity_by_name", [["Lady Gaga"], []]),
    ("/finance/get_ticker_by_name", ["AAPL", "-", None]),
    ("/finance/get_eps", [22.95, 16, None]),
    ("/music/grammy_get_award_count_by_artist", [3, 0]),
    ("/music/grammy_get_award_date_by_artist", [[2016, 2008], []]),
    ("/open/get_entity", [{"name": "Jackson", "birthday": None}, {"a_key_of_tomorrow": []}, None]),
    ("/movie/get_movie_info", [[{"name": "Jackson"}, {}], []]),
    ("/finance/get_price_history", [{"2023-02-28 00:00:00 EST": {"Open": 171.7}}, None]),
    ("/sports/soccer/get_games_on_date", [{"GF": {"('ENG', '2324')": "0"}}, None]),
    ("/finance/get_dividends_history", [{"2024-02-21": 0.5, "2024-02-22": None}, {}, None]),
    ("/music/get_billboard_rank_date", [[["Texas Hold 'Em"], ["Beyonce"]], [[], []], [None, None]]),
    ("/music/get_lifespan", [["1987", None], ["1901-02-03", "1980"], [None, None]]),
]
BAD: list[tuple[str, list[Any]]] = [
    ("/music/get_members", ["Lady Gaga", [1], [None], {}]),
    ("/open/search_entity_by_name", [None]),
    ("/finance/get_ticker_by_name", [1, ["AAPL"], False]),
    ("/finance/get_eps", ["22.95", True, {}]),
    ("/finance/get_market_capitalization", [[]]),
    ("/music/grammy_get_award_count_by_artist", [None, False]),
    ("/music/grammy_get_award_date_by_artist", [["2016"], 2016, [True], {"2016": 1}]),
    ("/open/get_entity", ["Jackson", [{"name": "Jackson"}], 0]),
    ("/movie/get_movie_info", [{"name": "Jackson"}, ["Jackson"], "Jackson"]),
    ("/finance/get_price_history", [[{"Open": 1}], {"2023-02-28": 171.7}, "no data"]),
    ("/finance/get_dividends_history", [{"2024-02-21": "0.5"}, [0.5], 0.5]),
    ("/music/get_billboard_rank_date", [["Texas Hold 'Em", "Beyonce"], [["a"]], {}]),
    ("/music/get_lifespan", [["1987"], "1987", [1987, None], None]),
]


@pytest.mark.parametrize(("path", "results"), GOOD)
def test_results_of_the_right_shape_and_misses_are_accepted(path: str, results: list[Any]) -> None:
    for result in results:
        check_shape(path, result)


@pytest.mark.parametrize(("path", "results"), BAD)
def test_a_result_of_another_shape_is_an_error(path: str, results: list[Any]) -> None:
    for result in results:
        with pytest.raises(KgReplyError, match=path):
            check_shape(path, result)


def test_the_message_about_a_huge_result_is_short() -> None:
    with pytest.raises(KgReplyError) as caught:
        check_shape("/finance/get_eps", "x" * 1_000_000)
    assert len(str(caught.value)) < 200


def test_equal_calls_are_equal_requests() -> None:
    path = "/sports/nba/get_games_on_date"
    assert request(path, date="2024-03-09", team_name=None) == request(path, team_name=None, date="2024-03-09")
    assert request(path, date="2024-03-09") != request(path, date="2024-03-09", team_name="Chicago Bulls")
