"""The context of one question's calls: the server, the time of asking, and remarks."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from crag.graph.client import KgSession
from crag.graph.endpoints import Argument, Request, request
from crag.graph.language import Condition
from crag.graph.results import KgError, MeaninglessCallError
from crag.text.dates import Calendar, ResolvedDate, resolve_date

MOST_ROWS = 2_000
"""Rows that a statement may hold, more than any real table of one entity has."""


@dataclass(slots=True)
class LookupContext:
    """One question's calls and remarks on how names and dates were understood."""

    session: KgSession
    asked_at: datetime
    remarks: list[str] = field(default_factory=list)
    unread: int = 0
    """Unreadable records of the statement; if there are any, an empty result proves nothing."""

    def resolve(self, expression: str, calendar: Calendar) -> ResolvedDate:
        """Resolve a date expression at the time of the question; `MeaninglessCallError`: it is not a date."""
        resolved = resolve_date(expression, self.asked_at, calendar)
        if resolved is None:
            raise MeaninglessCallError(f'"{expression}" is no date')
        if resolved.explanation and resolved.range is not None and not expression[:4].isdigit():
            self.remark(resolved.explanation)
        return resolved

    def ask(self, endpoint: str, **payload: Argument) -> Any:  # noqa: ANN401 - the client has checked the endpoint's shape
        """The result, as decoded JSON in the endpoint's shape (`crag.graph.endpoints`); raises `KgError`."""
        return self.session.get(request(endpoint, **payload))

    def ask_all(self, endpoint: str, queries: Sequence[str | int]) -> list[Any]:
        """The results for many queries, in order."""
        return self.ask_each([request(endpoint, query=query) for query in queries])

    def ask_each(self, calls: Sequence[Request]) -> list[Any]:
        """The results of concurrent calls, in order; None for an unreadable one, `KgError` if all are."""
        found: list[Any] = list(self.session.get_all(calls))
        faults = [each for each in found if isinstance(each, KgError)]
        if faults and len(faults) == len(found):
            raise faults[0]
        if faults:
            self.unread += len(faults)
            self.remark(f"{len(faults)} of {len(found)} records could not be read ({faults[0]})")
        return [None if isinstance(each, KgError) else each for each in found]

    def remark(self, text: str) -> None:
        """Add a remark, unless it is there already."""
        if text not in self.remarks:
            self.remarks.append(text)


@dataclass(frozen=True, slots=True)
class TableQuery:
    """One statement's request to a table, and the `keys` that will be read, to avoid needless HTTP calls.

    `names` has a name for each parameter, None: any. `conditions` are a hint: the executor applies them to all rows.
    """

    names: tuple[str | None, ...]
    conditions: tuple[Condition, ...] = ()
    keys: frozenset[str] = frozenset()
    whole: bool = False

    def reads(self, key: str) -> bool:
        """Whether a key is read, by name or as part of the record."""
        return self.whole or key in self.keys

    def name(self, what: str) -> str:
        """The first name. Raises `MeaninglessCallError` if there is none."""
        if self.names[0] is None:
            raise MeaninglessCallError(f"the call needs {what}")
        return self.names[0]


def days_text(first: date, last: date) -> str:
    """A span of days as text."""
    return first.isoformat() if first == last else f"{first.isoformat()} to {last.isoformat()}"


def name_list(names: Sequence[str], most: int = 4) -> str:
    """Some names as text."""
    return ", ".join(f'"{name}"' for name in names[:most]) or "nothing"
