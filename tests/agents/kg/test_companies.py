import pytest

from agents.deadline import Deadline
from agents.kg.client import KgClient
from agents.kg.companies import company_data, nicknames
from agents.kg.context import LookupContext, NotFoundError
from agents.settings import KgClientSettings
from tests.agents.kg.faulty_server import FaultyServer

LISTINGS = {
    "Abacus Inc. Common Stock": "ABC",
    "Abacus Inc. Warrant": "ABCW",
    "Thin Holdings Corporation Class A Common Stock": "THN",
    "Thick Holdings Corporation Class A Common Stock": "THK",
    "Berkshire Hathaway Inc. Class B": "BRK/B",
    "Gap Filler plc American Depositary Shares": "GAP",
}


def ticker_of(name: str) -> tuple[str, list[str], list[str]]:
    """The ticker, the remarks and the endpoints asked, against a server whose search gives all listings."""
    with FaultyServer() as server, KgClient(server.url, KgClientSettings()) as client:
        known = {*LISTINGS.values(), "BRK-B", "GOOGL"}
        server.results["/finance/get_eps"] = lambda payload: 1.5 if payload["query"] in known else None
        server.results["/finance/get_company_name"] = lambda payload: list(LISTINGS)
        server.results["/finance/get_ticker_by_name"] = lambda payload: LISTINGS.get(payload["query"])
        with client.batch(Deadline(20.0)) as batch:
            context = LookupContext(batch.question(20), None, 100)
            ticker, _ = company_data(context, "/finance/get_eps", name)
        return ticker, context.remarks, [path.rsplit("/")[-1] for path, _ in server.requests]


@pytest.mark.parametrize(
    ("name", "ticker"),
    [
        ("abc", "ABC"),
        ("$ABC", "ABC"),
        ("abc stock", "ABC"),
        ("NYSE: ABC", "ABC"),
        ("Abacus (ABC)", "ABC"),
        ("Abacus (NASDAQ: THN)", "THN"),
        ("abacus", "ABC"),  # the share, not the warrant
        ("Abacus Inc. Warrant", "ABCW"),
        ("thin holdings", "THN"),
        ("brk.b", "BRK-B"),
        ("brk/b", "BRK/B"),
        ("google", "GOOGL"),
        ("gap", "GAP"),  # a word that is a ticker
        ("gap filler", "GAP"),
    ],
)
def test_names_of_a_company(name: str, ticker: str) -> None:
    assert ticker_of(name)[0] == ticker


def test_a_ticker_costs_one_call() -> None:
    assert ticker_of("abc")[1:] == ([], ["get_eps"])


def test_how_a_name_was_read_is_told() -> None:
    assert ticker_of("thin holdings")[1] == [
        '"thin holdings" is read as Thin Holdings Corporation Class A Common Stock (THN)'
    ]
    assert ticker_of("google")[1] == ['"google" is read as the ticker GOOGL']


@pytest.mark.parametrize("name", ["zzz", "no such company", "holdings"])
def test_a_name_of_nobody_is_not_found(name: str) -> None:
    with pytest.raises(NotFoundError, match=name):
        ticker_of(name)


def test_every_nickname_has_the_form_of_a_ticker() -> None:
    assert all(ticker == ticker.upper() and len(ticker) <= 5 for ticker in nicknames().values())
