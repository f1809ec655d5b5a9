"""Wording, groups and the style of calls."""

from collections import Counter
from contextlib import suppress
from datetime import datetime
from random import Random

import pytest

from agents.kg.trainable import Domain, parse, render
from training.api_pairs.example_style import example_style
from training.api_pairs.fillers import FILLERS, Draw, Filling, NothingToDrawError
from training.api_pairs.graph import OWN_GRAPH, Graph
from training.api_pairs.groups import company_names, groups_of
from training.api_pairs.templates import Gap, Phraser, Template, Wording, filled, load_templates

WEDNESDAY = datetime(2024, 2, 28, 8, 0, 0)


def test_choices_gaps_and_articles() -> None:
    gaps = {"film": Gap("heat", "Heat"), "term": Gap("option", "option")}
    phraser = Phraser(Random(1))
    wordings = (Wording("ask", "[was|is] {film} [|really ]a(n) {term}?"),)
    said = {phraser.question(wordings, gaps).removesuffix("?") for _ in range(200)}
    assert {"was heat an option", "is heat really an option"} <= said
    assert len(said) > 4  # slips of the keyboard
    assert all("heat" in text for text in said)  # but never in a name
    assert filled('get_movie("{film}")', {"film": Gap("x", 'the "x"')}) == 'get_movie("the \\"x\\"")'


def test_wordings_are_used_in_turn() -> None:
    phraser = Phraser(Random(0))
    wordings = tuple(Wording("ask", f"{word} {{film}} {word}?") for word in ("aaa", "bbb", "ccc", "ddd"))
    said = Counter(phraser.question(wordings, {"film": Gap("heat", "heat")})[:3] for _ in range(40))
    assert min(said.values()) >= 8


@pytest.mark.parametrize("domain", list(Domain))
def test_every_template_has_its_filler_and_every_gap_is_filled(domain: Domain) -> None:
    graph = Graph(OWN_GRAPH)
    for template in load_templates(domain):
        filling = drawn(graph, template)
        if filling is None:
            continue  # the small graph lacks it
        parse(filled(template.calls, filling.gaps), domain)
        for wording in template.wordings:
            Phraser(Random(0)).question((wording,), filling.gaps)


def drawn(graph: Graph, template: Template) -> Filling | None:
    for seed in range(20):
        with suppress(NothingToDrawError):
            return FILLERS[template.about](Draw(graph, Random(seed), template.has))
    return None


def test_groups_are_spelled_alike() -> None:
    companies = company_names([Graph(OWN_GRAPH)])

    def groups(domain: Domain, calls: str) -> tuple[str, ...]:
        return groups_of(domain, parse(calls, domain), companies)

    for name in ("msft", "MSFT", "microsoft", "microsoft corporation"):
        assert groups(Domain.FINANCE, f'get_stock_eps("{name}")') == ("msft",)
    assert groups(Domain.SPORTS, 'get_nba_on_date("celtics","2022")["result"]') == ("boston celtics",)
    assert groups(Domain.SPORTS, 'get_soccer_last_game("man city")["date"]') == ("manchester city",)
    assert groups(Domain.MOVIE, 'get_movie_person_cast(None,["Brad Pitt","cher"])["len"]') == ("brad pitt", "cher")
    oscars = 'get_movie_person_oscar(None,None,[eq(year,"2012"),eq(category,"sound"),eq(winner,"true")])["film"]'
    assert groups(Domain.MOVIE, f'{oscars}\nget_movie(*)["year"]') == ("movie_person_oscar 2012 sound",)
    assert groups(Domain.MOVIE, "None") == ()


@pytest.mark.parametrize(
    ("domain", "question", "frame", "labelled", "wanted"),
    [
        (
            Domain.SPORTS,
            "how many home games did the heat lose in 2022-12?",
            {"filters": [["result", "eq", "L"], ["venue", "eq", "Home"]], "aggregate": "len"},
            'get_nba_on_date("Miami Heat","2022-12")["result"]',
            'get_nba_on_date("heat","2022-12",[eq(venue,"Home"),eq(result,"L")])["len"]',
        ),
        (
            Domain.SPORTS,
            "who beat the portland trail blazers in 2022-12?",
            {"filters": [["result", "eq", "L"]], "aggregate": None, "select": "opponent"},
            'get_nba_on_date("Portland Trail Blazers","2022-12")["result"]',
            'ALL get_nba_on_date("portland trail blazers","2022-12",eq(result,"L"))["opponent"]',
        ),
        (
            Domain.FINANCE,
            "what was the highest price of abc last week?",
            {},
            'get_stock_price("abc","2024-02-19","2024-02-23")["high"]\nsort(None,-high)["high"]',
            'get_stock_price("abc","last week")\nsort(None,-high)["high"]',
        ),
        (
            Domain.FINANCE,
            "total dividends of abc in 2023?",
            {},
            'get_stock_dividend("abc")\nsort([ge(date,"2023-01-01"),le(date,"2023-12-31")],date)["value"]',
            'get_stock_dividend("abc")\nALL sort(eq(date,"2023"),date)["value"]',
        ),
        (
            Domain.FINANCE,
            "what did abc close at on february 9, 2024?",
            {},
            'get_stock_price("abc","2024-02-09")["close"]',
            'get_stock_price("abc","2024-02-09")["close"]',
        ),
    ],
)
def test_the_style_of_the_examples(
    domain: Domain, question: str, frame: dict[str, object], labelled: str, wanted: str
) -> None:
    assert render(example_style(domain, parse(labelled, domain), question, WEDNESDAY, frame)) == wanted
