"""Ranks the pages of an index for a question: all pieces by their words and by their meaning."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from crag.asking.index.store import IndexStore, PieceVectors
from crag.engines.encoders import DenseEncoder
from crag.web import STOPWORDS, QuestionSpelling

MOST_PIECES = 100
"""Pieces of each ranking that count."""
FUSION_CONSTANT = 60
"""Of reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009)."""
ROWS_AT_A_TIME = 16_384
"""Vectors that are multiplied together: numpy multiplies float32 alone fast, and the index has float16."""


class PieceOfPage(NamedTuple):
    """The numbers of a piece and of its page."""

    piece: int
    page: int


def rank_pages(
    store: IndexStore, question: str, encoder: DenseEncoder | None, vectors: PieceVectors | None
) -> list[PieceOfPage]:
    """The pages, best first, each with its best piece: reciprocal rank fusion of words and meaning.

    BM25 counts how rare a word is over all pieces, so the names of a question weigh more than its other words.
    """
    rankings = [rank_by_words(store, question)]
    if encoder is not None and vectors is not None and len(vectors.pieces):
        rankings.append(rank_by_meaning(question, encoder, vectors))

    scores: dict[int, float] = {}
    best_pieces: dict[int, PieceOfPage] = {}
    for ranking in rankings:
        pages = {entry.page: entry for entry in reversed(ranking)}
        best_first = list(dict.fromkeys(entry.page for entry in ranking))
        for rank, page in enumerate(best_first, start=1):
            scores[page] = scores.get(page, 0.0) + 1 / (FUSION_CONSTANT + rank)
            best_pieces.setdefault(page, pages[page])
    return [best_pieces[page] for page in sorted(scores, key=lambda page: -scores[page])]


def rank_by_words(store: IndexStore, question: str) -> list[PieceOfPage]:
    """The best pieces by BM25."""
    expression = " OR ".join(f'"{phrase}"' for phrase in _list_phrases(store, question))
    if not expression:
        return []
    return [PieceOfPage(*numbers) for numbers in store.find_pieces(expression, MOST_PIECES)]


def _list_phrases(store: IndexStore, question: str) -> Iterator[str]:
    """The words of a question, other spellings of them, and those that no page has in two parts."""
    spelling = QuestionSpelling(question)
    yield from spelling.terms
    yield from spelling.other_spellings

    for term in spelling.terms:
        if not store.is_known_word(term):
            yield from _split_in_two(term)


def _split_in_two(word: str) -> Iterator[str]:
    """A word in two: people type "spiderman" where pages write "Spider Man"."""
    for end in range(2, len(word) - 1):
        first, second = word[:end], word[end:]
        # "3 1" is not 31, and "the rapist" is none.
        is_number = first[-1].isdigit() and second[0].isdigit()
        if not is_number and STOPWORDS.isdisjoint((first, second)):
            yield f"{first} {second}"


def rank_by_meaning(question: str, encoder: DenseEncoder, vectors: PieceVectors) -> list[PieceOfPage]:
    """The best pieces by cosine."""
    (query,) = encoder.encode_queries([QuestionSpelling(question).question])
    cosines = _multiply(vectors.vectors, query)
    count = min(MOST_PIECES, len(cosines))
    best = np.argpartition(-cosines, count - 1)[:count]
    best_first: Sequence[int] = best[np.argsort(-cosines[best], kind="stable")].tolist()
    return [PieceOfPage(int(vectors.pieces[row]), int(vectors.pages[row])) for row in best_first]


def _multiply(vectors: NDArray[np.float16], query: NDArray[np.float32]) -> NDArray[np.float32]:
    parts = []
    for start in range(0, len(vectors), ROWS_AT_A_TIME):
        rows = vectors[start : start + ROWS_AT_A_TIME].astype(np.float32)
        parts.append(rows @ query)
    # A text that the encoder cannot rate is the worst.
    return np.nan_to_num(np.concatenate(parts), nan=-1.0)
