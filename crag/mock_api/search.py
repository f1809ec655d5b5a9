"""Name search of the official server: BM25 over whole words, without typo tolerance.

The official server scans every name for each search, with rank-bm25. Here an inverted index holds, for each word, its
names and its share of their scores, so that a search of millions of names is cheap unless its words are common.
"""

import math
import string
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

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


def normalise(text: str) -> str:
    """Lower case, `_` as a blank, no ASCII punctuation, single blanks. Accents stay."""
    return " ".join(text.lower().replace("_", " ").translate(_WITHOUT_PUNCTUATION).split())


class WordIndex:
    """Finds the documents, texts with words separated by blanks, that fit a query best.

    At equal scores the later document comes first (the official server reverses an ascending sort). `rare_only` is the
    music search: it leaves out common words, and at equal scores the earliest word of the query decides.
    """

    def __init__(self, documents: Sequence[str], *, rare_only: bool = False) -> None:
        self._size = len(documents)
        self._rare_only = rare_only
        lengths = [len(document.split()) for document in documents]
        mean_length = sum(lengths) / max(len(lengths), 1)
        places: dict[str, list[int]] = defaultdict(list)
        gains: dict[str, list[float]] = defaultdict(list)
        for place, document in enumerate(documents):
            damping = K1 * (1 - B + B * lengths[place] / mean_length) if lengths[place] else 0.0
            for word, occurrences in Counter(document.split()).items():
                places[word].append(place)
                gains[word].append(occurrences * (K1 + 1) / (occurrences + damping))
        weights = self._weights({word: len(found) for word, found in places.items()})
        self._postings = {word: (np.array(places[word]), weights[word] * np.array(gains[word])) for word in weights}

    def _weights(self, names_with: dict[str, int]) -> dict[str, float]:
        """Weights of rank-bm25's `BM25Okapi`: ln(N - n + 0.5) - ln(n + 0.5), a share of the mean if that is negative.

        The music search keeps words in at most RESULT_LIMIT names: below 83 names the official rule would skip all.
        """
        weights = {word: math.log(self._size - n + 0.5) - math.log(n + 0.5) for word, n in names_with.items()}
        if self._rare_only:
            kept = {w: v for w, v in weights.items() if v > RARE_WORD_WEIGHT or names_with[w] <= RESULT_LIMIT}
        else:
            mean = sum(weights.values()) / max(len(weights), 1)
            kept = {word: COMMON_WORD_SHARE * mean if weight < 0 else weight for word, weight in weights.items()}
        return {word: weight if weight > 0 else SMALLEST_WEIGHT for word, weight in kept.items()}

    def top(self, query: str) -> list[int]:
        """Places of the ten best documents, best first; [] if no word of the query is indexed."""
        scores, reached = np.zeros(self._size), np.zeros(self._size)
        words = normalise(query).split()
        for number, word in enumerate(words):
            if word in self._postings:
                places, gains = self._postings[word]
                scores[places] += gains
                reached[places] = np.maximum(reached[places], len(words) - number)
        found = np.flatnonzero(scores)
        if len(found) > RESULT_LIMIT:
            found = found[scores[found] >= np.partition(scores[found], -RESULT_LIMIT)[-RESULT_LIMIT]]
        ties = (found, -reached[found]) if self._rare_only else (-found,)
        return [int(place) for place in found[np.lexsort((*ties, -scores[found]))][:RESULT_LIMIT]]


class NameSearch:
    """Finds original names by their normalised form; names with the same form come together.

    `merge_equal` makes one document of them, in alphabetical order (open, music). Without it each name is a document
    that stands for all of them (finance): the official server returns the whole group once for each of its names.
    """

    def __init__(self, names: Iterable[str], *, rare_only: bool = False, merge_equal: bool = True) -> None:
        documents = [(normalise(name), name) for name in names]
        self._originals: dict[str, list[str]] = defaultdict(list)
        for document, name in documents:
            self._originals[document].append(name)
        self._documents = sorted(self._originals) if merge_equal else [document for document, _ in documents]
        self._index = WordIndex(self._documents, rare_only=rare_only)

    def __call__(self, query: str) -> list[str]:
        """At most ten original names, best first."""
        found = (self._documents[place] for place in self._index.top(query))
        return [name for document in found for name in self._originals[document]][:RESULT_LIMIT]
