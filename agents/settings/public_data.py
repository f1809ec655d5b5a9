"""The facts shipped with a submission."""

from typing import Annotated, Literal

from pydantic import Field, PositiveInt

from agents.settings.base import StrictModel

LinkLevel = Literal["exact", "substring", "similarity"]


class LinkSettings(StrictModel):
    """How unlike a name of the tables a mention may be (db3 2.3: from strict to lenient, by domain)."""

    level: LinkLevel = "exact"
    """Each level includes the stricter ones."""
    minimum_similarity: Annotated[float, Field(ge=-1, le=1)] = 0.8
    """Cosine of the dense encoder's vectors below which two names are not the same (level ``similarity``).

    Measured with bge-small-en-v1.5 on the shipped names, one typo each: 0.8 links 38 % of films and awards rightly and
    2 % wrongly. Names of companies are too much alike for it (33 % and 23 %): keep them at ``substring``.
    """


class PublicDataSettings(StrictModel):
    """Facts shipped with the submission and how a question finds them (db3 2.3)."""

    tables: str | None = None
    """Folder made by ``python -m agents.public_data build``, relative to the repository; None: the shipped one."""
    method: Literal["prompt", "spans"] = "prompt"
    """Entities named by the language model (db3), asked in the words of the domain that the router gives; or names of
    the tables found in the question, which needs neither."""
    links: dict[Literal["movie", "music", "finance"], LinkSettings] = Field(default_factory=dict)
    """By domain; a domain that is not named is matched exactly."""
    max_entities: PositiveInt = 4
    """At most this many paragraphs per question."""
    max_items: PositiveInt = 12
    """Longer lists within a paragraph are cut and their length told."""
    max_new_tokens: Annotated[int, Field(ge=4, le=256)] = 64
    """Of the names that the model writes for one question (method ``prompt``)."""
