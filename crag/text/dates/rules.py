"""The forms of date expressions: a table of patterns, each with its reader.

Patterns match lower-case text with single spaces (prepared by `crag.text.dates.expressions`). None has an unbounded
repetition, so matching takes linear time.

A form is written once. `SIMPLE_RULES` match it alone; the longer forms ("end of PERIOD", "from DATE to DATE") contain
the simple forms without group names, and read the inner date with `SIMPLE_RULES`.
"""

import re

from crag.text.dates.calendars import ONE_DAY, CalendarUnit, DateRange, period_around, session_at, shifted
from crag.text.dates.counts import (
    edge_of_period,
    first_or_last_units,
    neighbour_of_date,
    part_of_period,
    read_ago,
    read_before_last,
    read_counted_period,
    read_two_units_ago,
    shifted_by_count,
)
from crag.text.dates.readers import (
    Match,
    Viewpoint,
    coming_weekday,
    one_day,
    read_adjacent_days_of_month,
    read_adjacent_quarters,
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
    read_neighbouring_day,
    read_numbered_day,
    read_numbered_month,
    read_period_to_date,
    read_periods_ago,
    read_quarter,
    read_quarter_of_short_year,
    read_quarter_of_year,
    read_relative_period,
    read_relative_season,
    read_season,
    read_seasons_ago,
    read_short_decade,
    read_short_season,
    read_short_year,
    read_weekday,
    read_weekdays_ago,
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
    POSITION,
    RECENT,
    SEASON_OF,
    SESSION,
    STEP,
    UNITS,
    WEEKDAY,
    WEEKDAY_ABBREVIATIONS,
    YEAR,
    count_number,
)
from crag.text.number_words import COUNT, YEAR_IN_WORDS

Form = tuple[str, Reader]


# --- forms that can be part of a longer one ---------------------------------------------------------------------------
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

_ABOUT = "(?:early[ -]|mid[ -]|late[ -])?"
"""What may stand before a month or year. It does not narrow the time: "late march" is March."""

_NO_AGE = "(?<!in his )(?<!in her )(?<!in my )(?<!in their )"
"""Not before the years of a person's life: "in his late 90s"."""

_TO = f"(?: (?:up )?to | until | till | through | thru | - |-)(?:the )?{_ABOUT}"
"""What stands between the ends of a span. Not "and", which needs "between" before it."""

_TWO_DAYS = f"(?P<first>{DAY_WITH_ENDING}){_TO}(?P<last>{DAY_WITH_ENDING})"
_TWO_DAYS_BETWEEN = f"(?P<first>{DAY_WITH_ENDING}) and (?:the )?(?P<last>{DAY_WITH_ENDING})"

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
    (f"(?:the {_ABOUT}'?|'|{_NO_AGE}(?:early|mid|late)[ -]'?)(?P<decade>[3-9])0'?s", read_short_decade),
    # "the nineties"
    (f"the {_ABOUT}(?P<word>{'|'.join(DECADES)})", read_decade_in_words),
    # "the 20th century"
    (f"(?:the )?{_ABOUT}(?P<number>19th|20th|21st|{'|'.join(CENTURIES)}) century", read_century),
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


_ISO_DAY = f"{YEAR}-[0-9]{{2}}-[0-9]{{2}}"
_YEARLESS = f"(?:{MONTH_NAME}|q[1-4]|(?:{ORDINAL}) quarter)"
_DAYS = _without_group_names(_DAY_FORMS)
_DATES = _without_group_names((*_DAY_FORMS, *_PERIOD_FORMS))
_PERIOD = f"(?:the )?(?P<period>{_without_group_names(_PERIOD_FORMS)}|week|month|quarter|year|season)"


# --- readers of forms that contain a date -----------------------------------------------------------------------------
def _read_inner_date(text: str, view: Viewpoint) -> DateRange:
    """A date inside a longer expression. Raises ValueError for other text."""
    for rule in SIMPLE_RULES:
        match = rule.pattern.fullmatch(text)
        days = rule.read(match, view) if match else None
        if days:
            return days
    raise ValueError(f"{text!r} is not a date")


def _read_inner_period(text: str, view: Viewpoint) -> DateRange:
    """A period inside a longer expression; in "end of the month" it is the current one."""
    if text in UNITS:
        return period_around(view.today, UNITS[text])
    return _read_inner_date(text, view)


def _read_part_of_period(match: Match, view: Viewpoint) -> DateRange | None:
    period = _read_inner_period(match["period"], view)
    return part_of_period(period, match["nth"], match["unit"], view)


