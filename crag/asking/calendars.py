"""Calendars (`.ics`) and cards of addresses (`.vcf`): lines of names and values (RFC 5545, RFC 6350)."""

import re
from collections.abc import Iterator

_BEGINNING = re.compile(r"\ufeff?\s{0,9}BEGIN:(?:VCALENDAR|VCARD)\b", re.IGNORECASE)
_FOLD = re.compile(r"\r?\n[ \t]")
"""Goes on with the line before it."""
_BETWEEN_PARTS = re.compile(r"(?<!\\);")
_ESCAPED = re.compile(r"\\([\\,;nN])")
_MOMENT = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(?:\d\d)?(Z?))?")
_STRUCTURE = frozenset(["begin", "end", "version", "prodid", "uid", "dtstamp", "calscale", "method", "rev"])
"""Names of lines that tell programs something, not people."""
_WORDS = {
    "dtstart": "start",
    "dtend": "end",
    "summary": "event",
    "fn": "name",
    "tel": "phone",
    "adr": "address",
    "org": "organisation",
    "bday": "born",
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
    for line in text.splitlines():
        field, _, written = line.partition(":")
        # A card may group its lines: "item1.TEL;type=WORK:2207"
        name = field.partition(";")[0].rpartition(".")[2].strip().lower()
        value = _ESCAPED.sub(_unescape, _BETWEEN_PARTS.sub(" ", written)).strip()
        if name in _STRUCTURE or name.startswith("x-") or not value:
            continue

        moment = _MOMENT.fullmatch(value)
        shown = _show_moment(moment) if moment else value
        yield f"{_WORDS.get(name, name)}: {' '.join(shown.split())}"


def _unescape(escaped: re.Match[str]) -> str:
    return " " if escaped[1] in "nN" else escaped[1]


def _show_moment(moment: re.Match[str]) -> str:
    year, month, day, hour, minute, is_utc = moment.groups()
    time = f" {hour}:{minute}{' UTC' if is_utc else ''}" if hour else ""
    return f"{year}-{month}-{day}{time}"
