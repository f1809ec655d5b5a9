"""Calendars (`.ics`) and cards of addresses (`.vcf`): lines of names and values (RFC 5545, RFC 6350)."""

import quopri
import re
from collections.abc import Iterator

from crag.asking.decoding import decode

_BEGINNING = re.compile(r"\ufeff?\s{0,9}BEGIN:(?:VCALENDAR|VCARD)\b", re.IGNORECASE)
_FOLD = re.compile(r"\r?\n[ \t]")
"""Goes on with the line before it."""
_BETWEEN_PARTS = re.compile(r"(?<!\\);")
_ESCAPED = re.compile(r"\\([\\,;nN])")
_QUOTED_LINE_END = re.compile(r"=\r?\n(?==[0-9A-F]{2})")
"""Within a value in quoted-printable."""
_MOMENT = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(?:\d\d)?(Z?))?")
_STRUCTURE = frozenset(["begin", "end", "version", "prodid", "uid", "dtstamp", "calscale", "method", "rev"])
"""Names of lines that tell programs something, not people."""
_FOR_PROGRAMS = frozenset(["vtimezone", "valarm"])
"""Parts of a calendar: the rules of summer time have days of their own, which are no events."""
_PICTURES = frozenset(["photo", "logo", "sound", "key", "attach"])
_WORDS = {
    "dtstart": "start",
    "dtend": "end",
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
    is_for_programs = False
    for line in _QUOTED_LINE_END.sub("", text).splitlines():
        field, _, written = line.partition(":")
        # A card may group its lines: "item1.TEL;type=WORK:2207"
        name = field.partition(";")[0].rpartition(".")[2].strip().lower()
        if name in ("begin", "end") and written.strip().lower() in _FOR_PROGRAMS:
            is_for_programs = name == "begin"
        if is_for_programs or name in _STRUCTURE or name in _PICTURES or name.startswith("x-"):
            continue

        value = _ESCAPED.sub(_unescape, _BETWEEN_PARTS.sub(" ", _decode(written, field.upper()))).strip()
        moment = _MOMENT.fullmatch(value)
        shown = _show_moment(moment) if moment else value
        if shown:
            yield f"{_WORDS.get(name, name)}: {' '.join(shown.split())}"


def _decode(written: str, field: str) -> str:
    """A value, which phones write with its bytes in hexadecimal: ``J=C3=B6rg``."""
    if "QUOTED-PRINTABLE" not in field:
        return written
    return decode(quopri.decodestring(written.encode("utf-8")))


def _unescape(escaped: re.Match[str]) -> str:
    return " " if escaped[1] in "nN" else escaped[1]


def _show_moment(moment: re.Match[str]) -> str:
    year, month, day, hour, minute, is_utc = moment.groups()
    time = f" {hour}:{minute}{' UTC' if is_utc else ''}" if hour else ""
    return f"{year}-{month}-{day}{time}"
