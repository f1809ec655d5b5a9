"""The words of date expressions and, built of them, the patterns of single days and periods.

Patterns are matched against text in lower case with single blanks (`agents.questions.dates` prepares it). None holds an
unbounded repetition, so matching takes time in proportion to the text.
"""

import re

from agents.questions.date_ranges import Unit

STEPS = (
    dict.fromkeys(("last", "past", "previous", "prior", "preceding"), -1)
    | dict.fromkeys(("this", "current"), 0)
    | dict.fromkeys(("next", "coming", "upcoming"), 1)
)
"""How many weeks, months, ... a word steps forward."""
ORDINALS = {
    word: number
    for number, words in enumerate(("first 1st", "second 2nd", "third 3rd", "fourth 4th", "fifth 5th"), start=1)
    for word in words.split()
}
NUMBER_WORDS = "zero one two three four five six seven eight nine ten eleven twelve"
NUMBERS = {word: number for number, word in enumerate(NUMBER_WORDS.split())} | {"a": 1, "an": 1}
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
UNITS = {"qtr": Unit.QUARTER} | {unit.value: unit for unit in Unit}

YEAR = "(?:1[89]|20)[0-9]{2}"
STEP = "|".join(STEPS)
RECENT = "most recent|recent|latest"
ORDINAL = "|".join(ORDINALS)
NUMBER = "[0-9]{1,3}|" + "|".join(NUMBERS)
MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
WEEKDAY = "mon(?:day)?|tue(?:s|sday)?|wed(?:nesday)?|thu(?:r|rs|rsday)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?"
SESSION = "(?:stock )?(?:trading day|day of trading|trading session|market day|market close|session|close)"
OF = "(?: of| in| for| from|,)? ?(?:the )?(?:year )?"

ISO_DAY = f"(?P<year>{YEAR})[-/.](?P<month>[0-9]{{1,2}})[-/.](?P<day>[0-9]{{1,2}})(?:[ t][0-9:]{{5,8}}(?: e[sd]?t)?)?"
AMERICAN_DAY = f"(?P<month>[0-9]{{1,2}})[-/](?P<day>[0-9]{{1,2}})[-/](?P<year>{YEAR})"
MONTH_DAY = f"(?P<name>{MONTH})[ -]?(?P<day>[0-9]{{1,2}})(?:st|nd|rd|th)?(?:(?:,|, | |-)(?P<year>{YEAR}))?"
DAY_MONTH = f"(?P<day>[0-9]{{1,2}})(?:st|nd|rd|th)?(?: of)?[ -](?P<name>{MONTH})(?:(?:,|, | |-)(?P<year>{YEAR}))?"
NAMED_DAY = (
    "day before yesterday|yesterday|last night|today|tonight|this (?:morning|afternoon|evening)|day after tomorrow"
    "|tomorrow"
)
WEEKDAY_DAY = (
    f"(?:(?P<step>{STEP}|{RECENT}) )?(?P<weekday>{WEEKDAY})(?:(?: of| in| from)?(?: the)? (?P<week>{STEP}) week)?"
)
WEEK_DAY = f"(?P<week>{STEP}) week(?:'s|,)?(?: on)? (?P<weekday>{WEEKDAY})"

SEASON = f"(?P<year>{YEAR})(?P<mark>[-/])(?P<end>{YEAR}|[0-9]{{2}})(?P<word> season)?"
SHORT_SEASON = "(?P<start>[0-9]{2})(?P<end>[0-9]{2})(?: season)?"
DECADE = "(?P<decade>(?:1[89]|20)[0-9])0'?s"
ISO_MONTH = f"(?P<year>{YEAR})[-/](?P<month>0?[1-9]|1[0-2])(?: season)?"
MONTH_OF_YEAR = f"(?P<month>0?[1-9]|1[0-2])/(?P<year>{YEAR})"
ONE_YEAR = f"(?:year )?(?P<year>{YEAR})(?: season)?"
QUARTER = f"(?:q(?P<number>[1-4])|(?P<ordinal>{ORDINAL}) (?:quarter|qtr))(?:{OF}(?P<year>{YEAR}))?"
YEAR_QUARTER = f"(?P<year>{YEAR})[ -]?q(?P<number>[1-4])"
NAMED_MONTH = f"(?:(?P<step>{STEP}) )?(?P<name>{MONTH})(?:(?:,|, | | of |-)(?P<year>{YEAR}))?"
YEAR_NAMED_MONTH = f"(?P<year>{YEAR})[ -](?P<name>{MONTH})"
RELATIVE = f"(?P<step>{STEP}) (?P<unit>weekend|week|month|quarter|qtr|half|year|season)"


def anonymous(*patterns: str) -> str:
    """The patterns as alternatives of one group, their own groups without names."""
    return "(?:" + "|".join(re.sub(r"\(\?P<\w+>", "(?:", pattern) for pattern in patterns) + ")"


PERIODS = anonymous(
    SEASON,
    DECADE,
    YEAR_QUARTER,
    YEAR_NAMED_MONTH,
    ISO_MONTH,
    ONE_YEAR,
    QUARTER,
    MONTH_OF_YEAR,
    NAMED_MONTH,
    RELATIVE,
)
DAYS = anonymous(ISO_DAY, AMERICAN_DAY, MONTH_DAY, DAY_MONTH, NAMED_DAY, WEEK_DAY, WEEKDAY_DAY)
DATES = anonymous(DAYS, PERIODS)
PERIOD_OR_CURRENT = f"(?P<period>{PERIODS}|week|month|quarter|year|season)"
