"""Encoders and a token counter that need no weights and whose results can be worked out by hand."""

import re
import time
from collections.abc import Sequence

import numpy as np

from crag.core.contracts import Page, Passage, PassageKind, Query
from crag.core.deadline import BatchClock, Deadline
from crag.engines.encoders.base import Vectors

SHARES = {"select_pages": 1.0, "extract": 2.0, "retrieve": 1.0, "rerank": 2.0, "generate": 1.0}


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


class HashedWords:
    """A dense encoder: a text is the bag of its words, hashed into 256 places. Encodes `at_most` texts in a call."""

    def __init__(self, at_most: int | None = None) -> None:
        self.at_most = at_most
        self.calls: list[list[str]] = []

    def warm_up(self) -> None:
        pass

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        return np.array([self._vector(text) for text in texts], dtype=np.float32).reshape(len(texts), 256)

    def encode_passages(self, texts: Sequence[str], deadline: Deadline | None = None) -> tuple[Vectors, int]:
        self.calls.append(list(texts))
        vectors = self.encode_queries(texts)
        done = len(texts) if self.at_most is None else min(self.at_most, len(texts))
        vectors[done:] = 0
        return vectors, done

    def token_offsets(self, text: str) -> list[tuple[int, int]]:
        return [match.span() for match in re.finditer(r"\w+|[^\w\s]", text)]

    def _vector(self, text: str) -> list[float]:
        vector = np.zeros(256)
        for word in words(text):
            vector[sum(map(ord, word)) * 31 % 256] += 1.0
        return list(vector / max(float(np.linalg.norm(vector)), 1e-9))


class SharedWords:
    """A cross-encoder: the logit is the number of distinct shared words, less 1. Scores the first `at_most` pairs."""

    def __init__(self, at_most: int | None = None) -> None:
        self.at_most = at_most
        self.calls: list[list[tuple[str, str]]] = []

    def warm_up(self) -> None:
        pass

    def score(self, pairs: Sequence[tuple[str, str]], deadline: Deadline | None = None) -> list[float | None]:
        self.calls.append(list(pairs))
        logits: list[float | None] = [len(set(words(query)) & set(words(text))) - 1.0 for query, text in pairs]
        if self.at_most is not None:
            logits[self.at_most :] = [None] * len(logits[self.at_most :])
        return logits


class WordTokens:
    """A token counter for which every word is a token."""

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    def truncate(self, text: str, max_tokens: int) -> str:
        ends = [match.end() for match in re.finditer(r"\S+", text)]
        return text if len(ends) <= max_tokens else text[: ends[max_tokens - 1]] if max_tokens else ""


def clock(seconds: float = 600.0) -> BatchClock:
    return BatchClock(seconds, 0.0, SHARES, time.monotonic)


def page(html: str, rank: int = 0, *, name: str = "Page", url: str | None = None, snippet: str = "") -> Page:
    return Page(name, url or f"https://www.example.org/{rank}", snippet, html, rank)


def query(text: str, *pages: Page, identifier: str = "q") -> Query:
    return Query(identifier, text, "03/05/2024, 23:18:31 PT", None, tuple(pages))


def passage(text: str, url: str = "https://www.example.org/a", rank: int = 0, **scores: float) -> Passage:
    return Passage(text, url, "Page", rank, PassageKind.PAGE, 0, len(text), scores)
