"""What ranking stages share: BM25 of the question's terms, cosines, cross-encoder logits, fair turns."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from crag.core.deadline import Deadline
from crag.engines.encoders import CrossEncoder, DenseEncoder

T = TypeVar("T")
Scores = NDArray[np.float64]

K1 = 1.5
B = 0.75
"""The usual BM25 constants, as in bm25s and rank-bm25."""

FEWEST_TERMS = 4
"""Distinct terms of a question that a text can be said to repeat."""
_ASKING = frozenset(["what", "which", "who", "whom", "whose", "when", "where", "why", "how"])
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")


def distinct(items: Iterable[T], key: Callable[[T], str]) -> list[T]:
    """The first item of each key, without those whose key is blank: pages repeat themselves and each other."""
    found: dict[str, T] = {}
    for item in items:
        if (of_item := key(item)).strip():
            found.setdefault(of_item, item)
    return list(found.values())


# --- BM25 -----------------------------------------------------------------------------------------------------------


def extract_terms(text: str) -> list[str]:
    """Lower-case words and numbers. Thousands separators are removed, so 1,000 and 1000 are the same term."""
    return re.findall(r"\w+", _THOUSANDS.sub("", text.lower()))


STOPWORDS = frozenset(
    extract_terms(
        "a an and are as at be been but by can did do does for from had has have how in into is it its of on or s so "
        "than that the their there these this to was were what when where which who whom whose why will with would"
    )
)
"""Stop words of questions."""


def query_terms(query: str) -> list[str]:
    """The question's distinct terms without stop words, or all if it has only stop words."""
    found = dict.fromkeys(extract_terms(query))
    return [term for term in found if term not in STOPWORDS] or list(found)


def question_share(query: str, text: str) -> float:
    """The share of a question's terms that a text holds, in any order.

    A statement that answers it holds most of them too: only with the word that asks, such as "who", does it repeat it.
    """
    asked = set(extract_terms(query))
    found = asked.intersection(extract_terms(text))
    return len(found) / len(asked) if len(asked) >= FEWEST_TERMS and asked & _ASKING <= found else 0.0


def bm25(query: Sequence[str], documents: Sequence[Sequence[str]]) -> Scores:
    """BM25 of each document with Lucene's idf, ``ln(1 + (N - df + 0.5) / (df + 0.5))``, which is never negative.

    Equal to bm25s with ``method="lucene"`` (Lù, 2024) for distinct query terms. No documents: an empty array. Memory
    grows with the terms that were found, not with the question.
    """
    wanted = set(query)
    found_terms = ([term for term in document if term in wanted] for document in documents)
    counted = [Counter(found) if found else {} for found in found_terms]
    frequency = Counter(term for counts in counted for term in counts)
    idf = {term: math.log1p((len(documents) - found + 0.5) / (found + 0.5)) for term, found in frequency.items()}
    mean = max(sum(map(len, documents)) / max(1, len(documents)), 1e-9)
    norms = [K1 * (1 - B + B * len(document) / mean) + 1e-12 for document in documents]
    scores = [
        sum(idf[term] * count / (count + norm) for term, count in counts.items())
        for counts, norm in zip(counted, norms, strict=True)
    ]
    return np.array(scores, dtype=np.float64)


def rank_bm25_plus(query: Sequence[str], documents: Sequence[Sequence[str]]) -> Scores:
    """BM25+ of the rank-bm25 package, which several CRAG systems used.

    Its plain variant weights a term in half of the documents with zero and divides by zero without documents; BM25+ (Lv
    and Zhai, CIKM 2011) has a positive idf.
    """
    if not any(documents):
        return np.zeros(len(documents))
    from rank_bm25 import BM25Plus

    index: Any = BM25Plus([list(document) for document in documents], k1=K1, b=B)
    return np.asarray(index.get_scores(list(query)), dtype=np.float64)


def bm25_scores(query: str, texts: Sequence[str], implementation: str = "query_terms") -> Scores:
    """BM25 of each text for the question; `implementation` as in `crag.settings.Bm25Stage`."""
    score = rank_bm25_plus if implementation == "rank_bm25" else bm25
    return score(query_terms(query), [extract_terms(text) for text in texts])


# --- encoders: all texts of a batch in one call, each question's best texts first ------------------------------------


def cosines(
    encoder: DenseEncoder | None, queries: Sequence[str], texts: Sequence[Sequence[str]], deadline: Deadline
) -> list[NDArray[np.float32]]:
    """Cosine of each query with its texts; NaN if the deadline came first.

    Every distinct text is encoded once. A vector with NaN (a float16 overflow, for example) gets cosine -1.
    """
    if encoder is None:
        raise ValueError("the settings rank by a dense encoder, but none is configured")
    distinct = list(dict.fromkeys(text for _, text in round_robin(texts)))
    if not distinct:
        return [np.zeros(0, dtype=np.float32) for _ in queries]
    place = {text: row for row, text in enumerate(distinct)}
    query_vectors = encoder.encode_queries(queries)
    vectors, encoded = encoder.encode_passages(distinct, deadline)
    similarities = []
    for own_texts, query_vector in zip(texts, query_vectors, strict=True):
        rows = np.array([place[text] for text in own_texts], dtype=np.intp)
        similarity = np.nan_to_num(vectors[rows] @ query_vector, nan=-1.0)
        similarities.append(np.where(rows < encoded, similarity, np.nan).astype(np.float32))
    return similarities


def cross_encoder_logits(
    encoder: CrossEncoder | None, queries: Sequence[str], texts: Sequence[Sequence[str]], deadline: Deadline
) -> list[list[float | None]]:
    """Raw logit of each query with its texts; None if the deadline came first."""
    if encoder is None:
        raise ValueError("the settings rank by a cross-encoder, but none is configured")
    turns = round_robin(texts)
    logits: list[list[float | None]] = [[] for _ in queries]
    scores = encoder.score([(queries[owner], text) for owner, text in turns], deadline)
    for (owner, _), logit in zip(turns, scores, strict=True):
        logits[owner].append(logit)
    return logits


def round_robin(lists: Sequence[Sequence[T]]) -> list[tuple[int, T]]:
    """Every list's first item with the list's place, then every second, ...: the best are done if time runs out."""
    longest = max(map(len, lists), default=0)
    return [(owner, items[turn]) for turn in range(longest) for owner, items in enumerate(lists) if turn < len(items)]
