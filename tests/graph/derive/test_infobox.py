"""Entries of articles that answer or compare."""

import pytest

from crag.graph.derive import CallResults, derived_answer
from crag.graph.language import parse
from crag.graph.results import Result, Row, Status
from crag.graph.schema import Domain
from tests.graph.derive.cases import Found, derived

TWO = 'get_open("oak college")\nget_open("elm college")'


def article(**cells: str) -> Found:
    return [{"summary": "...", **cells}]


def test_articles_are_compared_by_an_entry_that_all_of_them_have() -> None:
    oak, elm = article(established="date and age 1887"), article(established="1858")
    assert derived("which has a longer history, oak college or elm college?", "open", TWO, oak, elm) == "elm college"
    assert derived("is oak college older than elm college?", "open", TWO, oak, elm) == "no"
    assert derived("which is older, oak college or elm college?", "open", TWO, oak, article(opened="1858")) is None
    assert derived("which is nicer, oak college or elm college?", "open", TWO, oak, elm) is None
    ancient = article(established="753 BC"), article(established="600 BC")
    assert derived("which is older, oak college or elm college?", "open", TWO, *ancient) is None
    bright = article(appmag_v="−1.46"), article(appmag_v="-0.74")
    assert derived("which is brighter, oak college or elm college?", "open", TWO, *bright) == "oak college"
    stars = article(appmag_v="5.57"), article(appmag_v="5.78 ± 0.01")
    assert derived("which is brighter, oak college or elm college?", "open", TWO, *stars) == "oak college"


def test_one_of_two_words_is_the_type() -> None:
    call, question = 'get_open("oak college")', "is oak college private or public?"
    assert derived(question, "open", call, article(type="Public university, law school")) == "public"
    assert derived(question, "open", call, article(type="Public and private partnership")) is None
    assert derived(question, "open", call, article(motto="public")) is None
    assert derived("was oak college private or public in 1900?", "open", call, article(type="Public")) is None
    non_profit = article(type="Non-profit organization")
    assert derived("is oak college profit or nonprofit?", "open", call, non_profit) == "nonprofit"


def test_another_article_that_the_search_found_answers_nothing() -> None:
    call = parse('get_open("oak college")', Domain.OPEN)
    row = Row("Elm School of Law", {"type": "Public"})
    found = [Result("call", Status.OK, (row,), ("...",))]
    assert derived_answer(CallResults("is oak college private or public?", Domain.OPEN, call, found)) is None


def test_an_entry_answers_if_the_question_names_it_and_it_is_plain() -> None:
    call = 'get_open("red kite")'
    box = article(
        publisher="Acme Games", developer="* Ann Lee | Bob Ray", minaret_quantity="4", released="date and age 2022 1 30"
    )
    assert derived("who is the publisher of red kite?", "open", call, box) == "Acme Games"
    assert derived("who is the developer of red kite?", "open", call, box) is None  # markup is left
    assert derived("who is the owner of red kite?", "open", call, box) is None
    assert derived("who is the publisher of the book about red kite's developer?", "open", call, box) is None
    assert derived("how many minarets does red kite have?", "open", call, box) == "4"
    assert derived("how many domes does red kite have?", "open", call, box) is None
    assert derived("when was red kite first released?", "open", call, box) == "2022-01-30"
    assert derived("when was the latest version of red kite released?", "open", call, box) is None


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("what is the official currency of red kite?", "Foo dollar"),
        ("can you tell me the name of the owner of the game red kite?", "Acme"),
        # another time
        ("who was the first owner of red kite?", None),
        ("who was the owner of red kite in 1990?", None),
        ("what was the currency of red kite before the euro?", None),
        ("how many floors did red kite have in 1990?", None),
        ("how many floors did red kite originally have?", None),
        ("how many floors will red kite have?", None),
        # another role, or something about its holder
        ("who is the art director of red kite?", None),
        ("how old is the director of red kite?", None),
        ("who is the wife of the director of red kite?", None),
        ("is acme the owner of red kite?", None),
        # another number
        ("how many floors does red kite have?", "20"),
        ("how many floors are there in red kite?", "20"),
        ("how many more floors does red kite have than the tower?", None),
        ("how many underground floors does red kite have?", None),
        # another release
        ("on what date did red kite launch?", "2022-01-30"),
        ("when was the first release of the video game red kite?", "2022-01-30"),
        ("when was red kite released in japan?", None),
        ("when was red kite re-released?", None),
        ("when was red kite 2 released?", None),
        ("when was the trailer of red kite released?", None),
        ("when will red kite be released?", None),
    ],
)
def test_an_entry_about_now_answers_nothing_about_another_time_or_thing(question: str, expected: str | None) -> None:
    box = article(
        owner="Acme", director="Ann Lee", currency="Foo dollar", floor_count="20", released="date and age 2022 1 30"
    )
    assert derived(question, "open", 'get_open("red kite")', box) == expected
