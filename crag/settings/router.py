"""Settings of the router, which classifies questions."""

from typing import Annotated, Literal

from pydantic import Field, PositiveInt, model_validator

from crag.settings.base import StrictModel
from crag.settings.places import PathOrName


class EncoderRouter(StrictModel):
    """Classifiers tuned from a small encoder, with one forward pass each per batch (NEC 2.2)."""

    engine: Literal["encoder"]
    classifiers: Annotated[tuple[PathOrName, ...], Field(min_length=1, strict=False)]
    """Folders written by `crag train router`: names under `models/routers/`, under `crag/weights/routers/` (shipped) or
    in the cache of fetched models. Each predicts one or more of domain, question_type, static_or_dynamic and
    answerable_from."""
    batch_size: PositiveInt = 16


class PromptRouter(StrictModel):
    """The answering model names the class (db3 2.3 "Domain Prompt"; WeKnow-RAG "Domain classification")."""

    engine: Literal["prompt"]
    prompt: Literal["domain_word", "domain_with_certainty"] = "domain_word"
    """``domain_word``: db3's, one word. ``domain_with_certainty``: WeKnow-RAG's, with a certainty in percent and the
    answer's dynamism."""
    minimum_certainty: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """Below this certainty the domain counts as ``open`` (WeKnow-RAG: 0.9)."""
    adapter: str | None = None
    max_new_tokens: Annotated[int, Field(ge=1, le=128)] = 24

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields of a route that it predicts, without probabilities."""
        return ("domain",) if self.prompt == "domain_word" else ("domain", "static_or_dynamic")

    @model_validator(mode="after")
    def _asks_for_certainty(self) -> "PromptRouter":
        if self.minimum_certainty > 0 and self.prompt == "domain_word":
            raise ValueError("minimum_certainty needs prompt domain_with_certainty: domain_word asks for no certainty")
        return self


RouterSettings = Annotated[EncoderRouter | PromptRouter, Field(discriminator="engine")]
