"""The forms of dates that stand alone or inside a longer expression: their patterns, each with its reader.

A form is written once. `SIMPLE_RULES` match it alone. `DATES`, `DAYS` and `PERIOD` are the same patterns without group
names: parts of the longer forms in `crag.text.dates.rules` ("end of PERIOD", "from DATE to DATE").
"""

import re

from crag.text.dates.readers import (
    read_century,
    read_current_years,
    read_day_of_month,
    read_day_of_relative_month,
    read_day_of_stepped_month,
    read_days_of_month,
    read_decade,
    read_decade_in_words,
    read_half,
    read_half_of_short_year,
    read_holiday,
    read_named_day,
    read_named_month,
    read_named_month_of_year,
    read_numbered_day,
    read_numbered_month,
    read_quarter,
    read_quarter_of_short_year,
    read_quarter_of_year,
    read_relative_period,
    read_relative_season,
    read_season,
    read_short_decade,
    read_short_season,
    read_short_year,
    read_weekday,
    read_year,
    read_years,
)
from crag.text.dates.rule import Reader, Rule
from crag.text.dates.vocabulary import (
    AND_YEAR,
    CARDINAL_DAY,
    CENTURIES,
    COUNTED,
    DAY,
    DAY_WITH_ENDING,
    DECADES,
    FISCAL,
    HOLIDAYS,
    KIND_OF_YEAR,
    MONTH,
    MONTH_NAME,
    NTH_UNIT,
    OF,
    ORDINAL,
    ORDINAL_DAY,
    RECENT,
    SEASON_OF,
    STEP,
    WEEKDAY,
    YEAR,
)
from crag.text.number_words import YEAR_IN_WORDS

Form = tuple[str, Reader]
"""A pattern, and the function that reads what it matches."""

_TIME = r"[0-9:]{5,8}(?:\.[0-9]{1,6})?(?: ?(?:e[sd]?t|utc|gmt|z)|[+-][0-9]{2}:?[0-9]{2})?"
"""A time of day behind a day in digits; it does not move the day, whatever its zone."""

_DAY_FORMS: tuple[Form, ...] = (
    # "2024-01-05", "2024.01.05", "2024-01-05 16:00:00 est", "2024-01-05t16:00:00.000z"; a time alone is not a date
    (f"(?P<year>{YEAR})[-/.]{MONTH}[-/.]{DAY}(?:[ t]{_TIME})?", read_numbered_day),
    # "01/05/2024", "1-5-2024"; of "5.1.2024" the order is the other
    (f"{MONTH}[-/]{DAY}[-/](?P<year>{YEAR})", read_numbered_day),
    # "20240105"
    (f"(?P<year>{YEAR})(?P<month>0[1-9]|1[0-2])(?P<day>[0-3][0-9])", read_numbered_day),
    # "1/5/24"
    (f"{MONTH}/{DAY}/(?P<year>[0-9]{{2}})", read_numbered_day),
    # "january 5th, 2024", "jan 5", "friday, january the 5th"
    (
        f"(?:(?:{WEEKDAY}),? )?(?P<name>{MONTH_NAME})(?:[ -]?| the )(?P<day>{DAY_WITH_ENDING}){AND_YEAR}",
        read_day_of_month,
    ),
    # "january the fifth", "january twenty-fifth, 2024"; not "in january first quarter results"
    (
        (
            f"(?:(?:{WEEKDAY}),? )?(?P<name>{MONTH_NAME}) (?:the )?(?P<day>{ORDINAL_DAY})"
            f"(?! (?:{NTH_UNIT}|{COUNTED})){AND_YEAR}"
        ),
        read_day_of_month,
    ),
    # "march one 2020", which only a year makes a day
    (
        f"(?P<name>{MONTH_NAME}) (?P<day>{CARDINAL_DAY})(?=,? (?:{YEAR}|{YEAR_IN_WORDS})){AND_YEAR}",
        read_day_of_month,
    ),
    # "last april 1", "next may the 5th"
    (
        f"(?P<step>{STEP}) (?P<name>{MONTH_NAME}) (?:the )?(?P<day>{DAY_WITH_ENDING}|{ORDINAL_DAY})(?! {YEAR})",
        read_day_of_stepped_month,
    ),
    # "2024 january 5"
    (f"(?P<year>{YEAR}),? (?P<name>{MONTH_NAME}) (?P<day>{DAY_WITH_ENDING})", read_day_of_month),
    # "05-jan-24", and "5 jan 24" at the end of a clause
    (f"(?P<day>[0-9]{{1,2}})-(?P<name>{MONTH_NAME})-(?P<short_year>[0-9]{{2}})", read_day_of_month),
    (
        f"(?P<day>[0-9]{{1,2}}) (?P<name>{MONTH_NAME}) (?P<short_year>[0-9]{{2}})(?= ?(?:[?.,!;)]|$))",
        read_day_of_month,
    ),
    # "5.1.2024": day before month, as in Europe
    (f"{DAY}\\.{MONTH}\\.(?P<year>{YEAR})", read_numbered_day),
    # "on christmas day", "last new year's eve"; without such a word it is a title
    (f"(?:(?<=on )|(?<![a-z0-9 ])|(?P<step>{STEP}) )(?P<holiday>{'|'.join(HOLIDAYS)}){AND_YEAR}", read_holiday),
    # "5 january 2024", "5th of jan", "friday the 5th of january", "fifth of january"
    (
        (
            f"(?:(?:{WEEKDAY}),? (?:the )?)?"
            f"(?P<day>{DAY_WITH_ENDING}|{ORDINAL_DAY}(?= of))(?: of)?[ -](?P<name>{MONTH_NAME}){AND_YEAR}"
        ),
        read_day_of_month,
    ),
    # "the 15th of last month"
    (f"(?P<day>{DAY_WITH_ENDING}|{ORDINAL_DAY}) of (?P<step>{STEP}) month", read_day_of_relative_month),
    (
        (
            "day before yesterday|yesterday(?: (?:morning|afternoon|evening|night))?|last night"
            "|today|tonight|this (?:morning|afternoon|evening)"
        ),
        read_named_day,
    ),
    ("day after tomorrow|tomorrow", read_named_day),
    # "last week on friday", "next week's monday"
    (f"(?P<week>{STEP}) week(?:'s|,)?(?: on)? (?P<weekday>{WEEKDAY})", read_weekday),
    # "friday", "most recent friday", "tuesday of last week"; not "friday the 13th" of no month
    (
        (
            f"(?:(?P<step>this (?:past|coming|upcoming)|{STEP}|{RECENT}) )?(?P<weekday>{WEEKDAY})(?! the [0-9])"
            f"(?:(?: of| in| from)?(?: the)? (?P<week>{STEP}) week)?"
        ),
        read_weekday,
    ),
)

