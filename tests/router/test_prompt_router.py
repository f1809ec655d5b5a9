"""Routing by the language model, with an engine that answers from a table."""

import pytest

from crag.core.contracts import Route
from crag.core.deadline import Deadline
from crag.engines.llm import load_language_model
from crag.router import open_router
from crag.router.prompt_router import read_domain_with_certainty, read_domain_word
from crag.settings import PromptRouter, ScriptedEngine
from tests.router.tiny_bert import queries


def test_one_word_is_read_wherever_it_stands() -> None:
    replies = ["Movies.", "The field is: SPORTS", "other", "finance, not music", "cinema", "removie", ""]
    domains = ["movie", "sports", "open", "finance", None, None, None]
    assert [read_domain_word(reply).label("domain") for reply in replies] == domains


@pytest.mark.parametrize(
    ("reply", "domain", "certainty", "dynamism"),
    [
        ("movie, 95%, static", "movie", 0.95, "static"),
        ("Music | 80 percent | slow-changing", "music", 0.8, "slow-changing"),
        ("other, 99%", "open", 0.99, None),
        ("movie, very sure, stable", "movie", 0.0, "static"),
        ("movie (1), 95, static for 10 years", "movie", 0.95, "static"),
        ("movie of 2004, .95, static", "movie", 0.95, "static"),
        ("movie, 100 percent, not static, fast-changing", "movie", 1.0, "fast-changing"),
        ("movie, 95%, not static", "movie", 0.95, None),
    ],
)
def test_certainty_and_dynamism_are_read(reply: str, domain: str, certainty: float, dynamism: str | None) -> None:
    route = read_domain_with_certainty(reply)
    assert route.label("domain") == domain
    assert route.domain is not None
    assert route.domain.certainty == pytest.approx(certainty)
    assert route.label("static_or_dynamic") == dynamism
    assert route.probability("domain", ["movie"]) is None, "what a model says of itself is not a probability"


def test_a_batch_is_routed_and_uncertain_domains_are_open() -> None:
    replies = {"goalie": "sports, 91%, static", "acme": "finance, 90%, real-time", "riddle": "I would rather not say"}
    model = load_language_model(ScriptedEngine(engine="scripted", replies=replies))
    settings = PromptRouter(engine="prompt", prompt="domain_with_certainty", minimum_certainty=0.9)
    router = open_router(settings, model)
    asked = queries("who was the goalie?", "what does acme cost?", "is this a riddle?")
    routes = router.route(asked, Deadline(10))
    assert [route.label("domain") for route in routes] == ["sports", "open", None]
    assert [route.label("static_or_dynamic") for route in routes] == ["static", "real-time", None]
    assert router.route([], Deadline(10)) == []
    unasked = open_router(PromptRouter(engine="prompt", prompt="domain_with_certainty"), model)
    assert unasked.route(asked[1:2], Deadline(10))[0].label("domain") == "finance", "no minimum, no doubt"


@pytest.mark.parametrize("fault", ["garbage", "empty", "error"])
def test_a_failing_model_gives_routes_without_classes(fault: str) -> None:
    model = load_language_model(ScriptedEngine.model_validate({"engine": "scripted", "fault": fault}))
    router = open_router(PromptRouter(engine="prompt"), model)
    assert router.route(queries(*["who?"] * 8), Deadline(10)) == [Route()] * 8
