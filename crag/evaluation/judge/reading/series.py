"""Several numbers in an order that means something: scores, records, ratios, odds, ranges, seasons, times of day."""

import re
from dataclasses import dataclass, replace

_NUMBER = r"\d+(?:,\d{3})*(?:\.\d+)?"
_BC = r"b\.?c\.?e?\b"
_AFTER_NUMBER = rf"(?:%|{_BC}|a\.?d\b|c\.?e\b)"
_SERIES = re.compile(
    rf"""
    (?<![\w.,/:])(?<!\d-)
    (?P<first>['$€£¥₹]?(?:{_NUMBER}))(?:\s?{_AFTER_NUMBER})?
    (?P<rest>
        (?:
            (?:
                \s?[-:/x×]\s?
              | \s(?:to|out\sof|until|by)\s
              | \sin\s(?=\d{{1,2}}\b|100\b)       # "3 in 5"; not "3 in 1990"
            )
            ['$€£¥₹]?(?:{_NUMBER})(?:\s?{_AFTER_NUMBER})?
        ){{1,4}}
    )
    (?! [\w/] | [-:]\d )                         # the whole series: not "10-6" of "10-6-1"
    """,
    re.VERBOSE,
)
_BETWEEN = re.compile(rf"\bbetween\s[$€£¥₹]?(?P<first>{_NUMBER})(?:\s?%)?\sand\s[$€£¥₹]?(?P<second>{_NUMBER})(?![\w/])")
_IN_EXCHANGE = re.compile(r"(?<![\w.,/:-])(?P<first>\d{1,3})[\s-]for[\s-](?P<second>\d{1,3})(?![\w/-]|[.,]\d)")
"""A split of shares, "4-for-1", or shots, "7 for 12"."""
_ERA = re.compile(rf"(?<=[\s\d]){_BC}")
_DIGITS = re.compile(_NUMBER)
# One group for signs, one for words; see how `read_series` tells them apart
_SEPARATOR = re.compile(r"\s?([-:/x×])\s?|\s(to|out of|in|by|until)\s")

