"""Name search of the official server: BM25 over whole words, without typo tolerance.

The official server scans every name for each search. Here an inverted index holds, for each word, its names and its
share of their scores, so that a search is cheap unless its words are common.
"""

import math
import string
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

K1 = 1.5
B = 0.75
"""Constants of the official server, which are the defaults of rank-bm25."""
COMMON_WORD_SHARE = 0.25
"""The share of the mean weight that rank-bm25 gives to a word in more than half of the names."""
RARE_WORD_WEIGHT = 4.0
"""The music search ignores words of this weight or less: words in more than about 1.8 % of the names."""
SMALLEST_WEIGHT = 0.01
RESULT_LIMIT = 10
WordWeights = Callable[[Mapping[str, int], int], dict[str, float]]
"""(Number of names with each word, number of names) -> weights of the words to index."""

_WITHOUT_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalise(text: str) -> str:
    """Lower case, `_` as a blank, no ASCII punctuation, single blanks. Accents stay."""
    return " ".join(text.lower().replace("_", " ").translate(_WITHOUT_PUNCTUATION).split())


def okapi_weights(names_with: Mapping[str, int], names: int) -> dict[str, float]:
    """Weights of rank-bm25's `BM25Okapi`: ln(N - n + 0.5) - ln(n + 0.5), a share of the mean if that is negative.

    Other weights that are not positive become SMALLEST_WEIGHT: else a graph of one or two names would find nothing.
    """
    weights = {word: _inverse_frequency(count, names) for word, count in names_with.items()}
    mean = sum(weights.values()) / len(weights) if weights else 0.0
    return {word: _positive(COMMON_WORD_SHARE * mean if weight < 0 else weight) for word, weight in weights.items()}


def rare_word_weights(names_with: Mapping[str, int], names: int) -> dict[str, float]:
    """Weights of the music search, which leaves out words of RARE_WORD_WEIGHT or less.

    Words in at most RESULT_LIMIT names are always kept: below 83 names the official rule would skip every word; from
    583 names on their weight is above RARE_WORD_WEIGHT anyway.
    """
    weights = {word: _inverse_frequency(count, names) for word, count in names_with.items()}
    return {
        word: _positive(weight)
        for word, weight in weights.items()
        if weight > RARE_WORD_WEIGHT or names_with[word] <= RESULT_LIMIT
    }


def _inverse_frequency(names_with_word: int, names: int) -> float:
    return math.log(names - names_with_word + 0.5) - math.log(names_with_word + 0.5)


def _positive(weight: float) -> float:
    return weight if weight > 0 else SMALLEST_WEIGHT


class WordIndex:
    """Finds the documents whose words fit a query best.

    `documents` are texts with words separated by blanks. At equal scores the later document comes first if
    `later_first` is set (the official server reverses an ascending sort), else the one with the earliest word of the
    query (as in its music search).
    """

    def __init__(self, documents: Sequence[str], weigh: WordWeights = okapi_weights, later_first: bool = True) -> None:
        self._size = len(documents)
        self._later_first = later_first
        # Words are counted twice: the counts of millions of names would fill the memory.
        lengths = [len(document.split()) for document in documents]
        mean_length = sum(lengths) / max(len(lengths), 1)
        weights = weigh(
            Counter(word for document in documents for word in dict.fromkeys(document.split())), len(documents)
        )
        places: dict[str, array[int]] = {word: array("i") for word in weights}
        gains: dict[str, array[float]] = {word: array("d") for word in weights}
        for place, document in enumerate(documents):
            damping = K1 * (1 - B + B * lengths[place] / mean_length) if lengths[place] else 0.0
            for word, occurrences in Counter(document.split()).items():
                if word in weights:
                    places[word].append(place)
                    gains[word].append(weights[word] * occurrences * (K1 + 1) / (occurrences + damping))
        self._postings = {word: (np.array(places.pop(word)), np.array(gains.pop(word))) for word in weights}

    def top(self, query: str, limit: int = RESULT_LIMIT) -> list[int]:
        """Places of the best documents, best first; [] if no word of the query is indexed."""
        scores = np.zeros(self._size)
        reached = np.zeros(self._size)
        words = normalise(query).split()
        for number, word in enumerate(words):
            if word in self._postings:
                places, gains = self._postings[word]
                scores[places] += gains
                reached[places] = np.maximum(reached[places], len(words) - number)
        found = np.flatnonzero(scores)
        if len(found) > limit:
            least = np.partition(scores[found], -limit)[-limit]
            found = found[scores[found] >= least]
        ties = (-found,) if self._later_first else (found, -reached[found])
        return [int(place) for place in found[np.lexsort((*ties, -scores[found]))][:limit]]


class NameSearch:
    """Finds original names by their normalised form; names with the same form come together.

    `merge_equal` makes one document of them, in alphabetical order (open, music). Without it each name is a document
    that stands for all of them (finance): the official server returns the whole group once for each of its names.
    """

    def __init__(
        self,
        names: Iterable[str],
        weigh: WordWeights = okapi_weights,
        *,
        later_first: bool = True,
        merge_equal: bool = True,
    ) -> None:
        documents: list[str] = []
        self._originals: dict[str, list[str]] = {}
        for name in names:
            document = normalise(name)
            documents.append(document)
            self._originals.setdefault(document, []).append(name)
        self._documents = sorted(self._originals) if merge_equal else documents
        self._index = WordIndex(self._documents, weigh, later_first)

    def __call__(self, query: str) -> list[str]:
        """At most ten original names, best first."""
        found = (self._documents[place] for place in self._index.top(query))
        return [name for document in found for name in self._originals[document]][:RESULT_LIMIT]
