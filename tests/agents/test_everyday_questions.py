"""Everyday questions are not called invalid because the graph lacks their article."""

import pytest

from agents.answering import ConfidenceModel
from agents.common.contracts import I_DONT_KNOW, Query, Trace, abstain
from agents.common.deadline import Deadline
from agents.pipeline.case import Case
from agents.pipeline.stages import find_false_premises
from agents.questions import open_router
from agents.settings import load_settings
from models.manifest import WeightsMissingError

EVERYDAY = """
when was barack obama born?
how old is tom hanks?
who is the wife of george clooney?
what is the capital of australia?
how many children does queen elizabeth ii have?
what is the population of canada?
who wrote pride and prejudice?
how tall is mount everest?
when did the titanic sink?
how many oscars did titanic win?
what is the currency of japan?
where was leonardo da vinci born?
when did albert einstein die?
who won the world cup in 2018?
what language do they speak in brazil?
who is married to david beckham?
how old was john lennon when he died?
when did the beatles break up?
who founded amazon?
what is the longest river in africa?
"""


@pytest.mark.models
def test_a_gap_of_the_graph_makes_no_everyday_question_invalid() -> None:
    """With the real router and the shipped P(false premise), in each state of a graph that contradicts nothing."""
    settings = load_settings("cpu")
    assert settings.answering.confidence is not None
    model = ConfidenceModel.load(settings.answering.confidence.model).invalid
    router = open_router(settings.router, None)
    assert model is not None
    try:
        router.warm_up()
    except WeightsMissingError as error:
        pytest.skip(str(error))
    step = find_false_premises(model, settings.answering.confidence)
    queries = [Query(str(place), text, "", None, ()) for place, text in enumerate(EVERYDAY.strip().splitlines())]
    routes = router.route(queries, Deadline(60))
    for state in ("not_found", "no_call", "found", None):
        for query, route in zip(queries, routes, strict=True):
            case = Case(query, Trace("1", query.text, "", route, graph_state=state), answer=abstain(I_DONT_KNOW))
            assert step.keep(case, step.work([case], Deadline(1))[0]) is None, (query.text, state)
