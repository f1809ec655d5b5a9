"""Calendars (`.ics`) and cards of addresses (`.vcf`): lines of names and values (RFC 5545, RFC 6350)."""

import quopri
import re
from collections.abc import Iterator
from datetime import date, timedelta

from crag.asking.decoding import decode

_BEGINNING = re.compile(r"\ufeff?\s{0,9}BEGIN:(?:VCALENDAR|VCARD)\b", re.IGNORECASE)
_LINE_END = re.compile(r"\r\n?|\n")
_FOLD = re.compile(r"\r?\n[ \t]")
"""Goes on with the line before it."""
_BETWEEN_PARTS = re.compile(r"(?<!\\);")
_ESCAPED = re.compile(r"\\([\\,;nN])")
_QUOTED_LINE_END = re.compile(r"=\r?\n(?==[0-9A-F]{2})")
"""Within a value in quoted-printable."""
_MOMENT = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(?:\d\d)?(Z?))?")
_STRUCTURE = frozenset(["begin", "end", "version", "prodid", "uid", "dtstamp", "calscale", "method", "rev"])
"""Names of lines that tell programs something, not people."""
_PARTS_FOR_PROGRAMS = frozenset(["vtimezone", "valarm"])
"""The beginning of summer time is no date of the calendar."""
_PICTURES = frozenset(["photo", "logo", "sound", "key", "attach"])
_WORDS = {
    "dtstart": "start",
    "dtend": "end",
    "rdate": "also on",
    "exdate": "not on",
    "recurrence-id": "instead of",
    "summary": "event",
    "fn": "name",
    "tel": "phone",
    "adr": "address",
    "org": "organisation",
    "bday": "born",
    "rrule": "repeats",
}


def is_calendar(text: str) -> bool:
    """Whether a text begins as a calendar or a card does."""
    return _BEGINNING.match(text) is not None


def calendar_lines(text: str) -> list[str]:
    r"""A line for each value that people see: days and times are ISO.

    >>> calendar_lines("BEGIN:VCALENDAR\nDTSTART;TZID=Europe/Oslo:20240504T090000\nSUMMARY:Regatta\\, day 1")
    ['start: 2024-05-04 09:00', 'event: Regatta, day 1']
    """
    return list(_read_lines(_FOLD.sub("", text)))


def _read_lines(text: str) -> Iterator[str]:
    start = ""
    for name, value in _read_values(text):
        if name == "begin":
            start = ""
        if name in _STRUCTURE or name in _PICTURES or name.startswith("x-"):
            continue

        shown_value = _show_moments(value)
        if name == "dtstart":
            start = shown_value
        elif name == "dtend" and shown_value != start:
            shown_value = _show_last_day(shown_value)
        yield f"{_WORDS.get(name, name)}: {' '.join(shown_value.split())}"


def _read_values(text: str) -> Iterator[tuple[str, str]]:
    """Names and values, without those of parts that are for programs."""
    part_for_programs = ""
    for line in _LINE_END.split(_QUOTED_LINE_END.sub("", text)):
        field = _read_field(line)
        # A card may group its lines: "item1.TEL;type=WORK:2207"
        name = field.partition(";")[0].rpartition(".")[2].strip().lower()
        written = _decode(line[len(field) + 1 :], field)
        value = _ESCAPED.sub(_unescape, _BETWEEN_PARTS.sub(" ", written)).strip()

        part = value.lower()
        if name == "begin" and part in _PARTS_FOR_PROGRAMS:
            part_for_programs = part
        elif name == "end" and part == part_for_programs:
            part_for_programs = ""
        elif value and not part_for_programs:
            yield name, value


def _read_field(line: str) -> str:
    """What stands before the colon of a line; those in quotation marks are another's.

    >>> _read_field('SUMMARY;ALTREP="cid:a@b":Regatta')
    'SUMMARY;ALTREP="cid:a@b"'
    """
    length = 0
    for number, part in enumerate(line.split('"')):
        is_quoted = number % 2 == 1
        if not is_quoted and ":" in part:
            return line[: length + part.index(":")]
        length += len(part) + 1
    return line.partition(":")[0]


def _decode(written: str, field: str) -> str:
    """A value, which phones write with its bytes in hexadecimal: ``J=C3=B6rg``."""
    if "QUOTED-PRINTABLE" not in field.upper():
        return written
    return decode(quopri.decodestring(written.encode("utf-8")))


def _unescape(escaped: re.Match[str]) -> str:
    return " " if escaped[1] in "nN" else escaped[1]


def _show_moments(value: str) -> str:
    """Days and times as ISO, also several with commas between them; anything else as it is."""
    moments = []
    for written in value.split(","):
        moment = _MOMENT.fullmatch(written)
        if moment is None:
            return value
        moments.append(_show_moment(moment))
    return ", ".join(moments)


def _show_moment(moment: re.Match[str]) -> str:
    year, month, day, hour, minute, is_utc = moment.groups()
    time = f" {hour}:{minute}{' UTC' if is_utc else ''}" if hour else ""
    return f"{year}-{month}-{day}{time}"


def _show_last_day(end: str) -> str:
    """The last day of an event of whole days, whose end is written as the day after it.

    >>> _show_last_day("2024-05-06"), _show_last_day("2024-05-06 16:00")
    ('2024-05-05', '2024-05-06 16:00')
    """
    try:
        return str(date.fromisoformat(end) - timedelta(days=1))
    except (ValueError, OverflowError):  # it has a time, or is no day
        return end
