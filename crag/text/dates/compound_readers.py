"""Readers of forms that contain a date: "end of 2023", "from may to july", "two weeks before may 5".

As in `crag.text.dates.readers`, None, a ValueError or an OverflowError means that the words are no date.
"""

import re

from crag.text.dates.calendars import ONE_DAY, CalendarUnit, DateRange, period_around, shifted
from crag.text.dates.counts import (
    edge_of_period,
    first_or_last_units,
    neighbour_of_date,
    part_of_period,
    shifted_by_count,
)
from crag.text.dates.forms import SIMPLE_RULES
from crag.text.dates.readers import Match, Viewpoint, coming_weekday, one_day
from crag.text.dates.vocabulary import MONTH_NAME, STEP, UNITS, YEAR, count_number, weekday_number
from crag.text.number_words import YEAR_IN_WORDS

_HAS_YEAR = re.compile(f"{YEAR}|{YEAR_IN_WORDS}|'[0-9]{{2}}")
"""What makes a date one of a certain year."""


def read_inner_date(text: str, view: Viewpoint) -> DateRange:
    """A date inside a longer expression. Raises ValueError for other text."""
    for rule in SIMPLE_RULES:
        match = rule.pattern.fullmatch(text)
        days = rule.read(match, view) if match else None
        if days:
            return days
    raise ValueError(f"{text!r} is not a date")


def read_inner_period(text: str, view: Viewpoint) -> DateRange:
    """A period inside a longer expression; in "end of the month" it is the current one."""
    if text in UNITS:
        return period_around(view.today, UNITS[text])
    return read_inner_date(text, view)


def read_part_of_period(match: Match, view: Viewpoint) -> DateRange | None:
    """For "first trading day of 2024" and "2023's last friday"."""
    period = read_inner_period(match["period"], view)
    return part_of_period(period, match["nth"], match["unit"], view)


def read_edge_of_period(match: Match, view: Viewpoint) -> DateRange:
    """For "end of 2023" and "close of last month"."""
    period = read_inner_period(match["period"], view)
    return edge_of_period(period, match["edge"], view)


def read_from_to(match: Match, view: Viewpoint) -> DateRange:
    """A date without a year takes that of the other; two years may come in any order."""
    start_view = end_view = view
    if _lacks_year(match["start"]) and _HAS_YEAR.search(match["end"]):
        # "from november to march 2024" starts in the November before that March.
        start_view = Viewpoint(read_inner_date(match["end"], view).last, view.trading)
    elif _lacks_year(match["end"]) and _HAS_YEAR.search(match["start"]):
        # "from november 2022 to march" ends within a year.
        first = read_inner_date(match["start"], view).first
        end_view = Viewpoint(shifted(first, CalendarUnit.YEAR, 1) - ONE_DAY, view.trading)

    start = read_inner_date(match["start"], start_view)
    end = read_inner_date(match["end"], end_view)
    if start.first > end.last:
        # Both lack a year: the latest start before the end.
        start = read_inner_date(match["start"], Viewpoint(end.last, view.trading))

    return DateRange(min(start.first, end.first), max(start.last, end.last))


def read_adjacent(match: Match, view: Viewpoint) -> DateRange | None:
    """Months or quarters beside each other that share a year; None for others, which are two dates."""
    end = read_inner_date(match["end"], view)
    start = read_inner_date(match["start"], Viewpoint(end.last, view.trading))
    return DateRange(start.first, end.last) if start.last + ONE_DAY == end.first else None


def _lacks_year(text: str) -> bool:
    """Whether a date is one of every year, such as "february 20" or "q1"."""
    if _HAS_YEAR.search(text) or re.match(rf"(?:{STEP}) ", text):
        return False
    return re.search(rf"\b(?:{MONTH_NAME}|q[1-4]|quarter|qtr)\b", text) is not None


def read_since(match: Match, view: Viewpoint) -> DateRange:
    """For "since last march": from the beginning of the date up to today."""
    return DateRange(read_inner_date(match["date"], view).first, view.today)


def read_since_edge(match: Match, view: Viewpoint) -> DateRange:
    """For "since the beginning of 2023": from that day up to today."""
    return DateRange(read_edge_of_period(match, view).first, view.today)


def read_so_far(match: Match, view: Viewpoint) -> DateRange | None:
    """The days of a current period up to today; None if it is over or to come."""
    period = read_inner_date(match["date"], view)
    return DateRange(period.first, view.today) if period.contains(view.today) else None


def read_rest(match: Match, view: Viewpoint) -> DateRange:
    """For "later this week": the days of the current period after today."""
    return DateRange(view.today + ONE_DAY, read_inner_date(match["date"], view).last)


def read_from_weekday(match: Match, view: Viewpoint) -> DateRange:
    """For "two weeks from friday": so long after the coming Friday."""
    number = weekday_number(match["weekday"])
    return shifted_by_count(coming_weekday(number, view).first, match["count"], match["units"], 1, view)


def read_week_of(match: Match, view: Viewpoint) -> DateRange:
    """The week or weekend of a day."""
    return period_around(read_inner_date(match["date"], view).first, UNITS[match["unit"]])


def read_week_at(match: Match, view: Viewpoint) -> DateRange:
    """The seven days that end or begin with a day."""
    day = read_inner_date(match["date"], view).first
    first = day - 6 * ONE_DAY if match["edge"] in {"ending", "ended"} else day
    return DateRange(first, first + 6 * ONE_DAY)


def read_units_ended(match: Match, view: Viewpoint) -> DateRange:
    """For "quarter ended march 31, 2024": the months up to that day or month."""
    after = read_inner_date(match["date"], view).last + ONE_DAY
    first = shifted(after, UNITS[match["unit"]], -int(count_number(match["count"] or "one")))
    return DateRange(first, after - ONE_DAY)


def read_year_end(match: Match, view: Viewpoint) -> DateRange:
    """For "year-end 2023": its last day or session."""
    return edge_of_period(read_inner_date(match["year"], view), "end", view)


def read_neighbour(match: Match, view: Viewpoint) -> DateRange:
    """For "the day after DATE", "two weeks before DATE", "two days from now"."""
    days = one_day(view.today) if match["date"] == "now" else read_inner_date(match["date"], view)
    direction = -1 if match["direction"] in {"before", "preceding", "prior to"} else 1
    if not match["count"]:
        return neighbour_of_date(days, match["unit"], direction, view)

    edge = days.last if direction > 0 else days.first
    return shifted_by_count(edge, match["count"], match["units"], direction, view)


def read_first_units(match: Match, view: Viewpoint) -> DateRange | None:
    """For "first nine months of 2023"."""
    period = read_inner_period(match["period"], view)
    return first_or_last_units(period, match["edge"], match["count"], match["unit"], view)
