"""Hashed counts of words and letter sequences: the part of a classifier without a neural network.

Question words ("how many", "which of the two") decide much of a question's type, and counts learn them from few
examples. No vocabulary is stored: an n-gram is only a hash bucket, so a trained classifier does not contain the text of
its training questions.
"""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

BUCKETS = 1 << 15
MAX_CHARACTERS = 400
"""Maximum number of characters that are counted; CRAG's longest question has about half as many."""

_WORD = re.compile(r"\w+|\?|'s")
_DIGIT = re.compile(r"\d")
_RUN_LENGTHS = range(2, 6)


class SparseRows(NamedTuple):
    """Rows of a sparse matrix: `values[i]` is in row `rows[i]` and column `columns[i]`."""

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    values: NDArray[np.float32]
    shape: tuple[int, int]

    def times(self, weights: NDArray[np.float32]) -> NDArray[np.float32]:
        """The product with a dense matrix of shape (columns, classes); shape (rows, classes)."""
        row_count, _ = self.shape
        _, class_count = weights.shape
        product = np.zeros((row_count, class_count), dtype=np.float32)

        # `add.at` adds up all entries of a row; `product[rows] +=` would keep only one of them.
        contributions = self.values[:, None] * weights[self.columns]
        np.add.at(product, self.rows, contributions)
        return product


def word_ngrams(text: str) -> Iterator[str]:
    """Single words, including a question mark and a possessive 's, and pairs of neighbours."""
    words = _WORD.findall(text)
    yield from words
    for first, second in pairwise(words):
        yield f"{first} {second}"


def letter_runs(text: str) -> Iterator[str]:
    """Runs of 2 to 5 characters within a word and the blanks beside it.

    A leading tab marks them, so that the word "it" and the letters "it" of "with" differ.
    """
    for word in text.split():
        padded = f" {word} "
        for length in _RUN_LENGTHS:
            # A word shorter than the run gives one run, for each length.
            for start in range(max(1, len(padded) - length + 1)):
                yield f"\t{padded[start : start + length]}"


BLOCKS: tuple[Callable[[str], Iterator[str]], ...] = (word_ngrams, letter_runs)
"""Both kinds share the buckets but are weighted separately: a question's few words count as much as its many runs."""


def bucket_counts(
    text: str,
    block: Callable[[str], Iterator[str]],
    buckets: int = BUCKETS,
) -> Counter[int]:
    """How many n-grams of the text are in each bucket.

    Letters become lower case, digits ``0``: it matters that a year is named, not which one. `block` gives the n-grams.

    >>> bucket_counts("in 1986?", word_ngrams) == bucket_counts("IN 2024?", word_ngrams)
    True
    """
    normalised = _DIGIT.sub("0", text[:MAX_CHARACTERS].lower())
    encoded_ngrams = [ngram.encode("utf-8", "surrogatepass") for ngram in block(normalised)]
    # Not `hash`, whose values differ from process to process.
    return Counter(crc32(ngram) % buckets for ngram in encoded_ngrams)


def bucket_rarity(texts: Sequence[str], buckets: int = BUCKETS) -> NDArray[np.float32]:
    """The smoothed inverse document frequency of each bucket: ln((1 + n) / (1 + texts with it)) + 1."""
    document_frequency = np.zeros(buckets)
    for text in texts:
        present: set[int] = set()
        for block in BLOCKS:
            present.update(bucket_counts(text, block, buckets))
        document_frequency[list(present)] += 1

    inverse_frequency = (1 + len(texts)) / (1 + document_frequency)
    return np.asarray(np.log(inverse_frequency) + 1, dtype=np.float32)


def hashed_rows(texts: Sequence[str], rarity: NDArray[np.float32]) -> SparseRows:
    """One row per text: for each block and bucket (1 + ln(count)) times rarity, each block scaled to unit length."""
    rows: list[int] = []
    columns: list[int] = []
    values: list[float] = []
    for row, text in enumerate(texts):
        for block in BLOCKS:
            counts = bucket_counts(text, block, len(rarity))
            weights = []
            for bucket, count in counts.items():
                # A repetition says less than the first occurrence.
                damped_count = 1.0 + math.log(count)
                weights.append(damped_count * float(rarity[bucket]))

            # A text without n-grams has no weights and length 0.
            length = max(math.hypot(*weights), 1e-12)
            rows += [row] * len(counts)
            columns += counts.keys()
            values += [weight / length for weight in weights]

    return SparseRows(
        np.array(rows, np.int64),
        np.array(columns, np.int64),
        np.array(values, np.float32),
        shape=(len(texts), len(rarity)),
    )
