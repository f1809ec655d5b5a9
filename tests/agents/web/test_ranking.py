import numpy as np

from agents.web.ranking import best, in_turns, reciprocal_rank_fusion


def test_best_keeps_the_order_of_equal_scores() -> None:
    assert best(np.array([1.0, 3.0, 1.0, 3.0, 2.0])) == [1, 3, 4, 0, 2]
    assert best(np.array([1.0, 3.0]), 1) == [1]
    assert best(np.array([])) == []


def test_fusion_is_the_published_formula() -> None:
    fused = reciprocal_rank_fusion([[0, 1, 2], [1]], constant=60)
    assert fused == {0: 1 / 61, 1: 1 / 62 + 1 / 61, 2: 1 / 63}


def test_turns_are_fair() -> None:
    assert in_turns({0: "ab", 1: "c", 2: ""}) == [(0, "a"), (1, "c"), (0, "b")]
    assert in_turns({}) == []
