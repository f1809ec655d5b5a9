"""All forms of date expressions: a table of patterns, each with its reader.

Patterns match lower-case text with single spaces (prepared by `crag.text.dates.expressions`). None has an unbounded
repetition, so matching takes linear time. The forms in `crag.text.dates.forms` come first; the others here mostly
contain one of them.
"""

from crag.text.dates.compound_readers import (
    read_adjacent,
    read_edge_of_period,
    read_first_units,
    read_from_to,
    read_from_weekday,
    read_neighbour,
    read_part_of_period,
    read_rest,
    read_since,
    read_since_edge,
    read_so_far,
    read_units_ended,
    read_week_at,
    read_week_of,
    read_year_end,
)
from crag.text.dates.counts import read_ago, read_before_last, read_counted_period, read_two_units_ago
from crag.text.dates.forms import ABOUT, DATES, DAYS, ISO_DAY, PERIOD, SIMPLE_RULES, TO, TWO_DAYS_BETWEEN, YEARLESS
from crag.text.dates.readers import (
    read_adjacent_days_of_month,
    read_adjacent_quarters,
    read_day_of_last_year,
    read_days_of_month,
    read_neighbouring_day,
    read_no_day,
    read_period_to_date,
    read_periods_ago,
    read_previous_session,
    read_seasons_ago,
    read_today,
    read_weekdays_ago,
)
from crag.text.dates.rule import Rule
from crag.text.dates.vocabulary import (
    AND_YEAR,
    COUNTED,
    MONTH_NAME,
    NTH_UNIT,
    OF,
    ORDINAL,
    POSITION,
    RECENT,
    SEASON_OF,
    SESSION,
    STEP,
    WEEKDAY,
    YEAR,
)
from crag.text.number_words import COUNT

