"""The shapes of the server's records: the types of the fields that tables read.

A reply is checked against them before any table sees it, so that a reply in a form that nobody expects is a fault of
the server, and any exception behind that check a fault of ours. Records may lack fields and have others.
"""

from datetime import date
from typing import Annotated

from pydantic import AfterValidator
from typing_extensions import TypedDict


def _require_empty(value: object) -> object:
    """Raise ValueError for anything but null, an empty string, 0, false, an empty list or object."""
    if value:
        raise ValueError("it has a wrong type")
    return value


def _require_day(time: str) -> str:
    """Raise ValueError unless a time begins with a day: ``2024-02-28 00:00:00 EST``."""
    date.fromisoformat(time[:10])
    return time


Scalar = str | int | float | bool | None
"""What a cell can show or compare."""
Text = str | None
"""What is compared with words of the question, or searched for them."""
Missing = Annotated[object, AfterValidator(_require_empty)]
"""How the server's tables may write a missing list or object."""
DayTime = Annotated[str, AfterValidator(_require_day)]
"""The key of a day's prices."""


class Award(TypedDict, total=False):
    """A nomination for an Oscar."""

    film: Scalar
    name: Text
    category: Scalar
    year_ceremony: Scalar
    ceremony: Scalar
    winner: Scalar


class Member(TypedDict, total=False):
    """Somebody of a film's cast or crew."""

    name: Text
    character: Scalar
    gender: Scalar
    order: Scalar
    job: Scalar


class Genre(TypedDict, total=False):
    """A genre of a film."""

    name: Scalar


class Film(TypedDict, total=False):
    """A film."""

    id: Scalar
    title: Text
    original_title: Scalar
    original_language: Scalar
    release_date: Scalar
    length: Scalar
    rating: Scalar
    budget: Scalar
    revenue: Scalar
    genres: list[Genre] | Missing
    cast: list[Member] | Missing
    crew: list[Member] | Missing
    oscar_awards: list[Award] | Missing


class Person(TypedDict, total=False):
    """Somebody who makes films; films are listed by their ids."""

    name: Text
    birthday: Scalar
    acted_movies: list[int | str] | Missing
    directed_movies: list[int | str] | Missing
    oscar_awards: list[Award] | Missing


class Ceremony(TypedDict, total=False):
    """The Oscars of a year."""

    oscar_awards: list[Award] | Missing


class Company(TypedDict, total=False):
    """A company; its other fields are shown if they hold scalars."""

    companyOfficers: list[object] | Missing


class Article(TypedDict, total=False):
    """An article of the encyclopedia and its info box."""

    summary_text: Text
    summary_structured: dict[str, object] | Missing
