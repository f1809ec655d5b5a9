"""Listed companies. All but the two name look-ups take a case-sensitive ticker."""

from mock_api.search import NameSearch
from mock_api.tables import Record, Tables


class FinanceAnswers:
    """Answers of /finance."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._search = NameSearch(tables.tickers, merge_equal=False)

    def get_company_name(self, query: str) -> list[str]:
        """At most ten listing names that share words with the query, best first."""
        return self._search(query)

    def get_ticker_by_name(self, query: str) -> str | None:
        """The ticker of exactly this listing name."""
        return self._tables.tickers.get(query)

    def get_price_history(self, query: str) -> dict[str, Record] | None:
        """Open, High, Low, Close and Volume of each trading day of a year; keys `YYYY-MM-DD 00:00:00 EST`."""
        return self._tables.prices.get(query)

    def get_detailed_price_history(self, query: str) -> dict[str, Record] | None:
        """The same for each minute of five days."""
        return self._tables.minute_prices.get(query)

    def get_dividends_history(self, query: str) -> Record | None:
        """Dividend per share by day; empty for a known ticker that pays none."""
        return self._tables.dividends.get(query)

    def get_market_capitalization(self, query: str) -> float | None:
        """Market value of all shares."""
        return self._tables.market_values.get(query)

    def get_eps(self, query: str) -> object:
        """Earnings per share: the forward figure, as on the official server."""
        return self._tables.company_info.get(query, {}).get("forwardEps")

    def get_pe_ratio(self, query: str) -> object:
        """Price to earnings: the forward figure, as on the official server."""
        return self._tables.company_info.get(query, {}).get("forwardPE")

    def get_info(self, query: str) -> Record | None:
        """Everything known about a ticker."""
        return self._tables.company_info.get(query)
