import pytest

from tests.mock_api.client import Client


def test_searches_give_the_exact_names_that_the_other_endpoints_want(small: Client) -> None:
    assert small.ask("/music/search_artist_entity_by_name", query="the BEÉS") == ["The Beés", "THE beés!"]
    assert small.ask("/music/search_song_entity_by_name", query="song") == ["Bee Song"]


def test_a_rank_has_songs_and_artists_without_dates(small: Client) -> None:
    path = "/music/get_billboard_rank_date"
    assert small.ask(path, rank=1, date="2024-02-28") == [["Bee Song"], ["Ann Bee"]]
    assert small.ask(path, rank="1", date=None) == [["Bee Song", "Old Song"], ["Ann Bee", "Cee"]]
    assert small.ask(path, rank=100) == [[], []]


@pytest.mark.parametrize(
    ("date", "attribute", "answer"),
    [
        ("2024-02-28", "rank", "1"),
        ("2024-02-28", "rank_last_week", "3"),
        ("2024-02-28", "top_position", "1"),
        ("2024-02-28", "weeks_in_chart", "20"),
        ("2024-02-28", "unheard of", "1"),
        ("2024-02-29", "rank", "40"),  # new in the chart: the last three columns are in another order
        ("2024-02-29", "rank_last_week", "-"),
        ("2024-02-29", "top_position", "40"),
        ("2024-02-29", "weeks_in_chart", "1"),
    ],
)
def test_chart_attributes_are_texts(small: Client, date: str, attribute: str, answer: str) -> None:
    body = {"date": date, "attribute": attribute, "song_name": "Bee Song"}
    assert small.ask("/music/get_billboard_attributes", **body) == answer


def test_award_counts_go_by_parts_of_names_in_three_cells(small: Client) -> None:
    count = "/music/grammy_get_award_count_by_artist"
    assert small.ask(count, query="Ann Bee") == 4
    assert small.ask(count, query="Bee") == 5
    assert small.ask(count, query="bee") == 0
    assert small.ask(count, query="nan") == 8  # the official server reads a missing cell as the text nan
    assert sorted(small.ask("/music/grammy_get_award_date_by_artist", query="Bee")) == [2010, 2019]
    assert small.ask("/music/grammy_get_award_count_by_song", query="Bee Song") == 1


def test_awarded_artists_come_once_and_missing_ones_not_at_all(small: Client) -> None:
    assert small.ask("/music/grammy_get_all_awarded_artists") == ["Ann Bee"]
    response = small.session.post(f"{small.url}/music/grammy_get_all_awarded_artists", timeout=10)
    assert response.json() == {"result": ["Ann Bee"]}, "the endpoint takes no body"


def test_facts_about_artists_and_songs(small: Client) -> None:
    assert small.ask("/music/get_lifespan", query="Ann Bee") == ["1987", None]
    assert small.ask("/music/get_lifespan", query="The Beés") == [None, None]
    assert small.ask("/music/get_artist_birth_date", query="Ann Bee") == "1987"
    assert small.ask("/music/get_artist_birth_place", query="Ann Bee") == "NO"
    assert small.ask("/music/get_artist_birth_place", query="THE beés!") is None
    assert sorted(small.ask("/music/get_members", query="The Beés")) == ["Ann Bee", "Cee"]
    assert small.ask("/music/get_song_author", query="Bee Song") == "Ann Bee"
    assert small.ask("/music/get_song_release_date", query="Bee Song") == "2019-01-01"
    assert small.ask("/music/get_song_release_country", query="Bee Song") == "XW"
    assert small.ask("/music/get_artist_all_works", query="Ann Bee") == ["Bee Song", "Bee Song (live)"]
