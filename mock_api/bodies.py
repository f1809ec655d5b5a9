"""Request bodies of the official server. Numbers may come as digits in a string; strings may not come as numbers."""

from pydantic import BaseModel


class Text(BaseModel):
    """A name, title, ticker or year as text."""

    query: str


class Number(BaseModel):
    """An id or a year."""

    query: int


class ChartRank(BaseModel):
    """A rank of the Hot 100, on one day or on all days."""

    rank: int
    date: str | None = None


class ChartAttribute(BaseModel):
    """One attribute of a song in the chart of a day."""

    date: str
    attribute: str
    song_name: str


class GamesOnDate(BaseModel):
    """A day, month or year (YYYY[-MM[-DD]]), of one team or of all."""

    date: str
    team_name: str | None = None


class GameIds(BaseModel):
    """Ids of NBA games."""

    game_ids: list[str]