_CLOCK = re.compile(
    r"""
    (?<![\w.,:/-])
    (?: (?P<noon>noon|midday) | (?P<midnight>midnight)
      | (?: (?P<half>half\spast)
          | (?P<told_minutes>quarter|5|10|20|25) (?:\sminutes)? \s (?P<side>past|to) )
        \s(?P<told_hour>\d{1,2})
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
class Series:
    """Numbers that belong together, in order. `separator` is "-", ":" or "/"; words such as "to" count as "-"."""

    numbers: tuple[float, ...]
    separator: str
    is_bc: bool = False
    start: int = 0
    end: int = 0

    @property
    def is_season(self) -> bool:
        """Whether it is two years in a row or more: 2021-22, 1929-1941."""
        return len(self.numbers) == 2 and all(1000 <= year <= 2100 for year in self.numbers)

    @property
    def is_short_season(self) -> bool:
        """Whether it can be a season of two short years: 98/99."""
        # "99/00" wraps at the century
        return len(self.numbers) == 2 and self.numbers[1] == (self.numbers[0] + 1) % 100

    @property
    def share(self) -> float | None:
        """The value of a fraction: 0.75 of 3/4, 3.75 of 15/4."""
        if len(self.numbers) != 2 or self.separator != "/" or 0 in self.numbers:
            return None
        return self.numbers[0] / self.numbers[1]

    @property
    def seconds(self) -> frozenset[float]:
        """What a duration with colons can mean: 2:05 is two hours or two minutes and five."""
        # "1:2:3:4" is not a duration
        if self.separator != ":" or len(self.numbers) > 3:
            return frozenset()
        in_smallest = 0.0
        for number in self.numbers:
            # Hours, minutes and seconds as digits of base 60
            in_smallest = 60 * in_smallest + number
        return frozenset({in_smallest} if len(self.numbers) == 3 else {in_smallest, 60 * in_smallest})


def read_series(text: str) -> list[Series]:
    """The series in a text from `plain_text`. Its whole dates must be gone.

    >>> [series.numbers for series in read_series("3-1, between 10 and 12, 2021/22")]
    [(3.0, 1.0), (10.0, 12.0), (2021.0, 2022.0)]
    """
    series: list[Series] = []
    for match in _SERIES.finditer(text):
        digits = _DIGITS.findall(match[0])
        # Mixed separators, "3-1/2", are no fraction and no duration
        separators = {sign or "-" for sign, _ in _SEPARATOR.findall(match["rest"])}
        separator = separators.pop() if len(separators) == 1 else "-"
        # "3 in 5" and "3 out of 5" are fractions
        if " out of " in match["rest"] or " in " in match["rest"]:
            separator = "/"
        numbers = _read_numbers(digits)
        is_bc = bool(_ERA.search(match[0]))
        series.append(
            Series(
                numbers,
                separator,
                is_bc=is_bc,
                start=match.start(),
                end=match.end(),
            )
        )

    # "And" and "for" alone join no series: "2-1 for 3 days"
    for pattern in (_BETWEEN, _IN_EXCHANGE):
        for match in pattern.finditer(text):
            numbers = _read_numbers([match["first"], match["second"]])
            series.append(Series(numbers, "-", start=match.start(), end=match.end()))

    # The patterns found them separately; callers expect the order of the text
    return sorted(series, key=lambda item: item.start)


def _read_numbers(digits: list[str]) -> tuple[float, ...]:
    """The numbers; the second of two years may be short: 1999-00 is 1999-2000."""
    numbers = [float(number.replace(",", "")) for number in digits]
    is_year_pair = len(digits) == 2 and len(digits[0]) == 4 and len(digits[1]) == 2 and 1000 <= numbers[0] <= 2100
    if is_year_pair:
        # 2021-22 stays in its century, 1999-00 ends in the next
        century = numbers[0] // 100 * 100
        numbers[1] += century if numbers[1] > numbers[0] % 100 else century + 100
    return tuple(numbers)


# --- times of day -----------------------------------------------------------------------------------------------------


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
    if match["noon"] or match["midnight"]:
        minutes = _HALF_DAY if match["noon"] else 0
        return Clock(minutes, is_sure=True, zone_hours=_read_zone(match), start=match.start(), end=match.end())

    # "half past 7" needs no other sign that it is a time
    is_told = match["told_hour"] is not None
    half_day = match["half_day"] or (match["early"] and "am") or (match["late"] and "pm")
    if not (is_told or match["minute"] or match["oclock"] or half_day):
        return None  # only a number

    if match["sign"] == "." and not half_day:
        return None  # a decimal number

    hour = int(match["told_hour"] or match["hour"])
    minute = int(match["minute"] or 0)
    if match["half"]:
        minute = 30
    elif match["told_minutes"]:
        told_minutes = 15 if match["told_minutes"] == "quarter" else int(match["told_minutes"])
        # A quarter to eight is 8:00 minus 15
        minute = told_minutes if match["side"] == "past" else -told_minutes

    # "19 pm" is a misread number
    if hour > 24 or (half_day and not 1 <= hour <= 12):
        return None

    minutes = 60 * hour + minute
    if half_day:
        is_afternoon = half_day.startswith("p")
        # 12 am is midnight, 12 pm is noon
        minutes = 60 * (hour % 12) + minute + (_HALF_DAY if is_afternoon else 0)

    # 7:30 may be morning or evening, 19:30 and 0:30 may not
    is_sure = bool(half_day) or hour > 12 or hour == 0
    # 24:00 and a quarter to midnight wrap around
    return Clock(minutes % (2 * _HALF_DAY), is_sure, _read_zone(match), match.start(), match.end())


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


# --- comparing --------------------------------------------------------------------------------------------------------


def same_series(gold: Series, answer: Series) -> bool:
    """Whether all numbers are equal in order, however they are separated; 98/99 is the season 1998-99."""
    if gold.is_bc is not answer.is_bc:
        return False

    # "98/99" was read as 98 and 99
    if gold.is_season and answer.is_short_season:
        return answer.numbers == tuple(number % 100 for number in gold.numbers)
    return gold.numbers == answer.numbers


def numbers_in_order(gold: Series, text: str) -> bool:
    """Whether a text has the numbers in their order, with words between them: "Oslo 3, Bergen 1" for 3-1."""
    # Other numbers may stand between them, so this is a subsequence test
    remaining = list(gold.numbers)
    for digits in _DIGITS.findall(text):
        if remaining and float(digits.replace(",", "")) == remaining[0]:
            remaining.pop(0)
    return not remaining
