"""Settings of the public data that ship with a submission."""

from typing import Annotated, Literal

from pydantic import Field, PositiveInt

from crag.settings.base import StrictModel
from crag.settings.places import LocalPath

LinkLevel = Literal["exact", "substring", "similarity"]


class LinkSettings(StrictModel):
    """How much a mention may differ from a name in the tables (db3 2.3: from strict to lenient, by domain)."""

    level: LinkLevel = "exact"
    """Each level includes the stricter ones."""
    minimum_similarity: Annotated[float, Field(ge=-1, le=1)] = 0.8
    """Lowest cosine of the vectors of two equal names (level ``similarity``). With bge-small-en-v1.5 and one typo a
    name, 0.8 links 38 % of films and awards correctly and 2 % wrongly, of companies 33 % and 23 %."""


class PublicDataSettings(StrictModel):
    """Facts shipped with the submission, and how to find them (db3 2.3)."""

    tables: LocalPath | None = None
    """Folder made by ``crag data tables``, relative to the repository; None: the shipped one."""
    method: Literal["prompt", "spans"] = "prompt"
    """``prompt``: the language model names entities, with a prompt for the router's domain (db3). ``spans``: finds
    names of the tables in the question."""
    links: dict[Literal["movie", "music", "finance"], LinkSettings] = Field(default_factory=dict)
    """By domain; other domains need exact names."""
    max_entities: PositiveInt = 4
    """At most this many paragraphs per question."""
    max_items: PositiveInt = 12
    """Longer lists in a paragraph are cut."""
    max_new_tokens: Annotated[int, Field(ge=4, le=256)] = 64
    """For the entities of one question (method ``prompt``)."""
