"""BM25 over the chunks of one question. Only the question's own terms are counted: no index is worth building for one
query.
"""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]

K1 = 1.5
B = 0.75
"""The usual constants of Robertson's BM25, as in bm25s and rank-bm25."""

_TERM = re.compile(r"\w+")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
STOPWORDS = frozenset(
    [
        "a",
        "an",
        "and",
        "are",
        "as",
        "at",
        "be",
        "been",
        "but",
        "by",
        "can",
        "did",
        "do",
        "does",
        "for",
        "from",
        "had",
        "has",
        "have",
        "how",
        "in",
        "into",
        "is",
        "it",
        "its",
        "of",
        "on",
        "or",
        "s",
        "so",
        "than",
        "that",
        "the",
        "their",
        "there",
        "these",
        "this",
        "to",
        "was",
        "were",
        "what",
        "when",
        "where",
        "which",
        "who",
        "whom",
        "whose",
        "why",
        "will",
        "with",
        "would",
    ]
)
"""Words of questions that say nothing about the answer's place."""


def terms(text: str) -> list[str]:
    """Lower-case words and numbers. Thousands separators go, so that 1,000 and 1000 are the same term."""
    return _TERM.findall(_THOUSANDS.sub("", text.lower()))


def query_terms(query: str) -> list[str]:
    """The question's distinct terms that are worth searching; all of them where only stop words are there."""
    found = dict.fromkeys(terms(query))
    return [term for term in found if term not in STOPWORDS] or list(found)


def bm25(query: Sequence[str], documents: Sequence[Sequence[str]], k1: float = K1, b: float = B) -> Scores:
    """BM25 of each document with Lucene's idf, ``ln(1 + (N - df + 0.5) / (df + 0.5))``, which is never negative.

    Equal to bm25s with ``method="lucene"`` (Lù, 2024) for distinct query terms. No documents: an empty array.
    """
    places = {term: place for place, term in enumerate(dict.fromkeys(query))}
    counts = np.zeros((len(documents), len(places)))
    lengths = np.zeros(len(documents))
    for row, document in enumerate(documents):
        lengths[row] = len(document)
        for term in document:
            place = places.get(term)
            if place is not None:
                counts[row, place] += 1
    frequency = (counts > 0).sum(axis=0)
    idf = np.log1p((len(documents) - frequency + 0.5) / (frequency + 0.5))
    relative_length = lengths / max(lengths.mean() if len(documents) else 0.0, 1e-9)
    saturation = counts / (counts + k1 * (1 - b + b * relative_length)[:, None] + 1e-12)
    return np.asarray((saturation * idf).sum(axis=1))


def rank_bm25_plus(query: Sequence[str], documents: Sequence[Sequence[str]]) -> Scores:
    """BM25+ of the rank-bm25 package, the library that several CRAG systems used.

    Its plain variant gives a term that stands in half of the documents the weight zero (two chunks about two cities
    score 0 for both names) and divides by zero without documents; BM25+ (Lv and Zhai, CIKM 2011) has a positive idf.
    """
    if not any(documents):
        return np.zeros(len(documents))
    from rank_bm25 import BM25Plus

    index: Any = BM25Plus([list(document) for document in documents], k1=K1, b=B)
    return np.asarray(index.get_scores(list(query)), dtype=np.float64)


def score_texts(query: str, texts: Sequence[str], implementation: str = "query_terms") -> Scores:
    """BM25 of each text for the question; `implementation` as in `agents.settings.Bm25Stage`."""
    documents = [terms(text) for text in texts]
    wanted = query_terms(query)
    return rank_bm25_plus(wanted, documents) if implementation == "rank_bm25" else bm25(wanted, documents)
