"""What `tables.json` says about each table of a folder."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

Domain = Literal["movie", "music", "finance"]


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    domain: Domain
    label: str
    """What a fact names as its source."""
    source: str
    licence: str


class EntityTable(_Table):
    """Every row is one entity, every column an attribute."""

    layout: Literal["entities"]
    names: Annotated[tuple[str, ...], Field(min_length=1)]
    """Columns that hold names; the first is the main one."""
    hidden: tuple[str, ...] = ()
    """Columns left out of sentences, such as aliases."""
    quoted: tuple[str, ...] = ()
    """Columns of titles."""
    year: str | None = None
    """Column that distinguishes namesakes."""
    companies: bool = False
    """Names of companies also count without their legal form."""
    inverse: dict[str, str] = Field(default_factory=dict)
    """Column of people -> what the rows are to them: the people become entities with the list of their rows."""


class AwardTable(_Table):
    """Every row is one award given or missed (`AwardWin`); it gives facts about award, work and person."""

    layout: Literal["awards"]
    prize: str
    won: str
    """Attribute of works and people: ``Academy Award{s} won``."""
    nominated: str
    work: str
    """What the awarded work is: ``film``."""
    aliases: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Award -> other names of it."""


TableDescription = Annotated[EntityTable | AwardTable, Field(discriminator="layout")]
INDEX_FORMAT: TypeAdapter[dict[str, TableDescription]] = TypeAdapter(dict[str, TableDescription])
"""File name -> description."""
