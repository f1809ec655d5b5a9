from agents.common.deadline import Deadline
from agents.settings import RerankSettings
from agents.web.rerank import distinct, rerank
from tests.agents.web.fakes import SharedWords, passage


def test_the_cross_encoder_decides_the_order_and_its_logit_is_the_last_score() -> None:
    candidates = [[passage("a b", bm25=3.0), passage("a b c", bm25=2.0), passage("x", bm25=1.0)]]
    (ranked,) = rerank(SharedWords(), ["a b c"], candidates, RerankSettings(top_k=2), Deadline(9))
    assert [(each.text, each.score) for each in ranked.passages] == [("a b c", 2.0), ("a b", 1.0)]
    assert ranked.passages[0].scores["bm25"] == 2.0


def test_the_batch_is_one_call_and_what_time_did_not_allow_follows_in_the_order_of_retrieval() -> None:
    encoder = SharedWords(at_most=3)
    candidates = [[passage(text) for text in "xabc"], [passage("a")], []]
    settings = RerankSettings(top_k=2, max_pairs=3)
    ranked = rerank(encoder, ["a", "a", "a"], candidates, settings, Deadline(9))
    assert encoder.calls == [[("a", "x"), ("a", "a"), ("a", "a"), ("a", "b")]]
    assert [[each.text for each in own.passages] for own in ranked] == [["a", "x"], ["a"], []]
    assert [(own.scored, own.pairs) for own in ranked] == [(2, 3), (1, 1), (0, 0)]


def test_passages_that_read_the_same_are_kept_once() -> None:
    found = distinct([passage("The Film, 1999."), passage("the film 1999"), passage(" - "), passage("other")])
    assert [each.text for each in found] == ["The Film, 1999.", "other"]
