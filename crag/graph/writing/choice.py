"""Chooses the examples for a question: the most similar ones of the bank, or fixed ones for a domain.

Similarity mixes two cosines: of the questions (domain and topic), and of their skeletons, the questions without names
(the calls): "who directed rear window?" and "who directed jaws?" have one skeleton. Names are the words that do not
recur in the bank.
"""

import functools
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from math import exp, log, sqrt
from typing import NamedTuple

import numpy as np

from crag.core.places import REPOSITORY
from crag.engines.encoders.base import DenseEncoder, Vectors, encode_with_cache
from crag.graph.language import Call, names_in
from crag.graph.schema import Domain
from crag.graph.writing.bank import Example, load_bank, load_folder
from crag.settings import KgWriterSettings

SKELETON_WEIGHT = 1 / 3
"""Weight of the skeleton's cosine, the question's has the rest; values from 1/4 to 1/2 change little."""
VOTERS = 5
"""Most similar examples that vote on a question's domain."""
VOTE_SHARPNESS = 12.0
"""An example 0.1 less similar than the best has exp(-1.2), a third, of its vote on a question's domain."""
MARK = "#"
"""Stands for a name, a number or a date."""
_NUMBER = re.compile(r"\d[\d,.:/-]*")
_WORD = re.compile(r"[\w']+|[^\w\s]")


class Neighbourhood(NamedTuple):
    """A question's domain and examples, the most similar last; `similarity` (at most 1) is None for fixed ones."""

    domain: Domain
    examples: tuple[Example, ...]
    similarity: float | None = None


class ExampleIndex:
    """The bank as vectors, from a dense encoder or, without one, from words with TF-IDF weights of the bank."""

    def __init__(self, bank: Sequence[Example], dense: DenseEncoder | None) -> None:
        self._bank = bank
        self._maker = SkeletonMaker(bank)
        self._questions = [example.question for example in bank]
        self._skeletons = [self._maker.skeleton(_without_names(example)) for example in bank]
        self._dense = dense
        self._word_vectors = WordVectors([*self._questions, *self._skeletons])

    @functools.cached_property
    def vectors(self) -> Vectors:
        """The bank, one row per example, encoded on first use; loads the encoder."""
        if self._dense is None:
            questions = self._word_vectors.encode(self._questions)
            skeletons = self._word_vectors.encode(self._skeletons)
        else:
            self._dense.warm_up()
            questions = encode_with_cache(self._dense, self._questions)
            skeletons = encode_with_cache(self._dense, self._skeletons)
        return _joined(questions, skeletons)

    def nearest(
        self,
        questions: Sequence[str],
        domains: Sequence[Domain | None],
        count: int,
    ) -> list[Neighbourhood]:
        """For each question its domain (chosen by vote if None) and its `count` most similar examples."""
        if not questions:
            return []

        skeletons = [self._maker.skeleton(question) for question in questions]
        vectors = _joined(self._encode(questions), self._encode(skeletons))
        similarity_matrix = vectors @ self.vectors.T  # questions x examples

        neighbourhoods: list[Neighbourhood] = []
        for similarities, known_domain in zip(similarity_matrix, domains, strict=True):
            # Stable: equally similar examples stay in the order of the bank, in every run
            best_first = np.argsort(-similarities, kind="stable")
            domain = known_domain or self._vote(similarities, best_first[:VOTERS])

            # The most similar example comes last: next to the question in the prompt.
            of_domain = [index for index in best_first if self._bank[index].domain is domain]
            examples = [self._bank[index] for index in of_domain[:count]]
            examples.reverse()

            best_similarity = float(similarities[of_domain[0]])
            neighbourhoods.append(Neighbourhood(domain, tuple(examples), best_similarity))
        return neighbourhoods

    def _encode(self, texts: Sequence[str]) -> Vectors:
        if self._dense is None:
            return self._word_vectors.encode(texts)
        # Questions are compared with questions, so none gets the query instruction.
        vectors, _ = self._dense.encode_passages(texts)
        return vectors

    def _vote(self, similarities: Vectors, nearest: Iterable[int]) -> Domain:
        """The domain of most of the nearest examples (indices), weighted by similarity; one similarity per example."""
        votes: dict[Domain, float] = defaultdict(float)
        for index in nearest:
            gap_to_best = float(similarities[index] - similarities.max())  # at most 0
            # The best example has a whole vote, the others less the farther they are behind
            votes[self._bank[index].domain] += exp(VOTE_SHARPNESS * gap_to_best)
        return max(votes, key=lambda domain: votes[domain])


def _joined(questions: Vectors, skeletons: Vectors) -> Vectors:
    """Both kinds of vector concatenated, so the dot product is the weighted mean of both cosines."""
    weighted = [questions * sqrt(1 - SKELETON_WEIGHT), skeletons * sqrt(SKELETON_WEIGHT)]
    return np.hstack(weighted).astype(np.float32)


