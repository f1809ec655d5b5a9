"""Hashed n-grams against scikit-learn's vectoriser with an explicit vocabulary."""

import re
from collections import Counter
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crag.router.ngrams import bucket_counts, bucket_rarity, hashed_rows, letter_runs, word_ngrams

TEXTS = [
    "how many goals did the river plate striker score in 1986?",
    "which of the two is older, the eiffel tower or the tower bridge?",
    "what's the capital of peru's southern neighbour",
    "How many strings has a harp?",
]


def plain(text: str) -> str:
    return re.sub(r"\d", "0", text.lower())


def test_letter_runs_are_those_of_scikit_learn() -> None:
    analyse = pytest.importorskip("sklearn.feature_extraction.text").CountVectorizer(
        analyzer="char_wb", ngram_range=(2, 5)
    )
    for text in TEXTS:
        expected = Counter(f"\t{run}" for run in analyse.build_analyzer()(plain(text)))
        # Of a word shorter than a run scikit-learn gives the word once, we once for each length.
        assert set(letter_runs(plain(text))) == set(expected)


def test_rows_are_tf_idf_of_scikit_learn_folded_into_buckets() -> None:
    """With so many buckets that none is shared, hashing changes nothing but the order of the columns."""
    text_tools = pytest.importorskip("sklearn.feature_extraction.text")
    buckets = 1 << 20
    vectoriser = text_tools.TfidfVectorizer(
        ngram_range=(1, 2), token_pattern=r"\w+|\?|'s", sublinear_tf=True, preprocessor=plain
    )
    expected = vectoriser.fit_transform(TEXTS).toarray()
    rows = hashed_rows(TEXTS, bucket_rarity(TEXTS, buckets))
    dense = np.zeros(rows.shape, dtype=np.float32)
    dense[rows.rows, rows.columns] = rows.values
    columns = [crc32(gram.encode()) % buckets for gram in vectoriser.get_feature_names_out()]
    np.testing.assert_allclose(dense[:, columns], expected, atol=1e-6)
    weights = np.random.default_rng(0).normal(size=(buckets, 2)).astype(np.float32)
    np.testing.assert_allclose(rows.times(weights), dense @ weights, atol=1e-4)


def test_a_year_counts_as_a_year_whichever_it_is() -> None:
    assert bucket_counts("in 1986?", word_ngrams) == bucket_counts("IN 2024?", word_ngrams)
    assert bucket_counts("in 1986?", word_ngrams) != bucket_counts("in 86?", word_ngrams)


@given(st.lists(st.text(max_size=80), max_size=5))
def test_any_text_gives_a_row(texts: list[str]) -> None:
    rows = hashed_rows(texts, np.ones(64, dtype=np.float32))
    scores = rows.times(np.ones((64, 3), dtype=np.float32))
    assert scores.shape == (len(texts), 3)
    assert np.isfinite(scores).all()
