"""Ranks the pages of an index for a question: all pieces by their words and by their meaning."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from crag.asking.index.store import IndexStore, PieceVectors, WordMatch
from crag.engines.encoders import DenseEncoder
from crag.web import STOPWORDS, QuestionSpelling

MOST_PIECES = 100
"""The best pieces of each ranking that are compared with each other."""
ROWS_AT_A_TIME = 16_384
"""Vectors that are multiplied together: numpy multiplies float32 alone fast, and the index has float16."""

Scores: TypeAlias = dict[int, float]
"""By the number of a piece; the best has 1."""


class PieceOfPage(NamedTuple):
    """The numbers of a piece and of its page."""

    piece: int
    page: int


def rank_pages(
    store: IndexStore, question: str, encoder: DenseEncoder | None, vectors: PieceVectors | None
) -> list[PieceOfPage]:
    """The pages, best first, each with its best piece: by the sum of its scores for words and for meaning.

    BM25 counts how rare a word is over all pieces, so the names of a question weigh more than its other words. Scores
    are added, not ranks: by how much a name decides must not be lost (Bruch, Gai and Ingber, TOIS 2023).
    """
    by_words = store.find_pieces(_build_expression(store, question), MOST_PIECES)
    pages = {match.piece: match.page for match in by_words}
    scores = _scale_words(by_words)

    if encoder is not None and vectors is not None and len(vectors.pieces):
        scores = _add_meaning(scores, pages, question, encoder, vectors)

    best_pieces: dict[int, PieceOfPage] = {}
    for piece in sorted(scores, key=lambda piece: -scores[piece]):
        best_pieces.setdefault(pages[piece], PieceOfPage(piece, pages[piece]))
    return list(best_pieces.values())


def _scale_words(matches: Sequence[WordMatch]) -> Scores:
    """The pieces by BM25, the best with 1."""
    best = max((match.score for match in matches), default=1.0) or 1.0
    return {match.piece: match.score / best for match in matches}


def _add_meaning(
    scores: Scores,
    pages: dict[int, int],
    question: str,
    encoder: DenseEncoder,
    vectors: PieceVectors,
) -> Scores:
    """The scores with those for meaning: 1 for the best cosine, 0 for the last of the best `MOST_PIECES`.

    The pages of pieces that words did not find are added to `pages`.
    """
    (query,) = encoder.encode_queries([QuestionSpelling(question).question])
    cosines = _multiply(vectors.vectors, query)
    count = min(MOST_PIECES, len(cosines))
    nearest = np.argpartition(-cosines, count - 1)[:count]
    lowest = float(cosines[nearest].min())
    spread = max(float(cosines[nearest].max()) - lowest, 1e-6)

    # Both scores of each piece, whichever ranking found it.
    rows = {int(vectors.pieces[row]): int(row) for row in nearest}
    for piece in scores:
        row = int(np.searchsorted(vectors.pieces, piece))
        if row < len(vectors.pieces) and vectors.pieces[row] == piece:
            rows[piece] = row

    # A full list may have cut pieces off that score as its last one; beside any other, a piece has no word at all.
    least = min(scores.values()) if len(scores) >= MOST_PIECES else 0.0
    total = dict(scores)
    for piece, row in rows.items():
        pages.setdefault(piece, int(vectors.pages[row]))
        total[piece] = scores.get(piece, least) + (float(cosines[row]) - lowest) / spread
    return total


def _multiply(vectors: NDArray[np.float16], query: NDArray[np.float32]) -> NDArray[np.float32]:
    parts = []
    for start in range(0, len(vectors), ROWS_AT_A_TIME):
        rows = vectors[start : start + ROWS_AT_A_TIME].astype(np.float32)
        parts.append(rows @ query)
    # A text that the encoder cannot rate is the worst.
    return np.nan_to_num(np.concatenate(parts), nan=-1.0)


def _build_expression(store: IndexStore, question: str) -> str:
    """An expression of FTS5 that any word of the question fulfils."""
    return " OR ".join(f'"{phrase}"' for phrase in _list_phrases(store, question))


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
        first = word[:end]
        second = word[end:]
        # "3 1" is not 31, and "the rapist" is none.
        is_number = first[-1].isdigit() and second[0].isdigit()
        if not is_number and STOPWORDS.isdisjoint((first, second)):
            yield f"{first} {second}"
