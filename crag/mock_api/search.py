"""Name search of the official server: BM25 over whole words, without typo tolerance.

The official server scans every name for each search, with rank-bm25. Here an inverted index holds, for each word, its
names and its share of their scores, so that a search of millions of names is cheap unless its words are common.
"""

import math
import string
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

K1 = 1.5
B = 0.75
"""Constants of the official server, which are the defaults of rank-bm25."""
COMMON_WORD_SHARE = 0.25
"""The share of the mean weight that rank-bm25 gives to a word in more than half of the names."""
RARE_WORD_WEIGHT = 4.0
"""The music search ignores words of this weight or less: words in more than about 1.8 % of the names."""
SMALLEST_WEIGHT = 0.01
"""For other weights that are not positive: else a graph of one or two names would find nothing."""
RESULT_LIMIT = 10

_WITHOUT_PUNCTUATION = str.maketrans("", "", string.punctuation)


def searchable_form(text: str) -> str:
    """Lower case, `_` as a blank, no ASCII punctuation, single blanks. Accents stay."""
    lower = text.lower().replace("_", " ")
    words = lower.translate(_WITHOUT_PUNCTUATION).split()
    return " ".join(words)


class WordIndex:
    """Finds the documents (strings of words separated by blanks) that fit a query best.

    At equal scores the later document comes first (the official server reverses an ascending sort). `rare_only` is the
    music search: it leaves out common words, and at equal scores the earliest word of the query decides.
    """

    def __init__(self, documents: Sequence[str], *, rare_only: bool = False) -> None:
        self._size = len(documents)
        self._rare_only = rare_only

        # For each word the documents with it, and BM25's factor in each, without the word's weight.
        positions: dict[str, list[int]] = defaultdict(list)
        gains: dict[str, list[float]] = defaultdict(list)
        lengths = [len(document.split()) for document in documents]
        mean_length = sum(lengths) / max(len(lengths), 1)
        for position, document in enumerate(documents):
            words = document.split()
            if not words:
                continue
            damping = K1 * (1 - B + B * len(words) / mean_length)  # long documents gain less
            for word, occurrences in Counter(words).items():
                positions[word].append(position)
                gains[word].append(occurrences * (K1 + 1) / (occurrences + damping))

        document_counts = {word: len(word_positions) for word, word_positions in positions.items()}
        weights = self._weights(document_counts)

        self._postings: dict[str, tuple[NDArray[np.int64], NDArray[np.float64]]] = {}
        """Word -> positions of the documents that hold it, and what it adds to the score of each."""
        for word, weight in weights.items():
            scores = weight * np.array(gains[word])
            self._postings[word] = (np.array(positions[word]), scores)

    def _weights(self, document_counts: dict[str, int]) -> dict[str, float]:
        """Weights of rank-bm25's `BM25Okapi`: ln(N - n + 0.5) - ln(n + 0.5), a share of the mean if that is negative.

        `document_counts`: word -> n, the number of documents with it. The music search keeps words in at most
        RESULT_LIMIT names: below 83 names the official rule would skip all.
        """
        idf: dict[str, float] = {}
        for word, count in document_counts.items():
            idf[word] = math.log(self._size - count + 0.5) - math.log(count + 0.5)
        mean = sum(idf.values()) / max(len(idf), 1)

        weights: dict[str, float] = {}
        for word, value in idf.items():
            is_common = value <= RARE_WORD_WEIGHT and document_counts[word] > RESULT_LIMIT
            if self._rare_only and is_common:
                continue
            weight = COMMON_WORD_SHARE * mean if value < 0 and not self._rare_only else value
            weights[word] = weight if weight > 0 else SMALLEST_WEIGHT
        return weights

    def top(self, query: str) -> list[int]:
        """Positions of the ten best documents, best first; [] if no word of the query is indexed."""
        scores = np.zeros(self._size)
        earliest_word = np.zeros(self._size)  # higher for an earlier word of the query
        words = searchable_form(query).split()
        for number, word in enumerate(words):
            if word not in self._postings:
                continue
            positions, gains = self._postings[word]
            scores[positions] += gains
            earliest_word[positions] = np.maximum(earliest_word[positions], len(words) - number)

        candidates = np.flatnonzero(scores)
        if len(candidates) > RESULT_LIMIT:
            # Ties with the tenth best stay: only the sort below decides between them.
            lowest = np.partition(scores[candidates], -RESULT_LIMIT)[-RESULT_LIMIT]
            candidates = candidates[scores[candidates] >= lowest]

        # np.lexsort sorts by its last key first.
        if self._rare_only:
            order = np.lexsort((candidates, -earliest_word[candidates], -scores[candidates]))
        else:
            order = np.lexsort((-candidates, -scores[candidates]))
        return [int(position) for position in candidates[order][:RESULT_LIMIT]]


class NameSearch:
    """Finds original names by their normalised form; names with the same form come together.

    `merge_equal` makes one document of them, in alphabetical order (open, music). Without it each name is a document
    that represents all of them (finance): the official server returns the whole group once for each of its names.

        >>> NameSearch(["Jaws", "jaws!", "Alien"])("JAWS")
        ['Jaws', 'jaws!']
    """

    def __init__(self, names: Iterable[str], *, rare_only: bool = False, merge_equal: bool = True) -> None:
        self._originals: dict[str, list[str]] = defaultdict(list)
        documents: list[str] = []
        for name in names:
            document = searchable_form(name)
            documents.append(document)
            self._originals[document].append(name)

        self._documents = sorted(self._originals) if merge_equal else documents
        self._index = WordIndex(self._documents, rare_only=rare_only)

    def __call__(self, query: str) -> list[str]:
        """At most ten original names, best first."""
        names: list[str] = []
        for position in self._index.top(query):
            names += self._originals[self._documents[position]]
        return names[:RESULT_LIMIT]
