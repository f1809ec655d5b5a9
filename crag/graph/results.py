"""Results of statements, with distinct statuses, and the errors behind them."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

Value = str | int | float | bool | None
"""A single value of a row. Dates are strings ``YYYY[-MM[-DD]]``."""

Cell = Value | tuple[Value, ...] | tuple["Row", ...]
"""A value, a list of values, or rows of another table."""

UNKNOWN_END = "unknown"
"""The begin or end of a life span that the graph does not know."""


class Status(enum.StrEnum):
    """The outcome of a statement."""

    OK = "ok"
    NOT_FOUND = "not_found"
    """The server answered, and there is no such entity or row."""
    INVALID = "invalid"
    """The statement is unreadable or meaningless; `explanation` holds the error with its caret."""
    KG_DOWN = "kg_down"
    """The server was not asked, or not in time. This proves nothing."""


@dataclass(frozen=True, slots=True)
class Row:
    """One record of a table; `entity` is the graph's name of the requested entity."""

    entity: str
    cells: Mapping[str, Cell] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one statement.

    * `call`: the statement in canonical form.
    * `rows`: all matching rows.
    * `values`: the selected values of the rows taken, flattened, without missing values.
    * `text`: the sentences about them.
    * `explanation`: how names and dates were understood, or why there is no result.
    * `refines`: it works on the previous statement, as a sort does.
    * `empty_calendar`: a known team has no game on the requested date, which shows a false premise.
    * `partial`: some records were unreadable, so values may be missing and a count or an order may be wrong.
    """

    call: str
    status: Status
    rows: tuple[Row, ...] = ()
    values: tuple[Value, ...] = ()
    text: str = ""
    explanation: tuple[str, ...] = ()
    refines: bool = False
    empty_calendar: bool = False
    partial: bool = False


class CallError(Exception):
    """A statement has no result; `status` is its outcome, the message says why."""

    status = Status.INVALID


class MeaninglessCallError(CallError):
    """A readable call that cannot be run, such as an Oscar list without film, person or year."""


class NotFoundError(CallError):
    """The server has no such entity; the message says what was searched and found."""

    status = Status.NOT_FOUND


class NoGameError(NotFoundError):
    """A known team has no game on the requested date."""


class KgError(CallError):
    """An HTTP request failed, which does not mean "no such thing"; the message names the endpoint."""

    status = Status.KG_DOWN


class KgRequestError(KgError):
    """The request is wrong (404, 405, 422): a retry does not help."""

    status = Status.INVALID


class KgReplyError(KgError):
    """The reply is unusable: an error status such as 500, not JSON, cut short, too deep, too large, wrong shape.

    The same request would get the same reply, so the batch caches it.
    """


class KgBusyError(KgError):
    """502, 503 or 504: a retry may help."""


class KgUnreachableError(KgError):
    """No complete reply: connection refused or lost, or no time left to ask."""


class KgTimeoutError(KgUnreachableError):
    """No complete reply in the time of a request."""
