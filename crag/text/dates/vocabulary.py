"""The words of date expressions, and pieces of patterns made of them.

The pieces are for lower-case text with single spaces. A piece without a group around it, such as ``STEP``, is a bare
list of alternatives: put it into a group.
"""

import re
from fractions import Fraction

from crag.text.dates.calendars import CalendarUnit
from crag.text.number_words import NUMBER_WORDS, ORDINAL_WORDS, YEAR_IN_WORDS, read_count, read_year_in_words

# --- words and what they mean -----------------------------------------------------------------------------------------
STEPS = {
    **dict.fromkeys(("last", "past", "previous", "prior", "preceding"), -1),
    **dict.fromkeys(("this", "current"), 0),
    **dict.fromkeys(("next", "coming", "upcoming"), 1),
}
"""How many weeks, months, ... a word steps forward."""

ORDINALS = {
    "first": 1, "1st": 1,
    "second": 2, "2nd": 2,
    "third": 3, "3rd": 3,
    "fourth": 4, "4th": 4,
    "fifth": 5, "5th": 5,
}  # fmt: skip

DECADES = {
    "thirties": 1930, "forties": 1940, "fifties": 1950, "sixties": 1960, "seventies": 1970, "eighties": 1980,
    "nineties": 1990, "aughts": 2000, "noughties": 2000,
}  # fmt: skip
"""The first years of decades. Not of the twenties, which may be those of two centuries."""

CENTURIES = {"nineteenth": 19, "twentieth": 20, "twenty-first": 21}

MONTH_ABBREVIATIONS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
WEEKDAY_ABBREVIATIONS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
"""The first three letters; they identify every spelling of `MONTH_NAME` and of `WEEKDAY`."""

UNITS = {"qtr": CalendarUnit.QUARTER} | {unit.value: unit for unit in CalendarUnit}
"""Units of the calendar. Sessions of the exchange ("trading day") are not among them."""

COUNTED_UNITS = {
    **{word: (unit, 1) for word, unit in UNITS.items()},
    "fortnight": (CalendarUnit.WEEK, 2),
    "decade": (CalendarUnit.YEAR, 10),
    "century": (CalendarUnit.YEAR, 100),
    "centurie": (CalendarUnit.YEAR, 100),  # what "centuries" is without its "s"
    "wk": (CalendarUnit.WEEK, 1),
    "mo": (CalendarUnit.MONTH, 1),
    "mth": (CalendarUnit.MONTH, 1),
    "yr": (CalendarUnit.YEAR, 1),
}
"""What can be counted, as a number of calendar units."""

# --- pieces of patterns: numbers --------------------------------------------------------------------------------------
YEAR = "(?:1[89]|20)[0-9]{2}"
"""1800 to 2099. Not 1750: in questions such numbers are rarely years."""

MONTH = "(?P<month>[0-9]{1,2})"
DAY = "(?P<day>[0-9]{1,2})"
ORDINAL_DAY = "(?:(?:twenty|thirty)[ -](?:" + "|".join(list(ORDINAL_WORDS)[:9]) + ")|" + "|".join(ORDINAL_WORDS) + ")"
"""A day of the month as a word: "fourth", "twenty-first"."""

DAY_WITH_ENDING = "[0-9]{1,2}(?:st|nd|rd|th)?"

HOLIDAYS = {
    "christmas day": (12, 25), "christmas eve": (12, 24),
    "new year's eve": (12, 31), "new years eve": (12, 31), "new year's day": (1, 1), "new years day": (1, 1),
}  # fmt: skip
"""Holidays that are the same day of every year, as (month, day); others, such as Halloween, are films more often."""

# --- pieces of patterns: names and words ------------------------------------------------------------------------------
MONTH_NAME = (
    r"(?:"
    r"jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?"
    r"|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
    r")\b\.?"
)
"""A month in full or abbreviated ("sept."). Not the beginning of another word, such as "marched"."""

WEEKDAY = "mon(?:day)?|tue(?:s|sday)?|wed(?:nesday)?|thu(?:r|rs|rsday)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?"
STEP = "|".join(STEPS)
RECENT = "most recent|recent|latest"
ORDINAL = "|".join(ORDINALS)

