"""Which examples of the bank are most like a question: db3 (section 3.2) expected much of it and had not built it.

Two likenesses are mixed: that of the questions as they are, which tells the domain and the topic, and that of their
forms without names (`agents.kg.writing.form`), which tells the calls.
"""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log, sqrt

import numpy as np

from agents.encoders.base import DenseEncoder, Vectors
from agents.kg.schema import Domain
from agents.kg.writing.bank import Example
from agents.kg.writing.form import QuestionForm

FORM_WEIGHT = 1 / 3
"""Share of the form in the likeness. Between 1/4 and 1/2 little changes (`benchmarks/kg_writing.py --nearest`)."""
VOTERS = 5
"""How many of the nearest examples choose the domain of a question."""
VOTE_SHARPNESS = 12.0
"""A neighbour whose likeness is 0.1 lower than the best one's has exp(-1.2), a third of its vote."""


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """The domain of a question and the chosen examples of that domain, the most similar one last."""

    domain: Domain
    examples: tuple[Example, ...]


class ExampleIndex:
    """The bank as vectors, by a dense encoder or, without one, by weighted words; built by `warm_up`."""

    def __init__(self, bank: Sequence[Example], dense: DenseEncoder | None) -> None:
        self._bank = bank
        self._domains = np.array([example.domain.value for example in bank])
        self._form = QuestionForm(bank)
        self._questions = [example.question for example in bank]
        self._forms = [self._form.of_example(example) for example in bank]
        self._dense = dense
        self._words = WordVectors([*self._questions, *self._forms])
        self._vectors: Vectors | None = None

    def warm_up(self) -> None:
        """Load the encoder and encode the bank, once; raises `models.manifest.WeightsMissingError`."""
        self._bank_vectors()

    def _bank_vectors(self) -> Vectors:
        if self._vectors is None:
            if self._dense is not None:
                self._dense.warm_up()
            self._vectors = self._encode(self._questions, self._forms)
        return self._vectors

    def _encode(self, questions: Sequence[str], forms: Sequence[str]) -> Vectors:
        """Both kinds of vector side by side, so that the dot product is the weighted mean of both cosines."""
        if self._dense is None:
            parts = self._words.encode(questions), self._words.encode(forms)
        else:
            # Questions are compared with questions: none of them gets the instruction that queries get.
            parts = self._dense.encode_passages(questions)[0], self._dense.encode_passages(forms)[0]
        return np.hstack([parts[0] * sqrt(1 - FORM_WEIGHT), parts[1] * sqrt(FORM_WEIGHT)]).astype(np.float32)

    def nearest(self, questions: Sequence[str], domains: Sequence[Domain | None], count: int) -> list[Neighbourhood]:
        """For each question its domain, voted for where it is None, and the `count` most similar examples of it."""
        if not questions:
            return []
        vectors = self._encode(questions, [self._form.of(question) for question in questions])
        likenesses = vectors @ self._bank_vectors().T
        return [
            self._neighbourhood(likeness, domain, count) for likeness, domain in zip(likenesses, domains, strict=True)
        ]

    def _neighbourhood(self, likeness: Vectors, domain: Domain | None, count: int) -> Neighbourhood:
        chosen = domain or self._vote(likeness)
        order = np.argsort(-np.where(self._domains == chosen.value, likeness, -2.0), kind="stable")
        own = int((self._domains == chosen.value).sum())
        best = [self._bank[place] for place in order[: min(count, own)]]
        return Neighbourhood(chosen, tuple(reversed(best)))

    def _vote(self, likeness: Vectors) -> Domain:
        order = np.argsort(-likeness, kind="stable")[:VOTERS]
        votes: dict[Domain, float] = defaultdict(float)
        for place in order:
            votes[self._bank[place].domain] += exp(VOTE_SHARPNESS * float(likeness[place] - likeness[order[0]]))
        return max(votes, key=lambda domain: votes[domain])


class WordVectors:
    """Unit vectors of weighted words: TF-IDF over the texts it is made with; words unknown to them have no weight."""

    def __init__(self, texts: Sequence[str]) -> None:
        counts = Counter(word for text in texts for word in set(text.lower().split()))
        self._places = {word: place for place, word in enumerate(counts)}
        self._weights = np.array([log(len(texts) / count) + 1 for count in counts.values()], dtype=np.float32)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """One row per text; a text of unknown words only is all zero."""
        vectors = np.zeros((len(texts), len(self._places)), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().replace("?", " ").split():
                place = self._places.get(word)
                if place is not None:
                    vectors[row, place] += self._weights[place]
        unit: Vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        return unit
