"""What a statement gives back, in states that are never confused with each other, and the faults behind them."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

Value = str | int | float | bool | None
"""A single value of a row. Dates are texts ``YYYY[-MM[-DD]]``."""

Cell = Value | tuple[Value, ...] | tuple["Row", ...]
"""A value, a list of values, or rows of another table."""


class Status(enum.StrEnum):
    """How a statement ended."""

    OK = "ok"
    NOT_FOUND = "not_found"
    """The server answered, and there is no such entity or row."""
    INVALID = "invalid"
    """The statement cannot be read or makes no sense; `explanation` holds the named error with its caret."""
    KG_DOWN = "kg_down"
    """The server could not be asked, or not in time: evidence of nothing."""


@dataclass(frozen=True, slots=True)
class Row:
    """One record of a table; `entity` is the name under which the graph knows what was asked about."""

    table: str
    entity: str
    cells: Mapping[str, Cell] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one statement, `call` in canonical form.

    `rows` are all that match, `values` the selected ones of the rows taken (lists flattened, absent values left out),
    `text` both in sentences. `explanation` says how names and dates were understood, or why there is no result.
    `refines`: it works on the statement before, as a sort does. `empty_calendar`: a known team has no game on the date
    asked for, evidence of a false premise. `partial`: some records could not be read, so that values may be missing
    and a count or an order may be wrong.
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
    """A statement has no result; `status` is how it ends. The message says why."""

    status = Status.INVALID


class MeaninglessCallError(CallError):
    """A call that can be read but not carried out, such as an Oscar list of no film, no person and no year."""


class NotFoundError(CallError):
    """The server knows no such entity; the message says what was looked for and what was found instead."""

    status = Status.NOT_FOUND


class NoGameError(NotFoundError):
    """A team that the graph knows has no game on the date asked for."""


class KgError(CallError):
    """An HTTP call gave no result, which is not "no such thing"; the message names the endpoint."""

    status = Status.KG_DOWN


class KgRequestError(KgError):
    """The request is wrong (404, 405, 422): asking again does not help."""

    status = Status.INVALID


class KgReplyError(KgError):
    """The reply cannot be used: an error status such as 500, not JSON, cut short, too deep, too large, wrong shape.

    The same call would get the same reply, so the batch remembers it.
    """


class KgBusyError(KgError):
    """502, 503 or 504: the server may be back in a moment."""


class KgUnreachableError(KgError):
    """No whole reply: connection refused or lost, or no time left to ask."""


class KgTimeoutError(KgUnreachableError):
    """No whole reply in the time that the call had."""
