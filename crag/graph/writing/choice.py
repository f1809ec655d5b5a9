"""Chooses the examples for a question: the most similar ones of the bank, or fixed ones for a domain.

Similarity mixes two cosines: of the questions (domain and topic), and of their forms without names (the calls): "who
directed rear window?" and "who directed jaws?" have one form. Names are the words that do not recur in the bank.
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
from crag.graph.language import Call
from crag.graph.schema import Domain
from crag.graph.writing.bank import Example, load_bank, load_folder
from crag.settings import KgWriterSettings

FORM_WEIGHT = 1 / 3
"""Weight of the form; values from 1/4 to 1/2 change little."""
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
        self._form = QuestionForm(bank)
        self._questions = [example.question for example in bank]
        self._forms = [self._form.of(_without_names(example)) for example in bank]
        self._dense = dense
        self._words = WordVectors([*self._questions, *self._forms])

    @functools.cached_property
    def vectors(self) -> Vectors:
        """The bank, one row per example, encoded on first use; loads the encoder."""
        if self._dense is None:
            questions = self._words.encode(self._questions)
            forms = self._words.encode(self._forms)
        else:
            self._dense.warm_up()
            questions = encode_with_cache(self._dense, self._questions)
            forms = encode_with_cache(self._dense, self._forms)
        return _joined(questions, forms)

    def nearest(
        self,
        questions: Sequence[str],
        domains: Sequence[Domain | None],
        count: int,
    ) -> list[Neighbourhood]:
        """For each question its domain (chosen by vote if None) and its `count` most similar examples."""
        if not questions:
            return []

        forms = [self._form.of(question) for question in questions]
        vectors = _joined(self._encode(questions), self._encode(forms))
        similarities = vectors @ self.vectors.T  # questions x examples

        neighbourhoods: list[Neighbourhood] = []
        for similarity, known_domain in zip(similarities, domains, strict=True):
            # Stable: equally similar examples stay in the order of the bank, in every run
            best_first = np.argsort(-similarity, kind="stable")
            domain = known_domain or self._vote(similarity, best_first[:VOTERS])

            # The most similar example comes last: next to the question in the prompt.
            of_domain = [index for index in best_first if self._bank[index].domain is domain]
            examples = [self._bank[index] for index in of_domain[:count]]
            examples.reverse()

            best_similarity = float(similarity[of_domain[0]])
            neighbourhoods.append(Neighbourhood(domain, tuple(examples), best_similarity))
        return neighbourhoods

    def _encode(self, texts: Sequence[str]) -> Vectors:
        if self._dense is None:
            return self._words.encode(texts)
        # Questions are compared with questions, so none gets the query instruction.
        vectors, _ = self._dense.encode_passages(texts)
        return vectors

    def _vote(self, similarity: Vectors, nearest: Iterable[int]) -> Domain:
        """The domain of most of the nearest examples, weighted by their similarity."""
        votes: dict[Domain, float] = defaultdict(float)
        for index in nearest:
            distance_to_best = float(similarity[index] - similarity.max())
            # The best example has a whole vote, the others less the farther they are behind
            votes[self._bank[index].domain] += exp(VOTE_SHARPNESS * distance_to_best)
        return max(votes, key=lambda domain: votes[domain])


def _joined(questions: Vectors, forms: Vectors) -> Vectors:
    """Both kinds of vector concatenated, so the dot product is the weighted mean of both cosines."""
    weighted = [questions * sqrt(1 - FORM_WEIGHT), forms * sqrt(FORM_WEIGHT)]
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


class QuestionForm:
    """Replaces names by marks. A word is not a name if at least two questions of a bank use it outside names.

    Example: "who directed rear window?" has the form "who directed # ?".
    """

    def __init__(self, examples: Iterable[Example]) -> None:
        counts: Counter[str] = Counter()
        for example in examples:
            counts.update(set(_words(_without_names(example))))
        self._vocabulary = frozenset(word for word, count in counts.items() if count > 1)

    def of(self, question: str) -> str:
        """The form of a question: recurring words stay, each run of other words becomes one mark."""
        form: list[str] = []
        for word in _words(_NUMBER.sub(MARK, question)):
            # "film's" stays if "film" recurs
            if word in self._vocabulary or word.removesuffix("'s") in self._vocabulary:
                form.append(word)
            elif not form or form[-1] != MARK:
                form.append(MARK)
        return " ".join(form)


def _words(text: str) -> Sequence[str]:
    return _WORD.findall(text.lower().replace("’", "'"))


def _without_names(example: Example) -> str:
    """The question with numbers and its calls' arguments (if word for word in it) replaced by marks."""
    names: set[str] = set()
    for statement in example.program.statements:
        if not isinstance(statement, Call):
            continue
        for argument in statement.arguments:
            if isinstance(argument, str):
                names.add(argument)
            elif isinstance(argument, tuple):
                names.update(argument)

    # Longest first: "rocky ii" before "rocky".
    text = example.question.lower()
    for name in sorted(names, key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(name.lower())}(?!\w)", MARK, text)
    return _NUMBER.sub(MARK, text)


class ExampleChoice:
    """Chooses examples by the settings, for the writer and for training; `BankError`: the fixed ones are unusable."""

    def __init__(self, settings: KgWriterSettings, dense: DenseEncoder | None) -> None:
        self._index = ExampleIndex(load_bank(), dense)
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
            domain = neighbourhood.domain
            candidates = neighbourhood.examples if self._fixed is None else self._fixed[domain]
            # In training, a question must not find its own calls among the examples
            examples = [example for example in candidates if include_itself or example.question != question]

            if self._fixed is not None:
                first_examples = tuple(examples[: self._count])
                choices.append(Neighbourhood(domain, first_examples))
                continue

            # The most similar one is the last.
            start = max(0, len(examples) - self._count)
            nearest = tuple(examples[start:])
            choices.append(neighbourhood._replace(examples=nearest))
        return choices

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
