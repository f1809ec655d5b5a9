"""Batches as the evaluator hands them over, and agents around a model, for tests of the whole agent."""

from collections.abc import Mapping, Sequence
from typing import Any

from crag.core.contracts import Answer, Trace
from crag.engines.llm import LanguageModel, load_language_model
from crag.pipeline.agent import CragAgent
from crag.settings import Settings
from crag.web import WebPath

ASKED_AT = "03/05/2024, 23:18:31 PT"


def page(html: str, number: int = 0, name: str = "Page", snippet: str = "") -> dict[str, str]:
    """A search result."""
    result = {"page_name": name, "page_url": f"https://site{number}.example/page", "page_snippet": snippet}
    return result | {"page_result": html, "page_last_modified": ""}


def batch_of(questions: Sequence[object], pages: Sequence[object]) -> dict[str, list[Any]]:
    """Every question gets the same pages."""
    return {
        "interaction_id": [f"id-{number}" for number in range(len(questions))],
        "query": list(questions),
        "search_results": [list(pages) for _ in questions],
        "query_time": [ASKED_AT] * len(questions),
    }


def agent_of(
    settings: Settings, model: LanguageModel | None = None, *parts: Any, web: WebPath | None = None, **named: Any
) -> CragAgent:
    """A warm agent; without a model that of the settings, without a web path one that needs no weights."""
    model = model or load_language_model(settings.language_model)
    agent = CragAgent(settings, model, web or WebPath(settings.web, None, None, model), *parts, **named)
    agent.warm_up()
    return agent


def ask(agent: CragAgent, question: str, *pages: Mapping[str, str]) -> tuple[Answer, Trace]:
    """The answer to a batch of one question, and its trace."""
    (answer,), (trace,) = agent.answer_batch(batch_of([question], pages))
    return answer, trace