NEAREST_WEEKDAYS = frozenset({"coming", "upcoming", "this coming", "this upcoming"})
"""Words that lead to the first such weekday after today, not to the next calendar week."""

POSITIONS = {
    **{word: number - 1 for word, number in ORDINALS.items()},
    **dict.fromkeys(("last", "final"), -1),
    **dict.fromkeys(("second-to-last", "second to last", "2nd-to-last", "next-to-last", "next to last"), -2),
    **dict.fromkeys(("second-last", "penultimate", "last but one"), -2),
    **dict.fromkeys(("third-to-last", "third to last", "3rd-to-last"), -3),
}
"""The index of a part among those of its period, as in a Python list."""
POSITION = "|".join(sorted(POSITIONS, key=len, reverse=True))

CARDINAL_DAY = (
    "(?:(?:twenty|thirty)[ -])?(?:" + "|".join(list(NUMBER_WORDS)[1:10]) + ")|" + "|".join(list(NUMBER_WORDS)[10:21])
)
"""A day of the month as it is read aloud: "march one", "october twenty-three"."""

AND_YEAR = (
    f"(?:(?:,|, | |-|,? (?:of|in) )(?P<year>{YEAR}|{YEAR_IN_WORDS})"
    "|,?(?: of)? ?'(?P<short_year>[0-9]{2})"
    f"|,? (?:(?:of|in) )?(?:the )?(?P<year_step>{STEP}) year)?"
)
"""An optional year after a day or month: "may 5, 2023", "may '23", "march of last year"."""

SEASON_OF = (
    "(?: (?:regular|nba|mls|epl|premier league|la liga|serie a|bundesliga|ligue 1|champions league"
    "|basketball|football|soccer|league))? season"
)
"""A season, perhaps with its competition; a blank before it."""

SESSION = "(?:stock )?(?:trading day|day of trading|trading session|business day|market day|market close|session|close)"
"""A session of the exchange, or its end."""

COUNTED = (
    "trading day|trading session|session|business day|day|week|wk|fortnight|month|mth|mo|quarter|year|yr|decade|century"
    "|centurie"
)
"""What can be counted: "three trading days ago"."""

NTH_UNIT = (
    f"trading day|trading session|session|day of trading|business day|day|weekend|week|month|quarter|qtr|half|{WEEKDAY}"
)
"""What can be a numbered part of a period: "second friday of march"."""

KIND_OF_YEAR = "(?:(?:fiscal|financial|calendar) )?"
FISCAL = f"{KIND_OF_YEAR}(?:year )?|fy ?"
"""What may stand before a year. The fiscal year is taken for the calendar year."""

OF = f"(?: of| in| for| from|,)? ?(?:the )?(?:{FISCAL})"
"""What may stand between a quarter and its year."""


def month_number(written: str) -> int:
    """The number, 1 to 12, of a month in digits or in a spelling of `MONTH_NAME`.

    >>> month_number("Sept."), month_number("09")
    (9, 9)
    """
    if written.isdigit():
        return int(written)
    return 1 + MONTH_ABBREVIATIONS.index(written[:3].casefold())


def is_weekday(written: str) -> bool:
    """Whether a word is a spelling of `WEEKDAY`, in lower case; "month" begins like "mon", but is a unit."""
    return written[:3] in WEEKDAY_ABBREVIATIONS and written not in UNITS


def weekday_number(written: str) -> int:
    """The number of a day of the week in a spelling of `WEEKDAY`, in lower case: Monday is 0.

    >>> weekday_number("tues")
    1
    """
    return WEEKDAY_ABBREVIATIONS.index(written[:3])


def year_number(written: str) -> int:
    """The year of four digits or of words that match `YEAR_IN_WORDS`."""
    return int(written) if written.isdigit() else read_year_in_words(written)


def day_number(written: str) -> int:
    """The number of a day of the month: "4", "4th", "fourth", "twenty-first"."""
    if written[:1].isdigit():
        return int(re.sub("[a-z]", "", written))
    return sum(NUMBER_WORDS.get(word, ORDINAL_WORDS.get(word, 0)) for word in re.split("[ -]", written))


def count_number(written: str) -> Fraction:
    """The number of a count in digits or words. Raises ValueError for zero: "past 0 days" is not a time."""
    number = read_count(written)
    if number == 0:
        raise ValueError("a count of zero")
    return number
