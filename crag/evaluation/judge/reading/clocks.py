"""Times of day in an answer: 7:30 pm, 19:30, "half past seven", 10:30 am EST."""

import re
from dataclasses import dataclass, replace

_CLOCK = re.compile(
    r"""
    (?<![\w.,:/-])
    (?: (?P<noon>noon|midday) | (?P<midnight>midnight)
      | (?: (?P<half>half\spast)
          | (?P<told_minutes>quarter|5|10|20|25) (?:\sminutes)? \s (?P<side>past|to) )
        \s(?P<told_hour>\d{1,2})
      | (?P<military>(?:[01]\d|2[0-3])[0-5]\d)(?=\s?(?:hours|hrs|h)\b)
      | (?P<hour>\d{1,2}) (?:(?P<sign>[:.])(?P<minute>[0-5]\d)(?!\d|[:.]\d))?
    )
    (?P<oclock>\s?o'?clock)?
    (?:
        \s?(?P<half_day>[ap]\.?m\b)
      | \s(?P<early>in\sthe\smorning)
      | \s(?P<late>in\sthe\s(?:afternoon|evening)|at\snight)
    )?
    (?: \.?\s?\(?(?P<zone>[ecmp][sd]?t|utc|gmt|bst|cest|cet)\b\)?
      | \.?\s\(?(?P<named_zone>eastern|central|mountain|pacific)(?P<named_kind>\sstandard|\sdaylight)?\stime\b\)?
    )?
    """,
    re.VERBOSE,
)
_ZONE_HOURS = {
    "e": -5, "c": -6, "m": -7, "p": -8,
    "utc": 0, "gmt": 0, "bst": 1, "cet": 1, "cest": 2,
}  # fmt: skip
"""Standard time of the American zones by their first letter, and whole names of others."""
# Minutes
_HALF_DAY = 12 * 60


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day in minutes after midnight; `is_sure` if it cannot be the other half of the day.

    `zone_hours` are the possible distances of its zone from UTC, none if it names no zone: ``ET`` is EST or EDT.
    """

    minutes: int
    is_sure: bool
    zone_hours: frozenset[int] = frozenset()
    start: int = 0
    end: int = 0


def read_clocks(text: str) -> list[Clock]:
    """The times of day in a text from `plain_text`.

    >>> [(clock.minutes, clock.is_sure) for clock in read_clocks("half past 7 or 7:30 p.m.")]
    [(450, False), (1170, True)]
    """
    clocks = [_read_clock(match) for match in _CLOCK.finditer(text)]
    return [clock for clock in clocks if clock is not None]


def _read_clock(match: re.Match[str]) -> Clock | None:
    """The time of day of a match of `_CLOCK`; None for another number."""
    zone_hours = _read_zone(match)
    if match["noon"] or match["midnight"]:
        minutes = _HALF_DAY if match["noon"] else 0
        return Clock(minutes, is_sure=True, zone_hours=zone_hours, start=match.start(), end=match.end())

    if match["military"]:
        minutes = 60 * int(match["military"][:2]) + int(match["military"][2:])
        return Clock(minutes, is_sure=True, zone_hours=zone_hours, start=match.start(), end=match.end())

    half_day = match["half_day"] or (match["early"] and "am") or (match["late"] and "pm")
    if not _is_time(match, has_half_day=bool(half_day)):
        return None
    written_hour = match["told_hour"] or match["hour"]
    hour = int(written_hour)
    # "19 pm" is a misread number
    if hour > 24 or (half_day and not 1 <= hour <= 12):
        return None

    minutes = 60 * hour + _read_minute(match)
    if half_day:
        # 12 am is midnight, 12 pm is noon
        first_hour = 12 if half_day.startswith("p") else 0
        minutes = 60 * (first_hour + hour % 12) + _read_minute(match)

    # 7:30 may be morning or evening; 19:30, 0:30 and 07:30 stand on a clock of 24 hours
    is_sure = bool(half_day) or hour > 12 or written_hour.startswith("0")
    # 24:00 and a quarter to midnight wrap around
    return Clock(minutes % (2 * _HALF_DAY), is_sure, zone_hours, match.start(), match.end())


def _is_time(match: re.Match[str], *, has_half_day: bool) -> bool:
    """Whether an hour has a sign that it is one: "7:30", "7 o'clock", "7 pm", "half past 7"; 7.30 needs "pm"."""
    if match["sign"] == "." and not has_half_day:
        return False
    return has_half_day or any(match[sign] for sign in ("told_hour", "minute", "oclock"))


def _read_minute(match: re.Match[str]) -> int:
    """The minutes after the hour; -15 for "a quarter to"."""
    if match["half"]:
        return 30
    if match["told_minutes"]:
        told_minutes = 15 if match["told_minutes"] == "quarter" else int(match["told_minutes"])
        return told_minutes if match["side"] == "past" else -told_minutes
    return int(match["minute"] or 0)


def _read_zone(match: re.Match[str]) -> frozenset[int]:
    """The hours that the zone's time can be ahead of UTC."""
    name = match["zone"] or ""
    if name in _ZONE_HOURS:
        return frozenset({_ZONE_HOURS[name]})

    initial = name[:1] or (match["named_zone"] or "")[:1]
    if not initial:
        return frozenset()
    standard = _ZONE_HOURS[initial]
    kind = name[1:2] or (match["named_kind"] or "").strip()[:1]
    if kind == "s":
        return frozenset({standard})
    return frozenset({standard + 1} if kind == "d" else {standard, standard + 1})


def same_clock(gold: Clock, answer: Clock) -> bool:
    """Whether two times of day are the same; 7:30 fits 7:30 pm and 19:30, and 10:30 am EST is 7:30 am PST.

    >>> same_clock(*read_clocks("7:30 pm, 19:30"))
    True
    """
    if gold.zone_hours and answer.zone_hours and not gold.zone_hours & answer.zone_hours:
        ahead = min(answer.zone_hours) - min(gold.zone_hours)
        answer = replace(answer, minutes=(answer.minutes - 60 * ahead) % (2 * _HALF_DAY))

    # If one leaves the half of the day open, the hour on the dial decides
    if gold.is_sure and answer.is_sure:
        return gold.minutes == answer.minutes
    return gold.minutes % _HALF_DAY == answer.minutes % _HALF_DAY
