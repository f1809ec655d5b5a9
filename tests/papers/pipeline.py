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

from agents.contracts import Answer, Trace
from agents.crag_agent import CragAgent
from agents.deadline import Deadline
from agents.encoders.base import Vectors
from agents.llm import Generation, GenerationRequest
from agents.llm.scripted_engine import ScriptedLanguageModel
from agents.settings import ScriptedEngine, load_settings
from tests.agents.web.fakes import HashedWords, SharedWords

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


class RecordedDense(HashedWords):
    """Cosines of bags of words, or what `cosine` gives a text; `calls` holds the texts of each call for passages."""

    def __init__(self, cosine: Callable[[str], float] | None = None) -> None:
        super().__init__()
        self._cosine = cosine

    def check_weights(self) -> None:
        """There are none."""

    def leave_behind(self, patience: float) -> bool:
        """Nothing hangs here."""
        return False

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


class RecordedCross(SharedWords):
    """The logit is `logit` of question and text, by default the number of shared words less 1."""

    def __init__(self, logit: Callable[[str, str], float] | None = None) -> None:
        super().__init__()
        self._logit = logit

    def check_weights(self) -> None:
        """There are none."""

    def leave_behind(self, patience: float) -> bool:
        """Nothing hangs here."""
        return False

    def score(self, pairs: Sequence[tuple[str, str]], deadline: Deadline | None = None) -> list[float | None]:
        scores = super().score(pairs, deadline)
        return [self._logit(*pair) for pair in pairs] if self._logit else scores

    @property
    def texts(self) -> list[str]:
        """What the last call compared with the question."""
        return [text for _, text in self.calls[-1]]


class FixedRoute:
    """A router that says the same about every question."""

    def __init__(self, **labels: str) -> None:
        self._route = {name: {"label": label} for name, label in labels.items()}

    def check_weights(self) -> None: ...

    def warm_up(self) -> None: ...

    def close(self) -> None: ...

    def route(self, queries: Sequence[object], deadline: Deadline) -> list[dict[str, Any]]:
        return [dict(self._route) for _ in queries]


@dataclass
class Pipeline:
    """An agent built from a preset's settings by the agent's own `from_settings`, and its recorders."""

    agent: CragAgent
    model: RecordedModel
    dense: RecordedDense
    cross: RecordedCross

    def ask(self, question: str, *pages: Mapping[str, str]) -> tuple[Answer, Trace]:
        (answer,), (trace,) = self.agent.answer_batch(
            {
                "interaction_id": ["id"],
                "query": [question],
                "search_results": [list(pages)],
                "query_time": ["03/05/2024, 23:18:31 PT"],
            }
        )
        return answer, trace


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
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("agents.crag_agent.require_weights", lambda _: None)
        patch.setattr("agents.crag_agent.load_language_model", lambda _: model)
        patch.setattr("agents.crag_agent.load_dense_encoder", lambda _: dense)
        patch.setattr("agents.crag_agent.load_cross_encoder", lambda _: cross)
        if route is not None:
            patch.setattr("agents.crag_agent.open_router", lambda *_: route)
        if graph is None:
            patch.delenv("CRAG_MOCK_API_URL", raising=False)
        else:
            patch.setenv("CRAG_MOCK_API_URL", graph)
        agent = CragAgent.from_settings(settings)
        agent.warm_up()
        model.batches.clear()
        dense.calls.clear()
        try:
            yield Pipeline(agent, *parts)
        finally:
            agent.close()


def page(html: str, number: int = 0, name: str = "Page", snippet: str = "") -> dict[str, str]:
    """A search result as the evaluator hands it over."""
    return {
        "page_name": name,
        "page_url": f"https://site{number}.example/page",
        "page_snippet": snippet,
        "page_result": html,
        "page_last_modified": "",
    }


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
