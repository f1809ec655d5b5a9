"""Values of cells as a sheet shows them, with days and times in ISO form (OpenDocument 1.3, part 3, 19.385)."""

import math
import re
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING

from crag.asking.office.shown_values import show_value
from crag.asking.office.time_formats import is_duration_format, is_time_format, show_duration, show_moment
from crag.asking.opendocument.names import OFFICE

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_DURATION = re.compile(
    r"(?P<sign>-?)P(?:(?P<days>\d{1,9})D)?"
    r"(?:T(?:(?P<hours>\d{1,9})H)?(?:(?P<minutes>\d{1,9})M)?(?:(?P<seconds>\d{1,9}(?:\.\d{1,12})?)S)?)?"
)
_NUMBERS = frozenset({"float", "percentage", "currency"})
_MINUS_SIGNS = "-−–"
_MIDNIGHT = datetime(2000, 1, 1)


def has_value(cell: "Element") -> bool:
    """Whether a value is saved with a cell."""
    return f"{OFFICE}value-type" in cell.attrib


def show_cell(cell: "Element", text: str | None, number_format: str) -> str:
    """The value of a cell; `text`: as its program showed it, None if that is not saved."""
    kind = cell.get(f"{OFFICE}value-type", "string")
    value = cell.get(f"{OFFICE}{'value' if kind in _NUMBERS else f'{kind}-value'}")
    if value is None or text == "":  # a format may hide a value
        return text or ""
    try:
        return _show_value(kind, value, text, number_format)
    except (OverflowError, ValueError):  # a day or a number that Python has not
        return value if text is None else text


def _show_value(kind: str, value: str, text: str | None, number_format: str) -> str:
    """A value of a kind. Raises ValueError: it is not of that kind; OverflowError: it is too large."""
    if kind == "boolean":
        return "yes" if value == "true" else "no"
    if kind == "date":
        return _show_date(value, number_format)
    if kind == "time":
        return _show_time(value, number_format)
    if kind in _NUMBERS:
        return _show_number(float(value), text, number_format)
    return value if text is None else text


def _show_number(number: float, text: str | None, number_format: str) -> str:
    """A number as it was shown, with a minus instead of brackets or red."""
    if text is None:
        return show_value(number, number_format) if math.isfinite(number) else ""
    has_minus = any(sign in text for sign in _MINUS_SIGNS)
    has_digit = any("1" <= character <= "9" for character in text)
    return f"-{text.strip('() ')}" if number < 0 and has_digit and not has_minus else text


def _show_date(value: str, number_format: str) -> str:
    """A day, perhaps with a time. Raises ValueError: the calendar has none."""
    moment = datetime.fromisoformat(value)
    if is_time_format(number_format):
        return show_moment(moment, number_format)
    if moment.time() == time():
        return date.fromisoformat(value[:10]).isoformat()
    return show_moment(moment, f"yyyy-mm-dd {_plain_format(moment.second, moment.microsecond)}")


def _show_time(value: str, number_format: str) -> str:
    """A time of the day, or a duration. Raises ValueError: it is none; OverflowError: it is too long."""
    match = _DURATION.fullmatch(value)
    if match is None:
        raise ValueError(value)
    parts = {name: float(match[name] or 0) for name in ("days", "hours", "minutes", "seconds")}
    duration = timedelta(**parts) * (-1 if match["sign"] else 1)

    is_day = timedelta() <= duration < timedelta(days=1)
    if not is_time_format(number_format):
        length = abs(duration)
        plain = _plain_format(length.seconds % 60, length.microseconds)
        number_format = plain if is_day else plain.replace("h", "[h]")
    if is_duration_format(number_format) or not is_day:
        return show_duration(duration, number_format)
    return show_moment((_MIDNIGHT + duration).time(), number_format)


def _plain_format(seconds: int, microseconds: int) -> str:
    """The format of a time whose cell has none: the seconds and their decimals are shown if there are some.

    >>> _plain_format(0, 0), _plain_format(58, 400_000)
    ('h:mm', 'h:mm:ss.0')
    """
    if not microseconds:
        return "h:mm:ss" if seconds else "h:mm"
    decimals = len(f"{microseconds:06}".rstrip("0"))
    return f"h:mm:ss.{'0' * decimals}"
