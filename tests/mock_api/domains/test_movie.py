from tests.mock_api.client import Client


def test_searches_answer_whole_records(small: Client) -> None:
    assert small.ask("/movie/get_movie_info", query="cafe") == [{"id": 7, "title": "Café Story", "rating": 6.5}]
    assert small.ask("/movie/get_person_info", query="Poe") == [{"id": 9, "name": "Jo Poe", "acted_movies": [7]}]


def test_a_punctuated_key_cannot_be_found(small: Client) -> None:
    """Queries are normalised, the keys of the index are not."""
    assert small.ask("/movie/get_movie_info", query="Spider-Man") == []
    assert small.ask("/movie/get_movie_info_by_id", query=8) == {"id": 8, "title": "Spider-Man"}


def test_years_are_text(small: Client) -> None:
    assert small.ask("/movie/get_year_info", query="1992") == {"movie_list": [7], "oscar_awards": []}
    assert small.ask("/movie/get_year_info", query=" 1992") is None
    assert small.ask("/movie/get_person_info_by_id", query=9)["name"] == "Jo Poe"
