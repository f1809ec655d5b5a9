import tracemalloc
from collections.abc import Sequence

import bm25s
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crag.core.deadline import Deadline
from crag.engines.encoders import Vectors
from crag.web.ranking import (
    K1,
    B,
    bm25,
    bm25_scores,
    cosines,
)
from crag.web.terms import extract_terms
from tests.web.fakes import HashedWords

WORDS = st.sampled_from(["london", "windy", "chicago", "rain", "in", "the", "of", "1999", "film"])
CORPORA = st.lists(st.lists(WORDS, min_size=1, max_size=12), min_size=1, max_size=12)


@given(CORPORA, st.lists(WORDS, min_size=1, max_size=4, unique=True))
def test_bm25_equals_bm25s_lucene(corpus: list[list[str]], query: list[str]) -> None:
    oracle = bm25s.BM25(method="lucene", k1=K1, b=B)
    oracle.index(corpus, show_progress=False)
    known = [term for term in query if any(term in document for document in corpus)]
    expected = oracle.get_scores(known) if known else np.zeros(len(corpus))
    np.testing.assert_allclose(bm25(query, corpus), expected, rtol=1e-5, atol=1e-6)


def test_the_memory_of_bm25_does_not_grow_with_the_question() -> None:
    words = [f"w{number}" for number in range(20_000)]
    corpus = [words[start : start + 30] for start in range(0, 19_970, 2)]
    tracemalloc.start()
    try:
        scores = bm25(words, corpus)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert scores.min() > 0
    assert peak < 100e6, "a table of terms by documents would take 1.6 GB"


@pytest.mark.parametrize("implementation", ["query_terms", "rank_bm25"])
def test_two_chunks_about_two_cities_are_kept_apart(implementation: str) -> None:
    """The plain variant of rank-bm25 scores both of these 0."""
    scores = bm25_scores("windy london", ["it is windy in london", "it rains in chicago"], implementation)
    assert scores[0] > scores[1]


@pytest.mark.parametrize("implementation", ["query_terms", "rank_bm25"])
@pytest.mark.parametrize("texts", [[], [""], ["", "..."], ["one word"]])
def test_small_and_empty_corpora_get_finite_scores(implementation: str, texts: list[str]) -> None:
    scores = bm25_scores("windy london", texts, implementation)
    assert scores.shape == (len(texts),)
    assert np.isfinite(scores).all()
    assert (scores >= 0).all()


def test_numbers_with_and_without_separators_are_the_same_term() -> None:
    assert extract_terms("1,234,567 people") == extract_terms("1234567 people")
    assert extract_terms("1, 2") == ["1", "2"]


def test_a_vector_that_is_no_number_is_unlike_everything_but_was_encoded() -> None:
    class Overflowing(HashedWords):
        def encode_passages(self, texts: Sequence[str], deadline: Deadline | None = None) -> tuple[Vectors, int]:
            vectors, encoded = super().encode_passages(texts, deadline)
            vectors[0] = np.nan
            return vectors, encoded

    assert list(cosines(Overflowing(), ["red"], [["blue", "green"]], Deadline(600))[0]) == [-1.0, 0.0]
