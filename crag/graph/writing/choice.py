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
        words, self._dense = WordVectors([*self._questions, *self._forms]), dense
        self._encode = words.encode if dense is None else lambda texts: dense.encode_passages(texts)[0]

    @functools.cached_property
    def vectors(self) -> Vectors:
        """The bank, encoded on first use; loads the encoder."""
        if self._dense is None:
            return _joined(self._encode(self._questions), self._encode(self._forms))
        self._dense.warm_up()
        return _joined(encode_with_cache(self._dense, self._questions), encode_with_cache(self._dense, self._forms))

    def nearest(self, questions: Sequence[str], domains: Sequence[Domain | None], count: int) -> list[Neighbourhood]:
        """For each question its domain (chosen by vote if None) and its `count` most similar examples."""
        if not questions:
            return []
        # Questions are compared with questions, so none gets the query instruction.
        vectors = _joined(self._encode(questions), self._encode([self._form.of(question) for question in questions]))
        near = []
        for similarity, given in zip(vectors @ self.vectors.T, domains, strict=True):
            order = np.argsort(-similarity, kind="stable")
            domain = given or self._vote(similarity, order[:VOTERS])
            places = [place for place in order if self._bank[place].domain is domain]
            shown = tuple(self._bank[place] for place in reversed(places[:count]))
            near.append(Neighbourhood(domain, shown, float(similarity[places[0]])))
        return near

    def _vote(self, similarity: Vectors, nearest: Iterable[int]) -> Domain:
        votes: dict[Domain, float] = defaultdict(float)
        for place in nearest:
            votes[self._bank[place].domain] += exp(VOTE_SHARPNESS * float(similarity[place] - similarity.max()))
        return max(votes, key=lambda domain: votes[domain])


def _joined(whole: Vectors, form: Vectors) -> Vectors:
    """Both kinds of vector concatenated, so the dot product is the weighted mean of both cosines."""
    return np.hstack([whole * sqrt(1 - FORM_WEIGHT), form * sqrt(FORM_WEIGHT)]).astype(np.float32)


class WordVectors:
    """Unit vectors of words with TF-IDF weights from the given texts; other words have no weight."""

    def __init__(self, texts: Sequence[str]) -> None:
        counts = Counter(word for text in texts for word in set(text.lower().split()))
        self._places = {word: place for place, word in enumerate(counts)}
        self._weights = np.array([log(len(texts) / count) + 1 for count in counts.values()], dtype=np.float32)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """One row per text; a text with only unknown words is all zero."""
        vectors = np.zeros((len(texts), len(self._places)), dtype=np.float32)
        for row, text in enumerate(texts):
            known = [self._places[word] for word in text.lower().replace("?", " ").split() if word in self._places]
            np.add.at(vectors[row], known, self._weights[known])
        unit: Vectors = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        return unit


class QuestionForm:
    """Replaces names by marks. A word is no name if at least two questions of a bank use it outside names."""

    def __init__(self, examples: Iterable[Example]) -> None:
        counts = Counter(word for each in examples for word in set(_words(_without_names(each))))
        self._vocabulary = frozenset(word for word, count in counts.items() if count > 1)

    def of(self, question: str) -> str:
        """The form of a question: recurring words stay, each run of other words becomes one mark."""
        kept: list[str] = []
        for word in _words(_NUMBER.sub(MARK, question)):
            if word in self._vocabulary or word.removesuffix("'s") in self._vocabulary:
                kept.append(word)
            elif not kept or kept[-1] != MARK:
                kept.append(MARK)
        return " ".join(kept)


def _words(text: str) -> Sequence[str]:
    return _WORD.findall(text.lower().replace("’", "'"))


def _without_names(example: Example) -> str:
    """The question with numbers and its calls' arguments (if word for word in it) replaced by marks."""
    text = example.question.lower()
    calls = (statement for statement in example.program.statements if isinstance(statement, Call))
    names: set[str] = set()
    for argument in (argument for call in calls for argument in call.arguments):
        names.update((argument,) if isinstance(argument, str) else argument if isinstance(argument, tuple) else ())
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
        self, questions: Sequence[str], domains: Sequence[Domain | None], *, own: bool = True
    ) -> list[Neighbourhood]:
        """For each question its domain and examples; with `own` also itself, unlike in training."""
        similar = self._count + (not own) if self._fixed is None else 0
        if similar or None in domains:
            near_by = self._index.nearest(questions, domains, similar)
        else:
            near_by = [Neighbourhood(domain, ()) for domain in domains if domain is not None]
        chosen = []
        for question, near in zip(questions, near_by, strict=True):
            shown = near.examples if self._fixed is None else self._fixed[near.domain]
            examples = tuple(example for example in shown if own or example.question != question)
            if self._fixed is None:  # the most similar one is the last
                chosen.append(near._replace(examples=examples[max(0, len(examples) - self._count) :]))
            else:
                chosen.append(Neighbourhood(near.domain, examples[: self._count]))
        return chosen
