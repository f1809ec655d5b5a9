"""What the client knows of the official server's 38 endpoints."""

from collections import Counter
from typing import Any

import pytest

from agents.kg.endpoints import ENDPOINTS, Shape, check_request, check_shape, is_miss, request
from agents.kg.errors import KgReplyError, KgRequestError

GOOD: dict[Shape, list[Any]] = {
    Shape.NAMES: [["Lady Gaga", "Ga-Ga"]],
    Shape.TEXT: ["AAPL", "-"],
    Shape.NUMBER: [22.95, 16],
    Shape.YEARS: [[2016, 2008]],
    Shape.RECORD: [{"name": "Jackson", "birthday": None}, {"a_key_of_tomorrow": []}],
    Shape.RECORDS: [[{"name": "Jackson"}, {}]],
    Shape.OBJECT_OF_RECORDS: [{"2023-02-28 00:00:00 EST": {"Open": 171.7}}, {"GF": {"('ENG', '2324')": "0"}}],
    Shape.OBJECT_OF_NUMBERS: [{"2024-02-21 00:00:00 EST": 0.5, "2024-02-22 00:00:00 EST": None}],
    Shape.SONGS_AND_ARTISTS: [[["Texas Hold 'Em"], ["Beyonce"]]],
    Shape.BIRTH_AND_DEATH: [["1987", None], ["1901-02-03", "1980"]],
}
BAD: dict[Shape, list[Any]] = {
    Shape.NAMES: ["Lady Gaga", [1], [None], {}],
    Shape.TEXT: [1, ["AAPL"], False],
    Shape.NUMBER: ["22.95", True, {}],
    Shape.YEARS: [["2016"], 2016, [True], {"2016": 1}],
    Shape.RECORD: ["Jackson", [{"name": "Jackson"}], 0],
    Shape.RECORDS: [{"name": "Jackson"}, ["Jackson"], "Jackson"],
    Shape.OBJECT_OF_RECORDS: [[{"Open": 1}], {"2023-02-28": 171.7}, "no data"],
    Shape.OBJECT_OF_NUMBERS: [{"2024-02-21": "0.5"}, [0.5], 0.5],
    Shape.SONGS_AND_ARTISTS: [["Texas Hold 'Em", "Beyonce"], [["a"]], {}],
    Shape.BIRTH_AND_DEATH: [["1987"], "1987", [1987, None]],
}


def test_the_38_endpoints_of_the_official_server() -> None:
    assert Counter(path.split("/")[1] for path in ENDPOINTS) == {
        "open": 2,
        "movie": 5,
        "finance": 9,
        "music": 19,
        "sports": 3,
    }


@pytest.mark.parametrize("path", ENDPOINTS)
def test_shapes(path: str) -> None:
    shape = ENDPOINTS[path].shape
    for result in GOOD[shape]:
        check_shape(path, result)
        assert not is_miss(path, result)
    for result in BAD[shape]:
        with pytest.raises(KgReplyError, match=path):
            check_shape(path, result)


MISSES: list[tuple[str, Any]] = [
    ("/open/search_entity_by_name", []),
    ("/open/get_entity", None),
    ("/movie/get_movie_info", []),
    ("/movie/get_year_info", None),
    ("/movie/get_person_info_by_id", None),
    ("/finance/get_ticker_by_name", None),
    ("/finance/get_dividends_history", None),
    ("/finance/get_dividends_history", {}),
    ("/music/get_billboard_rank_date", [[], []]),
    ("/music/get_billboard_rank_date", [None, None]),
    ("/music/get_billboard_attributes", None),
    ("/music/grammy_get_best_song_by_year", None),
    ("/music/grammy_get_best_song_by_year", []),
    ("/music/grammy_get_award_count_by_artist", 0),
    ("/music/grammy_get_award_date_by_artist", []),
    ("/music/get_lifespan", [None, None]),
    ("/music/get_members", None),
    ("/sports/soccer/get_games_on_date", None),
    ("/sports/nba/get_play_by_play_data_by_game_ids", None),
]


@pytest.mark.parametrize(("path", "result"), MISSES)
def test_a_miss_is_known_and_is_no_fault(path: str, result: Any) -> None:
    assert is_miss(path, result)
    check_shape(path, result)


@pytest.mark.parametrize(
    ("path", "result"),
    [
        ("/music/grammy_get_award_count_by_artist", False),
        ("/music/grammy_get_award_count_by_artist", None),
        ("/finance/get_market_capitalization", []),
        ("/open/search_entity_by_name", None),
        ("/music/get_lifespan", None),
    ],
)
def test_the_miss_of_another_endpoint_is_a_fault(path: str, result: Any) -> None:
    assert not is_miss(path, result)
    with pytest.raises(KgReplyError):
        check_shape(path, result)


def test_the_message_about_a_huge_result_is_short() -> None:
    with pytest.raises(KgReplyError) as caught:
        check_shape("/finance/get_eps", "x" * 1_000_000)
    assert len(str(caught.value)) < 200


def test_equal_calls_are_equal_requests() -> None:
    path = "/sports/nba/get_games_on_date"
    assert request(path, date="2024-03-09") == request(path, team_name=None, date="2024-03-09")
    assert request(path, date="2024-03-09") != request(path, date="2024-03-09", team_name="Chicago Bulls")
    by_ids = "/sports/nba/get_play_by_play_data_by_game_ids"
    assert len({request(by_ids, game_ids=["0012200049"]), request(by_ids, game_ids=("0012200049",))}) == 1


@pytest.mark.parametrize(
    ("path", "payload"),
    [
        ("/movie/get_year_info", {"query": "1992"}),
        ("/movie/get_movie_info_by_id", {"query": 100}),
        ("/movie/get_movie_info_by_id", {"query": "100"}),
        ("/music/grammy_get_all_awarded_artists", {}),
        ("/music/get_billboard_rank_date", {"rank": 1}),
        ("/music/get_billboard_attributes", {"date": "2024-02-28", "attribute": "rank", "song_name": "Flowers"}),
        ("/sports/soccer/get_games_on_date", {"date": "2024-03", "team_name": "Everton"}),
        ("/sports/nba/get_play_by_play_data_by_game_ids", {"game_ids": ["0012200049"]}),
    ],
)
def test_requests_that_the_server_takes(path: str, payload: dict[str, Any]) -> None:
    check_request(request(path, **payload))


@pytest.mark.parametrize(
    ("path", "payload", "named"),
    [
        ("/movie/get_film", {"query": "Rings"}, "no such endpoint"),
        ("/movie/get_year_info", {"query": 1992}, "'query' is 1992"),
        ("/movie/get_year_info", {"year": "1992"}, "fields year"),
        ("/movie/get_movie_info_by_id", {"query": "Rings"}, "whole number"),
        ("/movie/get_movie_info_by_id", {"query": True}, "whole number"),
        ("/music/get_billboard_attributes", {"date": "2024-02-28", "attribute": "rank"}, "song_name"),
        ("/music/grammy_get_all_awarded_artists", {"query": "x"}, "takes none"),
        ("/sports/nba/get_play_by_play_data_by_game_ids", {"game_ids": "0012200049"}, "tuple of texts"),
    ],
)
def test_requests_that_could_only_be_a_422_are_named(path: str, payload: dict[str, Any], named: str) -> None:
    with pytest.raises(KgRequestError, match=named):
        check_request(request(path, **payload))
