"""How questions are understood before any source is asked."""

from typing import Annotated, Literal

from pydantic import Field, PositiveInt, model_validator

from agents.settings.base import StrictModel


class EncoderRouter(StrictModel):
    """Classifiers tuned from a small encoder: one forward pass per classifier for the whole batch (NEC 2.2)."""

    engine: Literal["encoder"]
    classifiers: Annotated[tuple[str, ...], Field(min_length=1, strict=False)]
    """Folders written by `python -m training.router`: a name under `models/routers/`, or under the cache of fetched
    models. Each knows one or more of domain, question_type and static_or_dynamic."""
    device: str = "cpu"
    batch_size: PositiveInt = 16


class PromptRouter(StrictModel):
    """The answering model says the class (db3 2.3 "Domain Prompt"; WeKnow-RAG "Domain classification")."""

    engine: Literal["prompt"]
    prompt: Literal["domain_word", "domain_with_certainty"] = "domain_word"
    """``domain_word``: db3's, one word. ``domain_with_certainty``: WeKnow-RAG's, with a certainty in percent and how
    fast the answer changes."""
    minimum_certainty: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """A domain of which the model is not more certain than this counts as ``open`` (WeKnow-RAG: 0.9); 0 takes all."""
    adapter: str | None = None
    max_new_tokens: Annotated[int, Field(ge=1, le=128)] = 24

    @property
    def fields(self) -> tuple[str, ...]:
        """What it says of a question, without probabilities."""
        return ("domain",) if self.prompt == "domain_word" else ("domain", "static_or_dynamic")

    @model_validator(mode="after")
    def _certainty_is_asked_for(self) -> "PromptRouter":
        if self.minimum_certainty > 0 and self.prompt == "domain_word":
            raise ValueError("minimum_certainty needs prompt domain_with_certainty: domain_word asks for no certainty")
        return self


RouterSettings = Annotated[EncoderRouter | PromptRouter, Field(discriminator="engine")]
