from tests.mock_api.client import Client


def test_titles_are_found_by_words_and_articles_by_the_exact_title(small: Client) -> None:
    assert small.ask("/open/search_entity_by_name", query="CAFÉ müller!") == ["Müller Café", "Café_Müller"]
    assert small.ask("/open/get_entity", query="Café_Müller") == {"summary_text": "A dance."}
    assert small.ask("/open/get_entity", query="Café Müller") is None


def test_a_title_may_have_no_article(small: Client) -> None:
    assert small.ask("/open/get_entity", query="Müller Café") is None
