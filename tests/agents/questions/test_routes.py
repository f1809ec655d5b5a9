"""What all routers share."""

import numpy as np
import pytest

from agents.contracts import Query
from agents.deadline import Deadline
from agents.questions import DOMAINS, Unrouted, label, probability
from agents.questions.routes import field_entry


def test_an_entry_names_the_most_probable_class_and_all_probabilities() -> None:
    route = {"domain": field_entry(DOMAINS, np.array([0.1, 0.2, 0.05, 0.6, 0.05]))}
    assert label(route, "domain") == DOMAINS[3]
    assert probability(route, "domain", DOMAINS[:2]) == pytest.approx(0.3)
    assert probability(route, "domain", DOMAINS) == pytest.approx(1.0)
    assert probability(route, "question_type", ["set"]) is None


def test_without_a_router_nothing_is_known() -> None:
    router = Unrouted()
    router.check_weights()
    router.warm_up()
    query = Query("1", "who sang?", "", None, ())
    assert router.route([query, query], Deadline(1)) == [{}, {}]
    router.close()
