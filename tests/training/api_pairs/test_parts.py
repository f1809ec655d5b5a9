"""Wording, groups, the style of calls and rephrasing, each by itself."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from random import Random

import pytest

from agents.deadline import Deadline
from agents.kg.trainable import Domain, parse, render
from agents.llm import Generation, GenerationRequest
from training.api_pairs.graph import OWN_GRAPH, Graph
from training.api_pairs.groups import company_names, groups_of
from training.api_pairs.house_style import house_style
from training.api_pairs.pairs import Pair
from training.api_pairs.rephrase import is_faithful, rephrased
from training.api_pairs.scenes import SCENES, Draw
from training.api_pairs.scenes.finance import spoken_name
from training.api_pairs.shape_files import ShapeError, _shape, load_shapes
from training.api_pairs.wording import Gap, Phraser, Wording, filled, slip

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


def test_a_slip_changes_a_word_by_one_stroke() -> None:
    rng = Random(0)
    slips = {slip("question", rng) for _ in range(60)}
    assert all(word[0] == "q" and 7 <= len(word) <= 9 for word in slips)
    assert "qeustion" in slips or "quesiton" in slips


def test_shapes_are_checked() -> None:
    assert sum(len(load_shapes(domain)) for domain in Domain) > 200
    with pytest.raises(ShapeError, match="no such kind"):
        _shape(Domain.MOVIE, 1, {"about": "film", "calls": 'get_movie("{film}")', "aks": ["{film}?"]})
    with pytest.raises(ShapeError, match="a gap of the calls"):
        _shape(Domain.MOVIE, 1, {"about": "film", "calls": 'get_movie("{film}","{person}")', "ask": ["{film}?"]})
    with pytest.raises(ShapeError, match="source"):
        _shape(Domain.MOVIE, 1, {"about": "film", "ask": ["{film}?"]})


@pytest.mark.parametrize("domain", list(Domain))
def test_every_shape_has_its_scene_and_every_gap_is_filled(domain: Domain) -> None:
    graph = Graph(OWN_GRAPH)
    for shape in load_shapes(domain):
        scene = next(
            (drawn for seed in range(20) if (drawn := SCENES[shape.about](Draw(graph, Random(seed), shape.has)))), None
        )
        if scene is None:
            continue  # the small graph lacks it
        parse(filled(shape.calls, scene.gaps), domain)
        for wording in shape.wordings:
            Phraser(Random(0)).question((wording,), scene.gaps)


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
    assert render(house_style(domain, parse(labelled, domain), question, WEDNESDAY, frame)) == wanted


@pytest.mark.parametrize(
    ("listed", "short", "name"),
    [
        ("Apple Inc. Common Stock", True, "Apple"),
        ("Apple Inc. Common Stock", False, "Apple Inc"),
        ("SPI Energy Co. Ltd. Ordinary Shares", True, "SPI Energy"),
        ("Alphabet Inc. Class A Common Stock", True, "Alphabet"),
    ],
)
def test_companies_are_called_as_people_call_them(listed: str, short: bool, name: str) -> None:
    assert spoken_name(listed, short=short) == name


@dataclass
class Parrot:
    """A model with answers by heart."""

    answers: dict[str, str]

    def generate(self, requests: Sequence[GenerationRequest], deadline: Deadline) -> list[Generation]:
        said = [self.answers.get(request.messages[-1].content, "") for request in requests]
        return [Generation(text, None, 0, 0, "stop") for text in said]


def test_rephrasing_keeps_names_or_the_old_wording() -> None:
    program = parse('get_movie("heat")["budget"]', Domain.MOVIE)
    pairs = [
        Pair(query, "", Domain.MOVIE, program, "synthetic")
        for query in ("what was the budget of heat?", "how much did heat cost?")
    ]
    answers = {
        pairs[0].query: '"Could you tell me how costly Heat was?"\nI hope this helps.',
        pairs[1].query: "how much did the film cost?",
    }
    new = list(rephrased(pairs, Parrot(answers)))  # type: ignore[arg-type]
    assert [pair.query for pair in new] == ["could you tell me how costly heat was?", "how much did heat cost?"]
    assert [pair.key for pair in new] == [pair.key for pair in pairs]  # what resuming goes by
    assert new[0].to_row()["rephrased_from"] == pairs[0].query


def test_a_wording_must_keep_numbers() -> None:
    program = parse('get_person("cher")["music"]\nsort(eq(release_date,"1998"),release_date)["len"]', Domain.MUSIC)
    pair = Pair("how many songs did cher release in 1998?", "", Domain.MUSIC, program, "synthetic")
    assert is_faithful(pair, "in 1998, cher put out how many songs?")
    assert not is_faithful(pair, "how many songs did cher release in 1999?")
    assert not is_faithful(pair, pair.query)