def _read_edge_of_period(match: Match, view: Viewpoint) -> DateRange:
    period = _read_inner_period(match["period"], view)
    return edge_of_period(period, match["edge"], view)


def _read_from_to(match: Match, view: Viewpoint) -> DateRange:
    """A date without a year takes that of the other; two years may come in any order."""
    start_view = end_view = view
    if _lacks_year(match["start"]) and _HAS_YEAR.search(match["end"]):
        # "from november to march 2024" starts in the November before that March.
        start_view = Viewpoint(_read_inner_date(match["end"], view).last, view.trading)
    elif _lacks_year(match["end"]) and _HAS_YEAR.search(match["start"]):
        # "from november 2022 to march" ends within a year.
        first = _read_inner_date(match["start"], view).first
        end_view = Viewpoint(shifted(first, CalendarUnit.YEAR, 1) - ONE_DAY, view.trading)

    start = _read_inner_date(match["start"], start_view)
    end = _read_inner_date(match["end"], end_view)
    if start.first > end.last:
        # Both lack a year: the latest start before the end
        start = _read_inner_date(match["start"], Viewpoint(end.last, view.trading))

    return DateRange(min(start.first, end.first), max(start.last, end.last))


def _read_adjacent(match: Match, view: Viewpoint) -> DateRange | None:
    """Months or quarters beside each other that share a year; None for others, which are two dates."""
    end = _read_inner_date(match["end"], view)
    start = _read_inner_date(match["start"], Viewpoint(end.last, view.trading))
    return DateRange(start.first, end.last) if start.last + ONE_DAY == end.first else None


_HAS_YEAR = re.compile(f"{YEAR}|{YEAR_IN_WORDS}|'[0-9]{{2}}")


def _lacks_year(text: str) -> bool:
    """Whether a date is one of every year, such as "february 20" or "q1"."""
    if _HAS_YEAR.search(text) or re.match(rf"(?:{STEP}) ", text):
        return False
    return re.search(rf"\b(?:{MONTH_NAME}|q[1-4]|quarter|qtr)\b", text) is not None


def _read_since(match: Match, view: Viewpoint) -> DateRange:
    return DateRange(_read_inner_date(match["date"], view).first, view.today)


def _read_since_edge(match: Match, view: Viewpoint) -> DateRange:
    return DateRange(_read_edge_of_period(match, view).first, view.today)


def _read_so_far(match: Match, view: Viewpoint) -> DateRange | None:
    """The days of a current period up to today; None if it is over or to come."""
    period = _read_inner_date(match["date"], view)
    return DateRange(period.first, view.today) if period.contains(view.today) else None


def _read_rest(match: Match, view: Viewpoint) -> DateRange:
    """For "later this week": the days of the current period after today."""
    return DateRange(view.today + ONE_DAY, _read_inner_date(match["date"], view).last)


def _read_from_weekday(match: Match, view: Viewpoint) -> DateRange:
    """For "two weeks from friday": so long after the coming Friday."""
    number = WEEKDAY_ABBREVIATIONS.index(match["weekday"][:3])
    return shifted_by_count(coming_weekday(number, view).first, match["count"], match["units"], 1, view)


def _read_week_of(match: Match, view: Viewpoint) -> DateRange:
    """The week or weekend of a day."""
    return period_around(_read_inner_date(match["date"], view).first, UNITS[match["unit"]])


def _read_week_at(match: Match, view: Viewpoint) -> DateRange:
    """The seven days that end or begin with a day."""
    day = _read_inner_date(match["date"], view).first
    first = day - 6 * ONE_DAY if match["edge"] in {"ending", "ended"} else day
    return DateRange(first, first + 6 * ONE_DAY)


def _read_units_ended(match: Match, view: Viewpoint) -> DateRange:
    """For "quarter ended march 31, 2024": the months up to that day or month."""
    after = _read_inner_date(match["date"], view).last + ONE_DAY
    first = shifted(after, UNITS[match["unit"]], -int(count_number(match["count"] or "one")))
    return DateRange(first, after - ONE_DAY)


def _read_day_of_last_year(_match: Match, view: Viewpoint) -> DateRange:
    return view.day_at_or_before(shifted(view.today, CalendarUnit.YEAR, -1))


def _read_year_end(match: Match, view: Viewpoint) -> DateRange:
    return edge_of_period(_read_inner_date(match["year"], view), "end", view)


def _read_neighbour(match: Match, view: Viewpoint) -> DateRange:
    """For "the day after DATE", "two weeks before DATE", "two days from now"."""
    days = DateRange(view.today, view.today) if match["date"] == "now" else _read_inner_date(match["date"], view)
    direction = -1 if match["direction"] in {"before", "preceding", "prior to"} else 1
    if not match["count"]:
        return neighbour_of_date(days, match["unit"], direction, view)

    edge = days.last if direction > 0 else days.first
    return shifted_by_count(edge, match["count"], match["units"], direction, view)


