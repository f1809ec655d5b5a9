"""What a table needs to be filled for one question: the server, the time of asking, and a place for remarks."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from agents.kg.client import KgSession
from agents.kg.endpoints import Argument, Request, request
from agents.kg.language import Condition
from agents.kg.results import KgError, MeaninglessCallError
from agents.questions import Calendar, ResolvedDate, resolve_date


@dataclass(slots=True)
class LookupContext:
    """One question on its way through the graph.

    `remarks` say how names and dates were understood. `unread` counts the records of the statement that could not be
    read; with any of them, an empty result proves nothing.
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
        """The days that an expression means at the time of the question.

        Raises:
            MeaninglessCallError: it is no date.
        """
        moment = self.asked_at or datetime.now()  # without a time only absolute dates make sense, and they ignore it
        resolved = resolve_date(expression, moment, calendar)
        if resolved is None:
            raise MeaninglessCallError(f'"{expression}" is no date')
        if resolved.explanation and resolved.range is not None and not expression[:4].isdigit():
            self.remark(resolved.explanation)
        return resolved

    def ask(self, endpoint: str, **payload: Argument) -> Any:  # noqa: ANN401 - the client has checked the endpoint's shape
        """The result, as decoded JSON of the endpoint's shape (`agents.kg.endpoints`); raises `KgError`."""
        return self.session.get(request(endpoint, **payload))

    def ask_all(self, endpoint: str, queries: Sequence[str | int]) -> list[Any]:
        """The results for many queries, in order; see `ask_each`."""
        return self.ask_each([request(endpoint, query=query) for query in queries])

    def ask_each(self, calls: Sequence[Request]) -> list[Any]:
        """The result of each call, in order, asked at once; None where it could not be read.

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
class TableQuery:
    """What one statement asks of a table, and what will be read of its rows, so that no HTTP call is made in vain.

    `names` has a name for each parameter, None: any. `conditions` are a hint that saves calls: the executor applies
    them to all rows. `keys` are those that a statement names; `whole`: the whole record is shown.
    """

    names: tuple[str | None, ...]
    conditions: tuple[Condition, ...] = ()
    keys: frozenset[str] = frozenset()
    whole: bool = False

    def reads(self, key: str) -> bool:
        """Whether a key is read, by name or as part of the record."""
        return self.whole or key in self.keys

    def name(self, what: str) -> str:
        """The first name. Raises `MeaninglessCallError` where there is none."""
        if self.names[0] is None:
            raise MeaninglessCallError(f"the call needs {what}")
        return self.names[0]


def days_text(first: date, last: date) -> str:
    """A span of days for people."""
    return first.isoformat() if first == last else f"{first.isoformat()} to {last.isoformat()}"


def name_list(names: Sequence[str], most: int = 4) -> str:
    """Some names for an explanation."""
    shown = ", ".join(f'"{name}"' for name in names[:most])
    return shown or "nothing"
