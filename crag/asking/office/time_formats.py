"""Dates, times and durations of a workbook: the parts that the number format of the cell shows, in ISO form."""

import re
from datetime import date, datetime, time, timedelta
from functools import lru_cache

_FORMATS = 1000
"""Remembered: a file has few, each for many cells."""
_ELAPSED = re.compile(r"\[(?:h+|m+|s+)\]")
"""Hours, minutes or seconds that may be more than a day, an hour or a minute has."""
_NO_LETTERS = re.compile(
    r'"[^"]{0,255}"|\\.|[_*].|(?!\[(?:h+|m+|s+)\])\[[^\]]{0,255}\]|AM/PM|A/P|General', re.IGNORECASE
)
"""Literals, languages, colours, conditions, halves of a day."""
_TIME_LETTERS = frozenset("ymdhs")
_MINUTES = re.compile(r"(?<=h)(\]?[^a-z]{0,3})m{1,5}|m{1,5}(?=\]?[^a-z]{0,3}s)")
"""An m behind hours or before seconds is a minute, another a month."""
_FRACTION = re.compile(r"s\]?\.(0{1,6})")
"""Parts of a second: tenths, hundredths."""


@lru_cache(_FORMATS)
def _letters(number_format: str) -> str:
    """The first section of a format without literals; minutes are n."""
    section = _NO_LETTERS.sub("", number_format).partition(";")[0].lower()
    return _MINUTES.sub(r"\1n", section)


def is_time_format(number_format: str) -> bool:
    """Whether a format shows a day, a time or a duration.

    >>> is_time_format("yyyy-mm"), is_time_format('[Red]0 "days"')
    (True, False)
    """
    return not _TIME_LETTERS.isdisjoint(_letters(number_format))


def is_duration_format(number_format: str) -> bool:
    """Whether a format shows a duration: ``[h]:mm``."""
    return bool(_ELAPSED.search(_letters(number_format).replace("n", "m")))


def count_decimals(number_format: str) -> int:
    """How many decimals of a second a format shows.

    >>> count_decimals("mm:ss.00"), count_decimals("h:mm")
    (2, 0)
    """
    return _count_decimals(_letters(number_format))


def _count_decimals(letters: str) -> int:
    fraction = _FRACTION.search(letters)
    return len(fraction[1]) if fraction else 0


def show_moment(moment: datetime | date | time, number_format: str) -> str:
    """A date or a time, of which the format shows the day, the clock or both.

    >>> show_moment(datetime(2023, 3, 5, 14, 30, 15), "dd.mm.yy h:mm")
    '2023-03-05 14:30'
    >>> show_moment(datetime(2023, 3, 1), "mmm yyyy")
    'March 2023'
    """
    letters = _letters(number_format)
    parts = []
    if isinstance(moment, date) and any(letter in letters for letter in "ymd"):
        parts.append(_show_day(moment, letters))
    if not isinstance(moment, date) or isinstance(moment, datetime):
        parts.append(_show_clock(moment, letters))
    return " ".join(filter(None, parts)) or moment.isoformat()


def _show_day(day: date, letters: str) -> str:
    """The parts of a date that are shown; a day of a month has its year."""
    has_weekday = "ddd" in letters
    has_day = "d" in letters.replace("dddd", "").replace("ddd", "")
    has_month = "m" in letters
    if has_day or (has_weekday and (has_month or "y" in letters)):
        weekday = f"{day:%A}, " if has_weekday else ""
        return f"{weekday}{day:%Y-%m-%d}"

    shown = {"%A": has_weekday, "%B": has_month, "%Y": "y" in letters}
    return day.strftime(" ".join(form for form, is_shown in shown.items() if is_shown))


def _show_clock(clock: datetime | time, letters: str) -> str:
    """Hours, minutes and seconds, of which the format shows some, the last perhaps with decimals; "" if none."""
    if "s" not in letters:
        return f"{clock:%H:%M}" if "h" in letters else ""

    decimals = _count_decimals(letters)
    fraction = f".{clock:%f}"[: decimals + 1] if decimals else ""
    return f"{clock:%H:%M:%S}{fraction}" if "h" in letters else f"{clock:%M:%S}{fraction}"


def show_duration(duration: timedelta, number_format: str) -> str:
    """Hours that may be more than a day has, or minutes that may be more than an hour has.

    >>> show_duration(timedelta(days=1, hours=6, minutes=15), "[h]:mm")
    '30:15'
    >>> show_duration(timedelta(minutes=9, seconds=58.4), "[m]:ss.00")
    '9:58.40'
    """
    letters = _letters(number_format)
    sign = "-" if duration < timedelta() else ""
    whole, point, decimals = f"{abs(duration).total_seconds():.{_count_decimals(letters)}f}".partition(".")
    minutes, seconds = divmod(int(whole), 60)
    fraction = f"{point}{decimals}"
    if "h" not in letters:
        has_minutes = "n" in letters or "m" in letters
        return f"{sign}{minutes}:{seconds:02}{fraction}" if has_minutes else f"{sign}{whole}{fraction}"

    text = f"{sign}{minutes // 60}:{minutes % 60:02}"
    return f"{text}:{seconds:02}{fraction}" if "s" in letters else text