def _read_first_units(match: Match, view: Viewpoint) -> DateRange | None:
    period = _read_inner_period(match["period"], view)
    return first_or_last_units(period, match["edge"], match["count"], match["unit"], view)


def _read_previous_session(_match: Match, view: Viewpoint) -> DateRange:
    return one_day(session_at(view.today, -1))


def _read_today(_match: Match, view: Viewpoint) -> DateRange:
    return one_day(view.today)


def _read_no_day(_match: Match, _view: Viewpoint) -> None:
    """For "latest": the newest record, of whatever day."""


# --- the rules --------------------------------------------------------------------------------------------------------
RULES = (
    *SIMPLE_RULES,
    # "last trading day", "next day"; not "last day of march"
    Rule(f"(?P<step>{STEP}|{RECENT}|final) (?P<day>{SESSION}|day(?! of))", read_neighbouring_day),
    # "the most recent day that the market was open"
    Rule(
        f"(?:last|previous|final|{RECENT}) day (?:that |when |on which )?"
        "(?:the )?(?:stock )?markets? (?:was|were) open(?: for trading)?",
        _read_previous_session,
    ),
    # "year to date", "month-to-date", "ytd"
    Rule(r"(?P<unit>year|month|quarter|week|season|y|q|m)(?: to |-to-|t)d(?:ate)?", read_period_to_date),
    # "two quarters ago", "two weekends ago"
    Rule(f"(?P<count>{COUNT}) (?P<unit>quarter|qtr|weekend)s? ago", read_periods_ago),
    # "two weeks ago", "half a year ago", "a year and a half ago", "a week ago today"
    Rule(
        f"(?<!of )(?P<count>{COUNT}|half an?)[ -](?P<unit>{COUNTED})s?(?P<half> and a half)? (?:ago(?: today)?|back)",
        read_ago,
    ),
    # "1 year and 2 months ago"
    Rule(
        f"(?P<count>{COUNT}) (?P<unit>{COUNTED})s?(?:,|,? and) "
        f"(?P<second_count>{COUNT}) (?P<second_unit>{COUNTED})s? ago",
        read_two_units_ago,
    ),
    # "two seasons ago"
    Rule(f"(?P<count>{COUNT})(?:{SEASON_OF})s? ago", read_seasons_ago),
    # "this time last year"
    Rule("(?:this|the same) (?:day|time) last year", _read_day_of_last_year),
    # "year-end 2023"
    Rule(f"year[ -]end(?: of)? (?P<year>{YEAR})", _read_year_end),
    # "two fridays ago"
    Rule(f"(?P<count>{COUNT}) (?P<weekday>(?:mon|tues|wednes|thurs|fri|satur|sun)day)s? ago", read_weekdays_ago),
    # "the week before last"
    Rule(
        "(?P<unit>weekend|week|month|quarter|year|season) (?P<direction>before last|after next)",
        read_before_last,
    ),
    # "the day after february 23", "two weeks before may 5, 2023"; with a date, so not "the day before"
    Rule(
        f"(?:(?P<count>{COUNT}) (?P<units>{COUNTED})s?"
        f"|(?:(?:next|first|previous|last) )?(?P<unit>{COUNTED}|weekend|season|{WEEKDAY})) "
        f"(?P<direction>after|before|following|preceding|prior to) (?:the )?(?P<date>{_DATES})",
        _read_neighbour,
    ),
    # "two weeks from now"
    Rule(
        f"(?P<count>{COUNT}) (?P<units>{COUNTED})s? (?P<direction>from) (?P<date>now|today|tomorrow)",
        _read_neighbour,
    ),
    # "a week from friday"
    Rule(f"(?P<count>{COUNT}) (?P<units>{COUNTED})s? from (?:this )?(?P<weekday>{WEEKDAY})", _read_from_weekday),
    # "week of february 19, 2024"
    Rule(f"(?P<unit>week|weekend) (?:of|from) (?:the )?(?P<date>{_DAYS})", _read_week_of),
    # "week ending february 23, 2024"
    Rule(f"week (?P<edge>ending|ended|starting|beginning|commencing) (?:on )?(?P<date>{_DAYS})", _read_week_at),
    # "quarter ended december 31, 2023", "six months ended june 2023"
    Rule(
        f"(?:(?P<count>{COUNT}) )?(?P<unit>month|quarter|half|year)s? (?:ending|ended) (?:on |in )?(?P<date>{_DATES})",
        _read_units_ended,
    ),
    # "first nine months of 2023"
    Rule(f"(?P<edge>first|last|final) (?P<count>{COUNT}) (?P<unit>{COUNTED})s? (?:of|in) {_PERIOD}", _read_first_units),
    # "past 5 days", "next two weeks", "last year and a half"; not "this 5 days" and not "last year"
    Rule(
        f"(?P<step>last|past|previous|prior|trailing|next|coming) (?:(?P<count>{COUNT}) (?P<units>{COUNTED})s?"
        f"|(?P<unit>{COUNTED})(?P<half> and a half)"
        "|(?P<long_unit>decade|century|fortnight)|(?P<half_year>half[ -]year))",
        read_counted_period,
    ),
    # "first trading day of 2024", "last friday in january"
    Rule(f"(?P<nth>{POSITION}) (?P<unit>{NTH_UNIT}) (?:of|in|for|from) {_PERIOD}", _read_part_of_period),
    # "2023's last friday", "last year's final trading day"
    Rule(f"{_PERIOD}'s (?P<nth>{POSITION}) (?P<unit>{NTH_UNIT})", _read_part_of_period),
    # "end of 2023", "close of last month"
    Rule(f"(?P<edge>end|close|start|beginning) of {_PERIOD}", _read_edge_of_period),
    # "between october and december 2022"
    Rule(f"between (?:the )?(?P<start>{_DATES}) (?:and|&) (?:the )?(?P<end>{_DATES})", _read_from_to),
    # "february 20 and 21, 2024"; the reader refuses "february 20 and 25"
    Rule(f"(?P<name>{MONTH_NAME}) {_TWO_DAYS_BETWEEN}{AND_YEAR}", read_adjacent_days_of_month),
    # "between february 20 and 23, 2024", "between the 20th and the 23rd of february"
    Rule(f"between (?P<name>{MONTH_NAME}) (?:the )?{_TWO_DAYS_BETWEEN}{AND_YEAR}", read_days_of_month),
    Rule(f"between (?:the )?{_TWO_DAYS_BETWEEN}(?: of)? (?P<name>{MONTH_NAME}){AND_YEAR}", read_days_of_month),
    # "2024-01-05/2024-01-08"
    Rule(f"(?P<start>{_ISO_DAY})/(?P<end>{_ISO_DAY})", _read_from_to),
    # "from 2018 to 2020", "2018 - 2020"
    Rule(
        f"(?:from (?:the )?)?{_ABOUT}(?P<start>{_DATES}){_TO}(?P<end>{_DATES})",
        _read_from_to,
    ),
    # "q2 and q3 2022", "january/february 2024"; the reader refuses "january and may 2024"
    Rule(f"(?P<start>{_YEARLESS})(?: and | & |/)(?P<end>{_YEARLESS}{OF}{YEAR})", _read_adjacent),
    # "third and fourth quarter of 2023"
    Rule(
        f"(?P<first>{ORDINAL}) and (?P<last>{ORDINAL}) (?:quarter|qtr)s?{OF}(?P<year>{YEAR})",
        read_adjacent_quarters,
    ),
    # "since last march", "from may 5 on"
    Rule(f"since (?:the )?(?P<date>{_DATES})", _read_since),
    # "since the beginning of 2023"
    Rule(f"since (?:the )?(?P<edge>end|close|start|beginning) of {_PERIOD}", _read_since_edge),
    # "2010 to present", "from may 2020 until now"
    Rule(f"(?:from )?(?:the )?(?P<date>{_DATES}){_TO}(?:present(?: day)?|now|date)", _read_since),
    Rule(f"from (?:the )?(?P<date>{_DATES}) on(?:wards?)?", _read_since),
    Rule(f"(?P<date>{_DATES}) onwards?", _read_since),
    # "so far this year", "this season so far", "2024 ytd", "earlier this month"
    Rule(f"(?:so far (?:in |during )?|earlier )(?P<date>{_DATES})", _read_so_far),
    Rule(f"(?P<date>{_DATES})(?:,? so far| ytd| year[ -]to[ -]date)", _read_so_far),
    # "later this week"
    Rule("later (?P<date>this (?:week|month|quarter|year|season))", _read_rest),
    Rule(
        # "right now": the newest record; its range is today
        "as of now|right now|now|at the moment|at this moment|at present|currently|current",
        _read_today,
        newest=True,
    ),
    # "latest": no day at all
    Rule("most recent(?:ly)?|latest|newest|recent", _read_no_day, newest=True),
)
"""Every form; the first that matches wins."""