RULES = (
    *SIMPLE_RULES,
    # "last trading day", "next day"; not "last day of march"
    Rule(f"(?P<step>{STEP}|{RECENT}|final) (?P<day>{SESSION}|day(?! of))", read_neighbouring_day),
    # "the most recent day that the market was open"
    Rule(
        f"(?:last|previous|final|{RECENT}) day (?:that |when |on which )?"
        "(?:the )?(?:stock )?markets? (?:was|were) open(?: for trading)?",
        read_previous_session,
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
    Rule("(?:this|the same) (?:day|time) last year", read_day_of_last_year),
    # "year-end 2023"
    Rule(f"year[ -]end(?: of)? (?P<year>{YEAR})", read_year_end),
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
        f"(?P<direction>after|before|following|preceding|prior to) (?:the )?(?P<date>{DATES})",
        read_neighbour,
    ),
    # "two weeks from now"
    Rule(
        f"(?P<count>{COUNT}) (?P<units>{COUNTED})s? (?P<direction>from) (?P<date>now|today|tomorrow)",
        read_neighbour,
    ),
    # "a week from friday"
    Rule(f"(?P<count>{COUNT}) (?P<units>{COUNTED})s? from (?:this )?(?P<weekday>{WEEKDAY})", read_from_weekday),
    # "week of february 19, 2024"
    Rule(f"(?P<unit>week|weekend) (?:of|from) (?:the )?(?P<date>{DAYS})", read_week_of),
    # "week ending february 23, 2024"
    Rule(f"week (?P<edge>ending|ended|starting|beginning|commencing) (?:on )?(?P<date>{DAYS})", read_week_at),
    # "quarter ended december 31, 2023", "six months ended june 2023"
    Rule(
        f"(?:(?P<count>{COUNT}) )?(?P<unit>month|quarter|half|year)s? (?:ending|ended) (?:on |in )?(?P<date>{DATES})",
        read_units_ended,
    ),
    # "first nine months of 2023"
    Rule(f"(?P<edge>first|last|final) (?P<count>{COUNT}) (?P<unit>{COUNTED})s? (?:of|in) {PERIOD}", read_first_units),
    # "past 5 days", "next two weeks", "last year and a half"; not "this 5 days" and not "last year"
    Rule(
        f"(?P<step>last|past|previous|prior|trailing|next|coming) (?:(?P<count>{COUNT}) (?P<units>{COUNTED})s?"
        f"|(?P<unit>{COUNTED})(?P<half> and a half)"
        "|(?P<long_unit>decade|century|fortnight)|(?P<half_year>half[ -]year))",
        read_counted_period,
    ),
    # "first trading day of 2024", "last friday in january"
    Rule(f"(?P<nth>{POSITION}) (?P<unit>{NTH_UNIT}) (?:of|in|for|from) {PERIOD}", read_part_of_period),
    # "2023's last friday", "last year's final trading day"
    Rule(f"{PERIOD}'s (?P<nth>{POSITION}) (?P<unit>{NTH_UNIT})", read_part_of_period),
    # "end of 2023", "close of last month"
    Rule(f"(?P<edge>end|close|start|beginning) of {PERIOD}", read_edge_of_period),
    # "between october and december 2022"
    Rule(f"between (?:the )?(?P<start>{DATES}) (?:and|&) (?:the )?(?P<end>{DATES})", read_from_to),
    # "february 20 and 21, 2024"; the reader refuses "february 20 and 25"
    Rule(f"(?P<name>{MONTH_NAME}) {TWO_DAYS_BETWEEN}{AND_YEAR}", read_adjacent_days_of_month),
    # "between february 20 and 23, 2024", "between the 20th and the 23rd of february"
    Rule(f"between (?P<name>{MONTH_NAME}) (?:the )?{TWO_DAYS_BETWEEN}{AND_YEAR}", read_days_of_month),
    Rule(f"between (?:the )?{TWO_DAYS_BETWEEN}(?: of)? (?P<name>{MONTH_NAME}){AND_YEAR}", read_days_of_month),
    # "2024-01-05/2024-01-08"
    Rule(f"(?P<start>{ISO_DAY})/(?P<end>{ISO_DAY})", read_from_to),
    # "from 2018 to 2020", "2018 - 2020"
    Rule(
        f"(?:from (?:the )?)?{ABOUT}(?P<start>{DATES}){TO}(?P<end>{DATES})",
        read_from_to,
    ),
    # "q2 and q3 2022", "january/february 2024"; the reader refuses "january and may 2024"
    Rule(f"(?P<start>{YEARLESS})(?: and | & |/)(?P<end>{YEARLESS}{OF}{YEAR})", read_adjacent),
    # "third and fourth quarter of 2023"
    Rule(
        f"(?P<first>{ORDINAL}) and (?P<last>{ORDINAL}) (?:quarter|qtr)s?{OF}(?P<year>{YEAR})",
        read_adjacent_quarters,
    ),
    # "since last march", "from may 5 on"
    Rule(f"since (?:the )?(?P<date>{DATES})", read_since),
    # "since the beginning of 2023"
    Rule(f"since (?:the )?(?P<edge>end|close|start|beginning) of {PERIOD}", read_since_edge),
    # "2010 to present", "from may 2020 until now"
    Rule(f"(?:from )?(?:the )?(?P<date>{DATES}){TO}(?:present(?: day)?|now|date)", read_since),
    Rule(f"from (?:the )?(?P<date>{DATES}) on(?:wards?)?", read_since),
    Rule(f"(?P<date>{DATES}) onwards?", read_since),
    # "so far this year", "this season so far", "2024 ytd", "earlier this month"
    Rule(f"(?:so far (?:in |during )?|earlier )(?P<date>{DATES})", read_so_far),
    Rule(f"(?P<date>{DATES})(?:,? so far| ytd| year[ -]to[ -]date)", read_so_far),
    # "later this week"
    Rule("later (?P<date>this (?:week|month|quarter|year|season))", read_rest),
    Rule(
        # "right now": the newest record; its range is today
        "as of now|right now|now|at the moment|at this moment|at present|currently|current",
        read_today,
        newest=True,
    ),
    # "latest": no day at all
    Rule("most recent(?:ly)?|latest|newest|recent", read_no_day, newest=True),
)
"""Every form; the first that matches wins."""
