"""What a table needs to be filled for one question: the server, the moment of asking, and a place for remarks."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from agents.kg.client import KgError, KgSession, Request, request
from agents.kg.endpoints import Argument
from agents.questions import Calendar, MomentKind, ResolvedDate, resolve_date


class NotFoundError(Exception):
    """The server knows no such entity; the message says what was looked for and what was found instead."""


class NoGameError(NotFoundError):
    """A team that the graph knows has no game on the date asked for."""


class MeaninglessCallError(Exception):
    """A call that can be read but not carried out, such as an Oscar list of no film, no person and no year."""


@dataclass(slots=True)
class LookupContext:
    """One question on its way through the graph.

    `remarks` collects how names and dates were understood, `unread` counts the records that should have been read for
    the statement and could not be: while there are any, that nothing was found means nothing.
    """

    session: KgSession
    asked_at: datetime | None
    max_rows: int
    remarks: list[str] = field(default_factory=list)
    unread: int = 0

    def start_anew(self) -> None:
        """Forget what was noted for the statement before."""
        self.remarks.clear()
        self.unread = 0

    def resolve(self, expression: str, calendar: Calendar) -> ResolvedDate:
        """The days that an expression means when it is said at the time of the question.

        Raises:
            MeaninglessCallError: it is no date.
        """
        moment = self.asked_at or datetime.now()  # without a time only absolute dates make sense, and they ignore it
        resolved = resolve_date(expression, moment, calendar)
        if resolved is None:
            raise MeaninglessCallError(f'"{expression}" is no date')
        if resolved.explanation and resolved.range is not None and not _is_absolute(expression):
            self.remark(resolved.explanation)
        return resolved

    def ask(self, endpoint: str, **payload: Argument) -> Any:  # noqa: ANN401 - the client has checked the endpoint's shape
        """What the server says, as decoded JSON of the endpoint's shape (`agents.kg.endpoints`); raises `KgError`."""
        return self.session.get(request(endpoint, **payload))

    def ask_all(self, endpoint: str, queries: Sequence[str | int]) -> list[Any]:
        """The same of many at once, in order; see `ask_each`."""
        return self.ask_each([request(endpoint, query=query) for query in queries])

    def ask_each(self, calls: Sequence[Request]) -> list[Any]:
        """What the server says to each call, in order, asked at once; None where it could not be read.

        Raises:
            KgError: not one could be read.
        """
        found: list[Any] = list(self.session.get_all(calls))
        faults = [each for each in found if isinstance(each, KgError)]
        if faults and len(faults) == len(found):
            raise faults[0]
        if faults:
            self.unread += len(faults)
            self.remark(f"{len(faults)} of {len(found)} records could not be read ({faults[0]})")
        return [None if isinstance(each, KgError) else each for each in found]

    def remark(self, text: str) -> None:
        """Note something once."""
        if text not in self.remarks:
            self.remarks.append(text)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which keys of a table's rows will be looked at, so that no call is made in vain.

    `keys` are asked for by name; `whole`: the record is to be told, with whatever belongs to it.
    """

    keys: frozenset[str]
    whole: bool = False

    def __contains__(self, key: str) -> bool:
        return self.whole or key in self.keys

    def names(self, key: str) -> bool:
        """Whether the key is asked for by name."""
        return key in self.keys


def days_text(first: date, last: date) -> str:
    """A span of days for people."""
    return first.isoformat() if first == last else f"{first.isoformat()} to {last.isoformat()}"


def name_list(names: Sequence[str], most: int = 4) -> str:
    """Some names for an explanation."""
    shown = ", ".join(f'"{name}"' for name in names[:most])
    return shown or "nothing"


def _is_absolute(expression: str) -> bool:
    return expression[:4].isdigit()


__all__ = [
    "Calendar",
    "LookupContext",
    "MeaninglessCallError",
    "MomentKind",
    "NoGameError",
    "NotFoundError",
    "Wanted",
    "days_text",
    "name_list",
]
