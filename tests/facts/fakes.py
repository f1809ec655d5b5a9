"""Entities, questions and models for the tests of the public-data path."""

from collections.abc import Sequence

from crag.core.contracts import Query
from crag.core.deadline import Deadline
from crag.engines.llm.base import Generation, GenerationRequest
from crag.engines.llm.scripted_engine import ScriptedLanguageModel
from crag.facts.entities import Entity
from crag.settings import ScriptedEngine

SOON = 600.0


def query(text: str, number: int = 1) -> Query:
    return Query(str(number), text, "", None, ())


def entity(name: str, domain: str = "movie", *years: int, names: tuple[str, ...] = (), table: str = "t") -> Entity:
    reported = {"name": (f"{name} {years[0]}" if years else name,)}
    return Entity((name, *names), domain, table, reported, years)


class CountedModel(ScriptedLanguageModel):
    """A scripted model that remembers how many requests each call had."""

    def __init__(self, replies: dict[str, str], **settings: object) -> None:
        super().__init__(ScriptedEngine.model_validate({"engine": "scripted", "replies": replies, **settings}))
        self.calls: list[int] = []

    def generate(self, requests: Sequence[GenerationRequest], deadline: Deadline) -> list[Generation]:
        self.calls.append(len(requests))
        return super().generate(requests, deadline)
