"""A paper's preset at work without its weights: the agent's own code, with recorders in the places of the models.

Only the three loaders and the check for weights are replaced. What the presets ask the models for, in which order and
with which texts, is what the agent does with any model.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from crag.core.contracts import Answer, Classification, Route, Trace
from crag.core.deadline import Deadline
from crag.engines.encoders.base import Vectors
from crag.engines.llm import Generation, GenerationRequest
from crag.engines.llm.scripted_engine import ScriptedLanguageModel
from crag.pipeline.agent import CragAgent
from crag.settings import ScriptedEngine, load_settings
from tests.pipeline.asking import ask, page
from tests.web.fakes import HashedWords, SharedWords

Says = Callable[[GenerationRequest], str]
"""What the language model replies to a request."""


def text_of(request: GenerationRequest) -> str:
    """All that the model reads of a request."""
    return request.prompt if request.prompt is not None else "\n".join(turn.content for turn in request.messages)


class RecordedModel(ScriptedLanguageModel):
    """A language model whose tokens are words; `batches` holds the requests of each of its calls."""

    def __init__(self, says: Says) -> None:
        super().__init__(ScriptedEngine(engine="scripted"))
        self._says = says
        self.batches: list[list[GenerationRequest]] = []

    @property
    def requests(self) -> list[GenerationRequest]:
        return [request for batch in self.batches for request in batch]

    def generate(self, requests: Sequence[GenerationRequest], deadline: Deadline) -> list[Generation]:
        self.batches.append(list(requests))
        return [Generation(self._says(request), -0.1, 1, 1, "stop") for request in requests]


class Weightless:
    """What the agent asks of an encoder beside encoding."""

    def check_weights(self) -> None: ...


class RecordedDense(Weightless, HashedWords):
    """Cosines of bags of words, or what `cosine` gives a text; `calls` holds the texts of each call for passages."""

    def __init__(self, cosine: Callable[[str], float] | None = None) -> None:
        super().__init__()
        self._cosine = cosine

    def encode_queries(self, texts: Sequence[str]) -> Vectors:
        if self._cosine is None:
            return super().encode_queries(texts)
        return np.array([[1.0, 0.0] for _ in texts], dtype=np.float32)

    def encode_passages(self, texts: Sequence[str], deadline: Deadline | None = None) -> tuple[Vectors, int]:
        vectors, count = super().encode_passages(texts, deadline)
        if self._cosine is not None:
            cosines = np.array([self._cosine(text) for text in texts], dtype=np.float32)
            vectors = np.stack([cosines, np.sqrt(1 - cosines**2)], axis=1)
        return vectors, count


class RecordedCross(Weightless, SharedWords):
    """The logit is `logit` of question and text, by default the number of shared words less 1."""

    def __init__(self, logit: Callable[[str, str], float] | None = None) -> None:
        super().__init__()
        self._logit = logit

    def score(self, pairs: Sequence[tuple[str, str]], deadline: Deadline | None = None) -> list[float | None]:
        scores = super().score(pairs, deadline)
        return [self._logit(*pair) for pair in pairs] if self._logit else scores

    @property
    def texts(self) -> list[str]:
        """What the last call compared with the question."""
        return [text for _, text in self.calls[-1]]


class FixedRoute(Weightless):
    """A router that says the same about every question."""

    def __init__(self, **labels: str) -> None:
        self._route = Route(**{field: Classification(label) for field, label in labels.items()})

    def warm_up(self) -> None: ...

    def close(self) -> None: ...

    def route(self, queries: Sequence[object], deadline: Deadline) -> list[Route]:
        return [self._route for _ in queries]


@dataclass
class Pipeline:
    """An agent built from a preset's settings by the agent's own `from_settings`, and its recorders."""

    agent: CragAgent
    model: RecordedModel
    dense: RecordedDense
    cross: RecordedCross

    def ask(self, question: str, *pages: Mapping[str, str]) -> tuple[Answer, Trace]:
        return ask(self.agent, question, *pages)


@contextmanager
def pipeline(
    preset: str,
    says: Says,
    *changes: str,
    route: FixedRoute | None = None,
    graph: str | None = None,
    logit: Callable[[str, str], float] | None = None,
    cosine: Callable[[str], float] | None = None,
) -> Iterator[Pipeline]:
    """The preset at work; `route` stands for trained classifiers, `graph` is the address of a knowledge graph."""
    settings = load_settings(preset, ["web.extract.workers=0", *changes])
    parts = RecordedModel(says), RecordedDense(cosine), RecordedCross(logit)
    model, dense, cross = parts
    replaced: dict[str, Any] = {"load_language_model": model, "load_dense_encoder": dense, "load_cross_encoder": cross}
    replaced |= {"require_weights": None} | ({} if route is None else {"open_router": route})
    with pytest.MonkeyPatch.context() as patch:
        for name, part in replaced.items():
            patch.setattr(f"crag.pipeline.agent.{name}", lambda *_, part=part: part)
        patch.delenv("CRAG_MOCK_API_URL", raising=False)
        if graph is not None:
            patch.setenv("CRAG_MOCK_API_URL", graph)
        agent = CragAgent.from_settings(settings)
        agent.warm_up()
        model.batches.clear()
        dense.calls.clear()
        try:
            yield Pipeline(agent, *parts)
        finally:
            agent.close()


def fifty_pages(text: str, name: str, snippet: str, best: Sequence[int]) -> list[dict[str, str]]:
    """Pages that differ by a word; only the best ones have the snippet."""
    return [
        page(paragraphs(f"{text} {word(n)}."), n, f"{name} {n}", snippet if n in best else f"about {word(n)}")
        for n in range(50)
    ]


def paragraphs(*texts: str) -> str:
    return "<html><body>" + "".join(f"<p>{text}</p>" for text in texts) + "</body></html>"


def word(number: int) -> str:
    """An invented word for each number below 456,976."""
    return "w" + "".join(chr(ord("a") + number // 26**place % 26) for place in (3, 2, 1, 0))


def words(first: int, count: int) -> str:
    """So many invented words in a row, each of them once."""
    return " ".join(word(number) for number in range(first, first + count))


def documents(text: str) -> list[str]:
    """What stands between the doc marks of a prompt, without the marks."""
    return [found.strip() for found in re.findall(r"<doc source=[^>]*>(.*?)</doc>", text, re.DOTALL)]
