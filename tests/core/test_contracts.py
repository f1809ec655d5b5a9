"""A route as a value, and as files hold it."""

from crag.core.contracts import Classification, Route, Trace

ROUTE = Route(
    domain=Classification("movie", certainty=0.95),
    static_or_dynamic=Classification("static", {"static": 0.75, "real-time": 0.250001}),
)


def test_files_hold_what_the_router_knows_and_nothing_else() -> None:
    assert ROUTE.to_dict() == {
        "domain": {"label": "movie", "certainty": 0.95},
        "static_or_dynamic": {"label": "static", "probabilities": {"static": 0.75, "real-time": 0.250001}},
    }
    assert Trace("1", "who?", "", route=ROUTE).to_dict()["route"] == ROUTE.to_dict()


def test_an_unrouted_question_has_an_empty_route_and_none_in_its_trace() -> None:
    assert Route().to_dict() == {}
    assert Trace("1", "who?", "").to_dict()["route"] is None


def test_what_is_not_predicted_is_none() -> None:
    assert (ROUTE.label("domain"), ROUTE.label("question_type")) == ("movie", None)
    assert ROUTE.probability("domain", ["movie"]) is None, "a certainty is not a probability"
    assert ROUTE.probability("question_type", ["simple"]) is None
    assert ROUTE.probability("static_or_dynamic", ["slow-changing"]) == 0.0


def test_the_probability_of_all_classes_is_not_more_than_1() -> None:
    assert ROUTE.probability("static_or_dynamic", ["static", "real-time"]) == 1.0
