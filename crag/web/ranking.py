"""What the ranking steps share: BM25, cosines, cross-encoder logits, and how texts are compared."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from crag.core.deadline import Deadline
from crag.engines.encoders import CrossEncoder, DenseEncoder
from crag.web.terms import QuestionSpelling

T = TypeVar("T")
Scores = NDArray[np.float64]
"""One number for each document; higher is better."""


def remove_duplicates(items: Iterable[T], key: Callable[[T], str]) -> list[T]:
    """The first item of each key, without items whose key is blank: search results repeat pages and passages."""
    first_by_key: dict[str, T] = {}
    for item in items:
        item_key = key(item)
        if item_key.strip():
            first_by_key.setdefault(item_key, item)
    return list(first_by_key.values())


def comparison_key(text: str) -> str:
    """The words of a text, so that texts compare equal if only case, punctuation and blanks differ."""
    words = re.sub(r"\W+", " ", text.lower())
    return words.strip()


def round_robin(lists: Sequence[Sequence[T]]) -> list[tuple[int, T]]:
    """The first item of every list, then the second of every list, ...; each with the index of its list.

    If the time runs out on the way, every list has its best items done.

    Example:
        round_robin(["ab", "x"])  # [(0, "a"), (1, "x"), (0, "b")]
    """
    longest = max(map(len, lists), default=0)
    turns = []
    for position in range(longest):
        for index, items in enumerate(lists):
            if position < len(items):
                turns.append((index, items[position]))
    return turns


# --- BM25 -----------------------------------------------------------------------------------------------------------

K1 = 1.5
B = 0.75
"""The usual BM25 constants, as in bm25s and rank-bm25."""


def bm25_scores(query: str, texts: Sequence[str], implementation: str = "query_terms") -> Scores:
    """BM25 of each text for the question; `implementation` as in `crag.settings.Bm25Stage`.

    Example:
        bm25_scores("windy london", ["it is windy in london", "it rains in chicago"])  # the first is greater
    """
    spelling = QuestionSpelling(query)
    documents = [spelling.read(text) for text in texts]
    if implementation == "rank_bm25":
        return rank_bm25_plus(spelling.terms, documents)
    return bm25(spelling.terms, documents)


def bm25(query: Sequence[str], documents: Sequence[Sequence[str]]) -> Scores:
    """BM25 of each document with Lucene's idf, ``ln(1 + (N - df + 0.5) / (df + 0.5))``, which is never negative.

    Equal to bm25s with ``method="lucene"`` (Lù, 2024) for distinct query terms. No documents: an empty array.
    """
    # Only terms of the question are counted: memory grows with the hits, not with question times documents.
    query_set = set(query)
    term_counts: list[Counter[str]] = []
    document_frequency: Counter[str] = Counter()
    for document in documents:
        hits = [term for term in document if term in query_set]
        counts = Counter(hits)
        term_counts.append(counts)
        document_frequency.update(counts.keys())

    document_count = len(documents)
    idf = {}
    for term, frequency in document_frequency.items():
        idf[term] = math.log1p((document_count - frequency + 0.5) / (frequency + 0.5))

    # The small constants avoid a division by zero if all documents are empty.
    total_length = sum(map(len, documents))
    mean_length = max(total_length / max(1, document_count), 1e-9)
    scores = []
    for document, counts in zip(documents, term_counts, strict=True):
        length_norm = K1 * (1 - B + B * len(document) / mean_length) + 1e-12
        term_scores = [idf[term] * count / (count + length_norm) for term, count in counts.items()]
        scores.append(sum(term_scores))
    return np.array(scores, dtype=np.float64)


def rank_bm25_plus(query: Sequence[str], documents: Sequence[Sequence[str]]) -> Scores:
    """BM25+ of the rank-bm25 package, which several CRAG systems used.

    Its plain variant (rank-bm25 0.2.2) weights a term in half of the documents with zero, one in most of a few
    below zero (findings/rank_bm25_words_of_most_passages.sh), and divides by zero without documents. BM25+ (Lv and
    Zhai, CIKM 2011) has a positive idf.
    """
    if not any(documents):
        return np.zeros(len(documents))

    from rank_bm25 import BM25Plus

    corpus = [list(document) for document in documents]
    index: Any = BM25Plus(corpus, k1=K1, b=B)
    scores = index.get_scores(list(query))
    return np.asarray(scores, dtype=np.float64)


# --- encoders: all texts of a batch in one call, each question's best texts first ------------------------------------


def cosines(
    encoder: DenseEncoder | None,
    queries: Sequence[str],
    texts: Sequence[Sequence[str]],
    deadline: Deadline,
) -> list[NDArray[np.float32]]:
    """Cosine of each query with each of its texts; NaN if the deadline came first.

    Every distinct text is encoded once. A vector with NaN (a float16 overflow, for example) gets cosine -1.

    Args:
        encoder: None raises ValueError.
        queries: The questions of the batch.
        texts: For each query its texts, best first.
        deadline: The end of the step.
    """
    if encoder is None:
        raise ValueError("the settings rank by a dense encoder, but none is configured")

    queries, texts = _spell_alike(queries, texts)

    # Best texts first, because the deadline can end the encoding; questions that share pages share texts.
    distinct_texts = list(dict.fromkeys(text for _, text in round_robin(texts)))
    if not distinct_texts:
        return [np.zeros(0, dtype=np.float32) for _ in queries]

    query_vectors = encoder.encode_queries(queries)
    text_vectors, encoded_count = encoder.encode_passages(distinct_texts, deadline)

    # Each question takes the rows of its texts.
    row_by_text = {text: row for row, text in enumerate(distinct_texts)}
    similarities = []
    for query_vector, query_texts in zip(query_vectors, texts, strict=True):
        rows = np.array([row_by_text[text] for text in query_texts], dtype=np.intp)
        dot_products = text_vectors[rows] @ query_vector
        # A text that the encoder cannot rate is the worst; below, NaN means not encoded in time.
        similarity = np.nan_to_num(dot_products, nan=-1.0)

        in_time = rows < encoded_count
        similarity = np.where(in_time, similarity, np.nan)
        similarities.append(similarity.astype(np.float32))
    return similarities


def cross_encoder_logits(
    encoder: CrossEncoder | None,
    queries: Sequence[str],
    texts: Sequence[Sequence[str]],
    deadline: Deadline,
) -> list[list[float | None]]:
    """Raw logit of each query with each of its texts (best first); None if the deadline came first.

    Raises ValueError: there is no encoder.
    """
    if encoder is None:
        raise ValueError("the settings rank by a cross-encoder, but none is configured")

    queries, texts = _spell_alike(queries, texts)
    turns = round_robin(texts)
    pairs = [(queries[query_index], text) for query_index, text in turns]
    logits = encoder.score(pairs, deadline)

    # Back from turns to questions: the logits of a question arrive in the order of its texts.
    logits_by_query: list[list[float | None]] = [[] for _ in queries]
    for (query_index, _), logit in zip(turns, logits, strict=True):
        logits_by_query[query_index].append(logit)
    return logits_by_query


def _spell_alike(
    queries: Sequence[str],
    texts: Sequence[Sequence[str]],
) -> tuple[list[str], list[list[str]]]:
    """The questions, and for each its texts, with names spelled as the question spells them."""
    spellings = [QuestionSpelling(query) for query in queries]
    respelled = []
    for spelling, query_texts in zip(spellings, texts, strict=True):
        respelled.append([spelling.rewrite(text) for text in query_texts])
    return [spelling.question for spelling in spellings], respelled
