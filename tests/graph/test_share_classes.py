"""Which class of a company's shares a name means: prices of two classes differ, so no other class will do."""

import re

import pytest

from crag.core.deadline import Deadline
from crag.graph.client import KgClient, KgSession
from crag.graph.context import LookupContext
from crag.graph.entities import company_data
from crag.graph.results import NotFoundError
from crag.graph.share_classes import parse_share_class
from tests.graph.conftest import WEDNESDAY
from tests.graph.faulty_server import FaultyServer

LISTINGS = {
    "Alphabet Inc. Class A Common Stock": "GOOGL",
    "Alphabet Inc. Class C Capital Stock": "GOOG",
    "Berkshire Hathaway Inc.": "BRK/B",  # one name for two classes: the server gives the ticker of the last one
    "Larkfield Media Corporation Series A Common Stock": "LRKA",
    "Larkfield Media Corporation Series B Common Stock": "LRKB",
    "Larkfield Media Corporation 5% Series C Preferred Stock": "LRKP",
    "Harbour Group Inc. Common Stock": "HRB",
    "Harbour Global Class B Common Stock": "HRGB",
    "Kestrel Corporation Common Stock": "KST",
    "Kestrel Corporation": "KST/A",
    "Visa Inc.": "V",
    "Vitamin C Holdings Inc. Common Stock": "VITC",
    "First Class Navigation Corp. Common Stock": "FCN",
    "United Parcels Inc. Class B Common Stock": "UPB",
}
INFO = {"GOOG": {"longName": "Alphabet Inc."}, "GOOGL": {"longName": "Alphabet Inc."}}
DATA = {*LISTINGS.values(), "BRK-A", "BRK-B", "KST-A"} - {"BRK/B", "KST/A"}

NAMES = """
alphabet class c == GOOG
Alphabet Inc. Class A == GOOGL
class c shares of alphabet == GOOG
alphabet's class c stock == GOOG
Alphabet (Class C) == GOOG
alphabet inc-cl c == GOOG
alphabet c shares == GOOG
google class c == GOOG
google == GOOGL
berkshire hathaway class a == BRK-A
berkshire hathaway class b shares == BRK-B
berkshire b == BRK-B
brk.a == BRK-A
BRK/B == BRK-B
brk-b == BRK-B
brk b == BRK-B
googl class c == GOOG
goog class a == GOOGL
larkfield media series b == LRKB
larkfield media class a == LRKA
harbour class b == HRGB
kestrel class a == KST-A
united parcels class b == UPB
visa class a == V
vitamin c == VITC
vitamin c holdings == VITC
first class navigation == FCN
alphabet class b == none
alphabet b == none
larkfield media class c == none
larkfield series c preferred == none
kestrel class c == none
"""


@pytest.mark.parametrize("case", NAMES.strip().splitlines())
def test_the_class_that_is_named_is_looked_up(case: str) -> None:
    name, ticker = case.split(" == ")
    with FaultyServer() as server, KgClient(server.url) as client:
        server.results["/finance/get_eps"] = lambda payload: 1.5 if payload["query"] in DATA else None
        server.results["/finance/get_info"] = lambda payload: INFO.get(payload["query"])
        server.results["/finance/get_company_name"] = lambda payload: search(payload["query"])
        server.results["/finance/get_ticker_by_name"] = lambda payload: LISTINGS.get(payload["query"])
        context = LookupContext(KgSession(client.batch(Deadline(600.0)), 20), WEDNESDAY)
        try:
            found, _ = company_data(context, "/finance/get_eps", name)
        except NotFoundError:
            found = "none"
    assert found == ticker


def search(query: str) -> list[str]:
    """The listings that share a word with the query, most of them first."""

    def common_words(listing: str) -> int:
        return len(set(re.findall(r"\w+", query.lower())) & set(re.findall(r"\w+", listing.lower())))

    found = [listing for listing in LISTINGS if common_words(listing)]
    return sorted(found, key=common_words, reverse=True)[:10]


@pytest.mark.parametrize(
    "name",
    [
        "apple",
        "C3.ai",
        "c.h. robinson",
        "a. o. smith",
        "b riley financial",
        "world class travel",
        "class action lawyers",
        "bank of aurora series b preferred stock",
        "class b",
        "c",
    ],
)
def test_letters_of_other_names_are_no_class(name: str) -> None:
    assert parse_share_class(name) is None
