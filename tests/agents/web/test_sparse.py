import bm25s
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.web.sparse import K1, B, bm25, query_terms, rank_bm25_plus, score_texts, terms

WORDS = st.sampled_from(["london", "windy", "chicago", "rain", "in", "the", "of", "1999", "film"])
CORPORA = st.lists(st.lists(WORDS, min_size=1, max_size=12), min_size=1, max_size=12)


@given(CORPORA, st.lists(WORDS, min_size=1, max_size=4, unique=True))
def test_equals_bm25s_lucene(corpus: list[list[str]], query: list[str]) -> None:
    oracle = bm25s.BM25(method="lucene", k1=K1, b=B)
    oracle.index(corpus, show_progress=False)
    known = [term for term in query if any(term in document for document in corpus)]
    expected = oracle.get_scores(known) if known else np.zeros(len(corpus))
    np.testing.assert_allclose(bm25(query, corpus), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("implementation", ["query_terms", "rank_bm25"])
def test_two_chunks_about_two_cities_are_told_apart(implementation: str) -> None:
    """The plain variant of rank-bm25 scores both of these 0."""
    scores = score_texts("windy london", ["it is windy in london", "it rains in chicago"], implementation)
    assert scores[0] > scores[1]


@pytest.mark.parametrize("implementation", ["query_terms", "rank_bm25"])
@pytest.mark.parametrize("texts", [[], [""], ["", "..."], ["one word"]])
def test_small_and_empty_corpora_get_finite_scores(implementation: str, texts: list[str]) -> None:
    scores = score_texts("windy london", texts, implementation)
    assert scores.shape == (len(texts),)
    assert np.isfinite(scores).all()
    assert (scores >= 0).all()


def test_a_question_of_stop_words_only_is_still_searched() -> None:
    assert query_terms("who is it?") == ["who", "is", "it"]
    assert score_texts("who is it", ["it is me", "nothing"])[0] > 0


def test_stop_words_of_a_question_do_not_count() -> None:
    assert query_terms("Who was the director of The Matrix?") == ["director", "matrix"]


def test_numbers_with_and_without_separators_are_the_same_term() -> None:
    assert terms("1,234,567 people") == terms("1234567 people")
    assert terms("1, 2") == ["1", "2"]


def test_rank_bm25_prefers_the_document_with_the_term() -> None:
    scores = rank_bm25_plus(["rain"], [["rain"], ["sun"], ["rain", "sun", "fog", "wind"]])
    assert list(np.argsort(-scores)) == [0, 2, 1]