class WordVectors:
    """Unit vectors of words with TF-IDF weights from the texts of the bank; other words have no weight."""

    def __init__(self, texts: Sequence[str]) -> None:
        document_frequency: Counter[str] = Counter()
        for text in texts:
            distinct_words = set(text.lower().split())
            document_frequency.update(distinct_words)

        self._index_of_word = {word: index for index, word in enumerate(document_frequency)}
        # The + 1 keeps a weight for words that all texts have
        weights = [log(len(texts) / frequency) + 1 for frequency in document_frequency.values()]
        self._weights = np.array(weights, dtype=np.float32)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """One row per text; a text with only unknown words is all zero."""
        vectors = np.zeros((len(texts), len(self._index_of_word)), dtype=np.float32)
        for row, text in enumerate(texts):
            words = text.lower().replace("?", " ").split()
            indices = [self._index_of_word[word] for word in words if word in self._index_of_word]
            # Unlike `+=`, this adds up the weights of a repeated word
            np.add.at(vectors[row], indices, self._weights[indices])

        # A row of zeros stays as it is.
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit_vectors: Vectors = vectors / np.maximum(lengths, 1e-12)
        return unit_vectors


class SkeletonMaker:
    """Replaces names by marks. A word is not a name if at least two questions of a bank use it outside names.

    Example: "who directed rear window?" has the skeleton "who directed # ?".
    """

    def __init__(self, examples: Iterable[Example]) -> None:
        counts: Counter[str] = Counter()
        for example in examples:
            distinct_words = set(_split_words(_without_names(example)))
            counts.update(distinct_words)
        self._vocabulary = frozenset(word for word, count in counts.items() if count > 1)

    def skeleton(self, question: str) -> str:
        """A question's recurring words; each run of other words becomes one mark."""
        words: list[str] = []
        for word in _split_words(_NUMBER.sub(MARK, question)):
            # "film's" stays if "film" recurs
            if word in self._vocabulary or word.removesuffix("'s") in self._vocabulary:
                words.append(word)
            elif not words or words[-1] != MARK:
                words.append(MARK)
        return " ".join(words)


def _split_words(text: str) -> Sequence[str]:
    return _WORD.findall(text.lower().replace("’", "'"))


def _without_names(example: Example) -> str:
    """The question with numbers and its calls' arguments (if word for word in it) replaced by marks."""
    names: set[str] = set()
    for statement in example.program.statements:
        for argument in statement.arguments if isinstance(statement, Call) else ():
            names.update(names_in(argument))

    # Longest first: "rocky ii" before "rocky".
    text = example.question.lower()
    for name in sorted(names, key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(name.lower())}(?!\w)", MARK, text)
    return _NUMBER.sub(MARK, text)


class ExampleChoice:
    """Chooses examples by the settings, for the writer and for training; `BankError`: the fixed ones are unusable.

    `bank`: to choose from; None: the shipped examples.
    """

    def __init__(
        self,
        settings: KgWriterSettings,
        dense: DenseEncoder | None,
        bank: Sequence[Example] | None = None,
    ) -> None:
        self._index = ExampleIndex(load_bank() if bank is None else bank, dense)
        self._count = settings.examples
        self._fixed = load_folder(REPOSITORY / settings.fixed_examples) if settings.selection == "fixed" else None

    def warm_up(self) -> None:
        """Load the encoder and encode the bank."""
        _ = self._index.vectors

    def choose(
        self,
        questions: Sequence[str],
        domains: Sequence[Domain | None],
        *,
        include_itself: bool = True,
    ) -> list[Neighbourhood]:
        """For each question its domain and examples.

        With `include_itself` a question of the bank may be its own example; without, as in training, it is left out.
        """
        neighbourhoods = self._neighbourhoods(questions, domains, include_itself=include_itself)
        choices: list[Neighbourhood] = []
        for question, neighbourhood in zip(questions, neighbourhoods, strict=True):
            candidates = neighbourhood.examples if self._fixed is None else self._fixed[neighbourhood.domain]
            # In training, a question must not find its own calls among the examples
            examples = [example for example in candidates if include_itself or example.question != question]
            choices.append(self._keep_count(neighbourhood, examples))
        return choices

    def _keep_count(self, neighbourhood: Neighbourhood, examples: Sequence[Example]) -> Neighbourhood:
        """As many examples as the settings say: the first of the fixed ones, the most similar of the others."""
        if self._fixed is not None:
            return Neighbourhood(neighbourhood.domain, tuple(examples[: self._count]))

        # The most similar one is the last. Not `examples[-count:]`: without examples (0) that would be all of them.
        start = max(0, len(examples) - self._count)
        return neighbourhood._replace(examples=tuple(examples[start:]))

    def _neighbourhoods(
        self,
        questions: Sequence[str],
        domains: Sequence[Domain | None],
        *,
        include_itself: bool,
    ) -> list[Neighbourhood]:
        """The similar examples, one more if the question itself may be among them; of fixed ones only the domain."""
        count = 0
        if self._fixed is None:
            count = self._count if include_itself else self._count + 1

        known_domains = [domain for domain in domains if domain is not None]
        if count == 0 and len(known_domains) == len(domains):
            # Nothing to compare: the encoder is not needed.
            return [Neighbourhood(domain, ()) for domain in known_domains]
        return self._index.nearest(questions, domains, count)
