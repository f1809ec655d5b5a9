"""The context of one call: the server, the time of asking, and what is noted while its rows are looked up."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Any

from crag.graph.client import KgSession
from crag.graph.endpoints import FieldValue, Request, build_request
from crag.graph.language import Condition
from crag.graph.results import KgError, MeaninglessCallError
from crag.text.dates import Calendar, ResolvedDate, resolve_date

MAX_ROWS = 2_000
"""Rows that a statement may hold, more than any real table of one entity has."""
_NAMES_QUOTED = 4


@dataclass(slots=True)
class LookupContext:
    """Reads what one call of a program, and the sorts and averages after it, need of the server.

    Replies are decoded JSON in the endpoint's shape (`crag.graph.endpoints`), which the client has checked.
    Each call has a context of its own, in which its table notes the `remarks` and the two fields after them.
    """

    session: KgSession
    asked_at: datetime
    remarks: list[str] = field(default_factory=list)
    """How names and dates were understood."""
    unread: int = 0
    """Unreadable records; if there are any, an empty result proves nothing."""
    first_is_meant: bool = False
    """The rows lead away from the time of asking, as for "latest": the first one is meant."""

    def resolve(self, expression: str, calendar: Calendar) -> ResolvedDate:
        """Resolve a date expression at the time of the question; `MeaninglessCallError`: it is not a date."""
        resolved = resolve_date(expression, self.asked_at, calendar)
        if resolved is None:
            raise MeaninglessCallError(f'"{expression}" is not a date')

        # "2024-02" needs no explanation; "last friday" does.
        is_relative = not expression[:4].isdigit()
        if resolved.explanation and resolved.range is not None and is_relative:
            self.remark(resolved.explanation)
        return resolved

    def ask(self, endpoint: str, **payload: FieldValue) -> Any:  # noqa: ANN401 - its type depends on the endpoint
        """The result of one request; raises `KgError`."""
        return self.session.get(build_request(endpoint, **payload))

    def ask_all(self, endpoint: str, queries: Sequence[str | int]) -> list[Any]:
        """The results of one endpoint for many queries, in order; see `ask_each`."""
        return self.ask_each([build_request(endpoint, query=query) for query in queries])

    def ask_each(self, requests: Sequence[Request]) -> list[Any]:
        """The results of concurrent requests, in order; None for an unreadable one. Raises KgError: all are."""
        replies: list[Any] = list(self.session.get_all(requests))
        faults = [reply for reply in replies if isinstance(reply, KgError)]
        if faults and len(faults) == len(replies):
            raise faults[0]

        # Some records are better than none, but what depends on all of them must know.
        if faults:
            self.unread += len(faults)
            self.remark(f"{len(faults)} of {len(replies)} records could not be read ({faults[0]})")
        return [None if isinstance(reply, KgError) else reply for reply in replies]

    def remark(self, text: str) -> None:
        """Add a remark, unless it is there already."""
        if text not in self.remarks:
            self.remarks.append(text)


@dataclass(frozen=True, slots=True)
class TableQuery:
    """One statement's request to a table, and the `keys` that will be read, to avoid needless requests.

    `names` has a name for each parameter, None: any. `conditions` are a hint: they are applied to all rows afterwards.
    `rows`: so many rows are enough, in the table's order; None: all of them.
    """

    names: tuple[str | None, ...]
    conditions: tuple[Condition, ...] = ()
    keys: frozenset[str] = frozenset()
    whole: bool = False
    rows: int | None = None

    def reads(self, key: str) -> bool:
        """Whether a key is read, by name or as part of the record."""
        return self.whole or key in self.keys

    def require_name(self, what: str) -> str:
        """The first name. Raises `MeaninglessCallError` if there is none."""
        if self.names[0] is None:
            raise MeaninglessCallError(f"the call needs {what}")
        return self.names[0]

    def with_name(self, index: int, name: str) -> "TableQuery":
        """The same query with a name for the parameter at `index`."""
        names = list(self.names)
        names[index] = name
        return replace(self, names=tuple(names))


def format_days(first_day: date, last_day: date) -> str:
    """A span of days: "2024-02-28", "2024-02-01 to 2024-02-28"."""
    if first_day == last_day:
        return first_day.isoformat()
    return f"{first_day.isoformat()} to {last_day.isoformat()}"


def quote_names(names: Sequence[str]) -> str:
    """The first few names in quotes, or "nothing"."""
    quoted = [f'"{name}"' for name in names[:_NAMES_QUOTED]]
    return ", ".join(quoted) or "nothing"
