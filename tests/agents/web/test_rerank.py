import math
from collections.abc import Sequence

import pytest

from agents.common.deadline import Deadline
from agents.settings import RerankSettings
from agents.web.rerank import probability, rerank
from tests.agents.web.fakes import SharedWords, passage


def test_the_batch_is_one_call_and_what_time_did_not_allow_follows_in_the_order_of_retrieval() -> None:
    encoder = SharedWords(at_most=3)
    candidates = [[passage(text) for text in "xabc"], [passage("a")], []]
    settings = RerankSettings(top_k=2, max_pairs=3)
    ranked = rerank(encoder, ["a", "a", "a"], candidates, settings, Deadline(9))
    assert encoder.calls == [[("a", "x"), ("a", "a"), ("a", "a"), ("a", "b")]]
    assert [[each.text for each in own.passages] for own in ranked] == [["a", "x"], ["a"], []]
    assert [(own.scored, own.pairs) for own in ranked] == [(2, 3), (1, 1), (0, 0)]


def test_a_logit_that_is_no_number_was_in_time_but_ranks_nothing() -> None:
    class Overflowing(SharedWords):
        def score(self, pairs: Sequence[tuple[str, str]], deadline: Deadline | None = None) -> list[float | None]:
            return [math.nan, 1.0]

    (ranked,) = rerank(Overflowing(), ["q"], [[passage("1"), passage("2")]], RerankSettings(top_k=9), Deadline(9))
    assert [each.text for each in ranked.passages] == ["2", "1"]
    assert (ranked.pairs, ranked.scored, ranked.without_number) == (2, 2, 1)


@pytest.mark.parametrize("logit", [-800.0, -2.0, 0.0, 3.0, 800.0])
def test_probability(logit: float) -> None:
    assert probability(logit) == pytest.approx(0.5 * (1 + math.tanh(logit / 2)))
