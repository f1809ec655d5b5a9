"""How answers are asked for, and the clock."""

from typing import Annotated, Literal

from pydantic import Field

from agents.settings.base import StrictModel


class AnsweringSettings(StrictModel):
    """The prompt and decoding of the answer, and the gate in front of it."""

    prompt: Literal["basic", "controlled", "reader", "graph"] = "controlled"
    """A key of `agents.answering.prompts.PROMPTS`."""
    word_limit: Annotated[int, Field(ge=1, le=75)] = 50
    """db3's token_limit: what the prompt asks for."""
    max_new_tokens: Annotated[int, Field(ge=1, le=1024)] = 75
    temperature: Annotated[float, Field(ge=0, le=2)] = 0.0
    top_p: Annotated[float, Field(gt=0, le=1)] = 1.0
    adapter: str | None = None
    minimum_top_score: Annotated[float, Field(ge=0, le=1)] | None = None
    """Abstain where the best passage's cross-encoder probability is not above this (NEC 2.1 step 5: 0.8)."""


class DeadlineSettings(StrictModel):
    """The clock of a batch of n questions: n times `seconds_per_query`, less a reserve, divided by relative shares."""

    seconds_per_query: Annotated[float, Field(gt=0)] = 30.0
    reserve_seconds: Annotated[float, Field(ge=0)] = 4.0
    route: Annotated[float, Field(gt=0)] = 1.0
    knowledge_graph: Annotated[float, Field(gt=0)] = 8.0
    answer_from_graph: Annotated[float, Field(gt=0)] = 6.0
    public_data: Annotated[float, Field(gt=0)] = 1.0
    select_pages: Annotated[float, Field(gt=0)] = 2.0
    extract: Annotated[float, Field(gt=0)] = 4.0
    retrieve: Annotated[float, Field(gt=0)] = 3.0
    rerank: Annotated[float, Field(gt=0)] = 6.0
    generate: Annotated[float, Field(gt=0)] = 12.0

    def shares(self) -> dict[str, float]:
        """Relative weight of each stage, in the order in which they run."""
        sources = ("route", "knowledge_graph", "answer_from_graph", "public_data")
        web = ("select_pages", "extract", "retrieve", "rerank")
        return {name: getattr(self, name) for name in (*sources, *web, "generate")}