ABOUT = "(?:early[ -]|mid[ -]|late[ -])?"
"""What may stand before a month or year. It does not narrow the time: "late march" is March."""

_NO_AGE = "(?<!in his )(?<!in her )(?<!in my )(?<!in their )"
"""Not before the years of a person's life: "in his late 90s"."""

TO = f"(?: (?:up )?to | until | till | through | thru | - |-)(?:the )?{ABOUT}"
"""What stands between the ends of a span. Not "and", which needs "between" before it."""

_TWO_DAYS = f"(?P<first>{DAY_WITH_ENDING}){TO}(?P<last>{DAY_WITH_ENDING})"
TWO_DAYS_BETWEEN = f"(?P<first>{DAY_WITH_ENDING}) and (?:the )?(?P<last>{DAY_WITH_ENDING})"

_PERIOD_FORMS: tuple[Form, ...] = (
    # "february 20-23, 2024", "feb 20 to 23"
    (f"(?:from )?(?P<name>{MONTH_NAME}) {_TWO_DAYS}{AND_YEAR}", read_days_of_month),
    # "20-23 february 2024", "20th to the 23rd of february"
    (f"(?:from (?:the )?)?{_TWO_DAYS}(?: of)?[ -](?P<name>{MONTH_NAME}){AND_YEAR}", read_days_of_month),
    # "2022-23", "2022/2023 season", "2022-2023 nba season"; the reader refuses "2022-24"
    (f"(?P<year>{YEAR})(?P<mark>[-/])(?P<end>{YEAR}|[0-9]{{2}})(?P<word>{SEASON_OF})?", read_season),
    # "98-99 season"
    ("'?(?P<year>[0-9]{2})[-/]'?(?P<end>[0-9]{2}) season", read_short_season),
    # "2019-21", not "2019-11"
    (f"(?P<year>{YEAR})-(?P<end>[0-9]{{2}})", read_years),
    # "1990s", "1990's"
    ("(?P<decade>(?:1[89]|20)[0-9])0'?s", read_decade),
    # "the 90s", "'90s", "mid-90s"; not "the 20s", which may be those of any century, and not "in her (early) 90s"
    (f"(?:the {ABOUT}'?|'|{_NO_AGE}(?:early|mid|late)[ -]'?)(?P<decade>[3-9])0'?s", read_short_decade),
    # "the nineties"
    (f"the {ABOUT}(?P<word>{'|'.join(DECADES)})", read_decade_in_words),
    # "the 20th century"
    (f"(?:the )?{ABOUT}(?P<number>19th|20th|21st|{'|'.join(CENTURIES)}) century", read_century),
    ("(?:this|current) (?P<years>decade|century)", read_current_years),
    # "02/2024"
    (f"(?P<month>0?[1-9]|1[0-2])/(?P<year>{YEAR})", read_numbered_month),
    # "2024-02", "2024/2"; not "2024-13"
    (f"(?P<year>{YEAR})[-/](?P<month>0?[1-9]|1[0-2])(?: season)?", read_numbered_month),
    # "2024 january"; not the verb of "in 2024 may apple rise?"
    (f"(?P<year>{YEAR}),? (?!may\\b)(?P<name>{MONTH_NAME})", read_named_month_of_year),
    # "last year's september", "last year in september"
    (
        f"(?P<year_step>{STEP}) year(?:'s|,)?(?: in)? (?!may\\b)(?P<name>{MONTH_NAME})(?! [0-9])",
        read_named_month_of_year,
    ),
    # "2024", "year 2024", "2024 season", "twenty twenty-four"
    (f"(?:{FISCAL})(?P<year>{YEAR}|{YEAR_IN_WORDS})(?: season)?", read_year),
    # "fy23", "'99"
    ("(?:fy ?'?|')(?P<year>[0-9]{2})", read_short_year),
    # "h1 2023", "1h 2023", "2023 h1"; not "h1" alone, which is also a visa or a heading
    (f"h(?P<half>[12]){OF}(?P<year>{YEAR})", read_half),
    (f"(?P<half>[12])h{OF}(?P<year>{YEAR})", read_half),
    (f"(?P<year>{YEAR})[ -]?h(?P<half>[12])", read_half),
    ("h(?P<half>[12]) ?(?:fy ?'?|')(?P<short_year>[0-9]{2})", read_half_of_short_year),
    # "q2 2023", "second quarter of the year 2023", "fourth quarter"; not "q5"
    (
        (
            f"(?:{KIND_OF_YEAR}q(?P<number>[1-4])(?!'[0-9])"
            f"|(?P<ordinal>{ORDINAL})[ -]{KIND_OF_YEAR}(?:quarter|qtr))"
            f"(?:(?:{OF}|[-/])(?P<year>{YEAR}|{YEAR_IN_WORDS})|(?: of)?(?: the)? (?P<year_step>{STEP}) year)?"
        ),
        read_quarter,
    ),
    # "q3'22", "q3 fy22", "3q22"
    ("q(?P<number>[1-4]) ?(?:fy ?'?|')(?P<year>[0-9]{2})", read_quarter_of_short_year),
    ("(?P<number>[1-4])q ?(?:fy ?'?|'?)(?P<year>[0-9]{2})", read_quarter_of_short_year),
    # "2023 q2", "2q 2023"
    (f"(?P<year>{YEAR})[ -]?q(?P<number>[1-4])", read_quarter_of_year),
    # "fy23 q2", "last year's q2", "quarter 2 of 2023", "quarter two, 2023"
    ("fy ?'?(?P<short_year>[0-9]{2}) ?q(?P<number>[1-4])", read_quarter_of_year),
    (f"(?P<year_step>{STEP}) year(?:'s|,)?(?: in)? q(?P<number>[1-4])", read_quarter_of_year),
    (f"quarter (?P<number>[1-4]|one|two|three|four){OF}(?P<year>{YEAR})", read_quarter_of_year),
    (f"(?P<number>[1-4])q{OF}(?P<year>{YEAR})", read_quarter_of_year),
    # "march", "next march", "march of 2023", "march last year"; not the march of 1755 or of the year 633
    (
        f"(?:(?P<step>{STEP}) )?(?P<name>{MONTH_NAME}){AND_YEAR}(?! [0-9]{{3,4}}\\b)",
        read_named_month,
    ),
    # "last week", "this season"; a lone "week" means nothing
    (f"(?P<step>{STEP}) {KIND_OF_YEAR}(?P<unit>weekend|week|month|quarter|qtr|half|year|season)", read_relative_period),
    # "last nba season"
    (f"(?P<step>{STEP})(?:{SEASON_OF})", read_relative_season),
)

SIMPLE_RULES = tuple(Rule(pattern, read) for pattern, read in (*_DAY_FORMS, *_PERIOD_FORMS))
"""Expressions that can be part of a longer one."""


def _without_group_names(forms: tuple[Form, ...]) -> str:
    """The patterns of the forms as alternatives, usable several times in one pattern."""
    patterns = [re.sub(r"\(\?P<\w+>", "(?:", pattern) for pattern, _ in forms]
    return "(?:" + "|".join(patterns) + ")"


ISO_DAY = f"{YEAR}-[0-9]{{2}}-[0-9]{{2}}"
YEARLESS = f"(?:{MONTH_NAME}|q[1-4]|(?:{ORDINAL}) quarter)"
"""What may share the year of another one: "q2 and q3 2022"."""
DAYS = _without_group_names(_DAY_FORMS)
DATES = _without_group_names((*_DAY_FORMS, *_PERIOD_FORMS))
"""Any day or period."""
PERIOD = f"(?:the )?(?P<period>{_without_group_names(_PERIOD_FORMS)}|week|month|quarter|year|season)"
"""A period by its name or, as in "end of the month", the current one; the only one with a group."""
