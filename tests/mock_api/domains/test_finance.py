from tests.mock_api.client import Client


def test_from_a_name_to_a_ticker_to_its_figures(small: Client) -> None:
    assert small.ask("/finance/get_company_name", query="new ltd") == ["New, Ltd"]
    assert small.ask("/finance/get_ticker_by_name", query="New, Ltd") == "NEW"
    assert small.ask("/finance/get_price_history", query="ACM") == {
        "2024-02-28 00:00:00 EST": {"Open": 1.5, "Volume": 10}
    }
    assert small.ask("/finance/get_market_capitalization", query="ACM") == 12.5


def test_earnings_and_price_ratio_are_the_forward_figures(small: Client) -> None:
    assert small.ask("/finance/get_eps", query="ACM") == 2.0
    assert small.ask("/finance/get_pe_ratio", query="ACM") == 8
    assert small.ask("/finance/get_eps", query="NEW") is None
    assert small.ask("/finance/get_info", query="NEW") == {"city": "Rome"}


def test_a_known_ticker_without_dividends_has_an_empty_history(small: Client) -> None:
    assert small.ask("/finance/get_dividends_history", query="ACM") == {}
    assert small.ask("/finance/get_dividends_history", query="NEW") is None
