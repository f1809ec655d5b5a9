"""Readers: what a matched date expression means, seen from the day of asking.

Each reader takes the match of its pattern (`crag.text.dates.rules`) and returns a range of days. It returns None if the
words have the form but mean no date. A ValueError or OverflowError (February 30, the year 10000) means the same.
"""

import re
from dataclasses import dataclass
from datetime import date, timedelta

from crag.text.dates.calendars import (
    ONE_DAY,
    CalendarUnit,
    DateRange,
    is_session,
    period_around,
    period_from,
    session_at,
    shifted,
)
from crag.text.dates.vocabulary import (
    CENTURIES,
    DECADES,
    HOLIDAYS,
    NEAREST_WEEKDAYS,
    ORDINALS,
    STEPS,
    UNITS,
    count_number,
    day_number,
    month_number,
    weekday_number,
    year_number,
)

Match = re.Match[str]

_YEARS_WITH_A_LEAP_DAY = 8
"""Any eight consecutive years have a February 29, even around 1900 and 2100."""


@dataclass(frozen=True, slots=True)
class Viewpoint:
    """The day of asking, and whether days are sessions of the stock exchange."""

    today: date
    trading: bool

    def day_at_or_before(self, day: date) -> DateRange:
        """The day; on the trading calendar the latest session up to it."""
        if self.trading and not is_session(day):
            return one_day(session_at(day, -1))
        return one_day(day)

    def day_at_or_after(self, day: date) -> DateRange:
        """The day; on the trading calendar the first session from it on, but for a past day no session after today."""
        if not self.trading or is_session(day):
            return one_day(day)

        session = session_at(day, 1)
        # A holiday just before today: the next session is still to come, so it is the one before.
        if session > self.today >= day:
            return one_day(session_at(day, -1))
        return one_day(session)


def one_day(day: date) -> DateRange:
    """The day as a range."""
    return DateRange(day, day)


def month_of_year(year: int, month: int) -> DateRange:
    """A calendar month."""
    return period_around(date(year, month, 1), CalendarUnit.MONTH)


def short_year(written: str, view: Viewpoint) -> int:
    """The year of two digits: of this century up to ten years from now, else of the twentieth."""
    year = 2000 + int(written)
    return year if year <= view.today.year + 10 else year - 100


def written_year(match: Match, view: Viewpoint) -> int | None:
    """The year that stands beside a day or month, in digits, in words or as "last year"."""
    groups = match.groupdict()
    if groups.get("year"):
        return year_number(match["year"])
    if groups.get("short_year"):
        return short_year(match["short_year"], view)
    return view.today.year + STEPS[match["year_step"]] if groups.get("year_step") else None


# --- days -------------------------------------------------------------------------------------------------------------
def read_numbered_day(match: Match, view: Viewpoint) -> DateRange:
    """A day in digits; a "month" above 12 is the day."""
    written = match["year"]
    year = int(written) if len(written) == len("2024") else short_year(written, view)
    month = int(match["month"])
    day = int(match["day"])
    if month > 12:
        return one_day(date(year, day, month))
    return one_day(date(year, month, day))


def read_day_of_month(match: Match, view: Viewpoint) -> DateRange | None:
    """A day and a month by name; without a year the latest such day up to today."""
    month = month_number(match["name"])
    day = day_number(match["day"])
    own_year = written_year(match, view)
    if own_year is not None:
        return one_day(date(own_year, month, day))

    for year in range(view.today.year, view.today.year - 1 - _YEARS_WITH_A_LEAP_DAY, -1):
        # February 29 of a common year lands in March, hence the check of the month.
        candidate = date(year, month, 1) + timedelta(days=day - 1)
        if candidate.month == month and candidate <= view.today:
            return one_day(candidate)
    return None


def read_day_of_stepped_month(match: Match, view: Viewpoint) -> DateRange:
    """For "last april 1" and "next may 5": the latest such day before today, or the first after it."""
    month = month_number(match["name"])
    day = day_number(match["day"])
    step = STEPS[match["step"]]
    this_year = date(view.today.year, month, day)
    if (step < 0 and this_year >= view.today) or (step > 0 and this_year <= view.today):
        return one_day(this_year.replace(year=this_year.year + step))
    return one_day(this_year)


def read_holiday(match: Match, view: Viewpoint) -> DateRange:
    """A holiday of the same day every year; without a year the latest up to today, "next": the first after it."""
    month, day = HOLIDAYS[match["holiday"]]
    own_year = written_year(match, view)
    if own_year is not None:
        return one_day(date(own_year, month, day))

    this_year = date(view.today.year, month, day)
    step = STEPS.get(match["step"] or "", -1)
    if step == 0:
        return one_day(this_year)
    if step > 0:
        return one_day(this_year if this_year > view.today else date(view.today.year + 1, month, day))
    # "Last" leaves out today
    is_past = this_year < view.today or (this_year == view.today and not match["step"])
    return one_day(this_year if is_past else date(view.today.year - 1, month, day))


def read_days_of_month(match: Match, view: Viewpoint) -> DateRange | None:
    """Several days of one month, such as "february 20-23"; without a year the latest that have begun."""
    month = month_number(match["name"])
    first_day = day_number(match["first"])
    last_day = day_number(match["last"])
    year = written_year(match, view)
    if year is None:
        has_begun = (month, first_day) <= (view.today.month, view.today.day)
        year = view.today.year - (0 if has_begun else 1)
    return DateRange(date(year, month, first_day), date(year, month, last_day))


def read_adjacent_days_of_month(match: Match, view: Viewpoint) -> DateRange | None:
    """Two days beside each other, such as "february 20 and 21"; None for others, which are two dates."""
    is_next_day = day_number(match["last"]) == day_number(match["first"]) + 1
    return read_days_of_month(match, view) if is_next_day else None


def read_day_of_relative_month(match: Match, view: Viewpoint) -> DateRange:
    """For "the 15th of last month"."""
    month = relative_period(CalendarUnit.MONTH, match["step"], view)
    return one_day(month.first.replace(day=day_number(match["day"])))


def read_named_day(match: Match, view: Viewpoint) -> DateRange:
    """A day that is named by its distance from today, such as "yesterday" or "day after tomorrow"."""
    words = match[0]
    if "tomorrow" in words:
        return view.day_at_or_after(view.today + timedelta(days=2 if "after" in words else 1))

    days_back = 0
    if "before" in words:
        days_back = 2
    elif words.startswith("yesterday") or words == "last night":
        days_back = 1
    return view.day_at_or_before(view.today - timedelta(days=days_back))


def read_today(_match: Match, view: Viewpoint) -> DateRange:
    """For "now"."""
    return one_day(view.today)


def read_no_day(_match: Match, _view: Viewpoint) -> None:
    """For "latest": the newest record, of whatever day."""


def read_previous_session(_match: Match, view: Viewpoint) -> DateRange:
    """For "the most recent day that the market was open": the session before today."""
    return one_day(session_at(view.today, -1))


def read_day_of_last_year(_match: Match, view: Viewpoint) -> DateRange:
    """For "this time last year"."""
    return view.day_at_or_before(shifted(view.today, CalendarUnit.YEAR, -1))


def read_neighbouring_day(match: Match, view: Viewpoint) -> DateRange:
    """For "last day" or "next trading day": the day before or after today; "this day" is today."""
    if STEPS.get(match["step"]) == 0:
        return view.day_at_or_before(view.today)

    # "Recent" and "final" are no steps: both look back.
    step = -1 if STEPS.get(match["step"], -1) < 0 else 1
    if view.trading or match["day"] != "day":
        return one_day(session_at(view.today, step))
    return one_day(view.today + step * ONE_DAY)


def read_weekday(match: Match, view: Viewpoint) -> DateRange:
    """A weekday of the last, this or the next calendar week.

    "Recent" is the latest before today, "coming" the first after today, and a weekday alone the latest up to today.
    """
    groups = match.groupdict()
    number = weekday_number(match["weekday"])
    step = groups["week"] or groups.get("step")

    # "This coming friday" may be in this week; only "next friday" is in the next one
    if not groups["week"] and step in NEAREST_WEEKDAYS:
        return coming_weekday(number, view)
    if step in STEPS:
        week = period_around(shifted(view.today, CalendarUnit.WEEK, STEPS[step]), CalendarUnit.WEEK)
        # Weekdays are numbered from Monday, but weeks begin on Sunday.
        days_after_sunday = (number + 1) % 7
        return view.day_at_or_after(week.first + timedelta(days=days_after_sunday))

    days_back = (view.today.weekday() - number) % 7
    if days_back == 0 and step:  # "recent friday" on a Friday
        days_back = 7
    return view.day_at_or_after(view.today - timedelta(days=days_back))


def coming_weekday(number: int, view: Viewpoint) -> DateRange:
    """The first such weekday after today; Monday is 0."""
    days_ahead = (number - view.today.weekday() - 1) % 7 + 1
    return view.day_at_or_after(view.today + timedelta(days=days_ahead))


def read_periods_ago(match: Match, view: Viewpoint) -> DateRange:
    """For "two quarters ago" and "two weekends ago": that whole period, counted back from the current one."""
    count = int(count_number(match["count"]))
    unit = UNITS[match["unit"]]
    return period_around(shifted(view.today, unit, -count), unit)


def read_weekdays_ago(match: Match, view: Viewpoint) -> DateRange:
    """For "two fridays ago": the second Friday before today."""
    number = weekday_number(match["weekday"])
    count = count_number(match["count"])
    days_back = (view.today.weekday() - number - 1) % 7 + 1
    return view.day_at_or_after(view.today - timedelta(days=days_back + 7 * (int(count) - 1)))


# --- periods ----------------------------------------------------------------------------------------------------------
def read_season(match: Match, _view: Viewpoint) -> DateRange | None:
    """For "2022-23": consecutive years only. Without "season", "2011-12" is a month and "2022-2023" two years."""
    year = int(match["year"])
    end = int(match["end"])
    is_consecutive = end == year + 1 or match["end"] == f"{(year + 1) % 100:02}"
    if not is_consecutive:
        return None

    is_month_or_full_year = end <= 12 or end > year
    if match["mark"] == "-" and not match["word"] and is_month_or_full_year:
        return None
    return period_around(date(year, 7, 1), CalendarUnit.SEASON)


def read_decade(match: Match, _view: Viewpoint) -> DateRange:
    """Ten years, such as "the 1990s"; "the 1800s" and "the 1900s" are a hundred."""
    first_year = int(match["decade"]) * 10
    is_century = first_year in {1800, 1900}
    return period_from(date(first_year, 1, 1), CalendarUnit.YEAR, 100 if is_century else 10)


def read_short_decade(match: Match, _view: Viewpoint) -> DateRange:
    """Ten years of the twentieth century, such as "the 90s"."""
    return period_from(date(1900 + int(match["decade"]) * 10, 1, 1), CalendarUnit.YEAR, 10)


def read_decade_in_words(match: Match, _view: Viewpoint) -> DateRange:
    """Ten years, such as "the nineties" of the twentieth century."""
    return period_from(date(DECADES[match["word"]], 1, 1), CalendarUnit.YEAR, 10)


def read_current_years(match: Match, view: Viewpoint) -> DateRange:
    """For "this decade" and "this century", which began with the year 2001."""
    if match["years"] == "decade":
        return period_from(date(view.today.year // 10 * 10, 1, 1), CalendarUnit.YEAR, 10)
    return period_from(date((view.today.year - 1) // 100 * 100 + 1, 1, 1), CalendarUnit.YEAR, 100)


def read_century(match: Match, _view: Viewpoint) -> DateRange:
    """A hundred years, such as "the 20th century": 1901 to 2000."""
    written = match["number"]
    number = CENTURIES.get(written) or int(written[:2])
    return period_from(date(100 * number - 99, 1, 1), CalendarUnit.YEAR, 100)


def read_short_season(match: Match, view: Viewpoint) -> DateRange | None:
    """For "98-99 season": consecutive years only."""
    if int(match["end"]) != (int(match["year"]) + 1) % 100:
        return None
    return period_around(date(short_year(match["year"], view), 7, 1), CalendarUnit.SEASON)


def read_short_year(match: Match, view: Viewpoint) -> DateRange:
    """A year of two digits, such as "fy23"."""
    return period_from(date(short_year(match["year"], view), 1, 1), CalendarUnit.YEAR)


def read_numbered_month(match: Match, _view: Viewpoint) -> DateRange:
    """A month in digits, with its year."""
    return month_of_year(int(match["year"]), int(match["month"]))


def read_year(match: Match, _view: Viewpoint) -> DateRange:
    """A calendar year."""
    return period_from(date(year_number(match["year"]), 1, 1), CalendarUnit.YEAR)


def read_quarter(match: Match, view: Viewpoint) -> DateRange:
    """A quarter; without a year the latest such quarter that has started."""
    number = int(match["number"]) if match["number"] else ORDINALS[match["ordinal"]]
    own_year = written_year(match, view)

    first = _first_day_of_quarter(own_year or view.today.year, number)
    if own_year is None and first > view.today:
        first = shifted(first, CalendarUnit.YEAR, -1)
    return period_from(first, CalendarUnit.QUARTER)


def read_adjacent_quarters(match: Match, _view: Viewpoint) -> DateRange | None:
    """Two quarters beside each other, such as "third and fourth quarter of 2023"; None for others."""
    first = ORDINALS[match["first"]]
    if ORDINALS[match["last"]] != first + 1:
        return None
    return period_from(_first_day_of_quarter(int(match["year"]), first), CalendarUnit.HALF)


def read_quarter_of_year(match: Match, view: Viewpoint) -> DateRange:
    """A quarter behind its year, "2023 q2" and "last year's q2", or "quarter 2" before it."""
    year = written_year(match, view)
    number = int(count_number(match["number"]))
    first = _first_day_of_quarter(view.today.year if year is None else year, number)
    return period_from(first, CalendarUnit.QUARTER)


def read_quarter_of_short_year(match: Match, _view: Viewpoint) -> DateRange:
    """A quarter of this century: "q3'22"."""
    first = _first_day_of_quarter(2000 + int(match["year"]), int(match["number"]))
    return period_from(first, CalendarUnit.QUARTER)


def _first_day_of_quarter(year: int, number: int) -> date:
    # Quarters begin in the months 1, 4, 7 and 10.
    return date(year, 3 * number - 2, 1)


def read_half(match: Match, _view: Viewpoint) -> DateRange:
    """A half of a year, such as "h1 2023"."""
    first_month = 1 if match["half"] == "1" else 7
    return period_from(date(int(match["year"]), first_month, 1), CalendarUnit.HALF)


def read_half_of_short_year(match: Match, view: Viewpoint) -> DateRange:
    """A half of a year of two digits: "h1'23"."""
    first_month = 1 if match["half"] == "1" else 7
    return period_from(date(short_year(match["short_year"], view), first_month, 1), CalendarUnit.HALF)


def read_years(match: Match, _view: Viewpoint) -> DateRange | None:
    """For "2019-21": 2019 to 2021; None for a month ("2019-11"), and if the second year is not the later one."""
    first_year = int(match["year"])
    last_year = first_year - first_year % 100 + int(match["end"])
    if int(match["end"]) <= 12 or last_year <= first_year:
        return None
    return DateRange(date(first_year, 1, 1), date(last_year, 12, 31))


def read_named_month(match: Match, view: Viewpoint) -> DateRange:
    """A month by name; without a year the latest that has started; "last": before this month; "next": after it."""
    month = month_number(match["name"])
    own_year = written_year(match, view)
    if own_year is not None:
        return month_of_year(own_year, month)

    year = view.today.year
    this_month = view.today.month
    step = match["step"]
    direction = STEPS[step] if step else -1
    # "next march", asked in March, is that of the next year.
    if direction > 0 and month <= this_month:
        year += 1
    # "march", asked in March, is the current one, "last march" the one before.
    if direction < 0 and (month > this_month or (step and month == this_month)):
        year -= 1
    return month_of_year(year, month)


def read_named_month_of_year(match: Match, view: Viewpoint) -> DateRange:
    """A month by name behind its year: "2024 january", "last year's january"."""
    year = written_year(match, view)
    return month_of_year(view.today.year if year is None else year, month_number(match["name"]))


def read_relative_period(match: Match, view: Viewpoint) -> DateRange:
    """The last, this or the next unit of the calendar: "last week", "this season"."""
    return relative_period(UNITS[match["unit"]], match["step"], view)


def read_relative_season(match: Match, view: Viewpoint) -> DateRange:
    """For "last nba season"."""
    return relative_period(CalendarUnit.SEASON, match["step"], view)


def read_seasons_ago(match: Match, view: Viewpoint) -> DateRange:
    """For "two seasons ago": the season before the last."""
    count = int(count_number(match["count"]))
    return period_around(shifted(view.today, CalendarUnit.SEASON, -count), CalendarUnit.SEASON)


def relative_period(unit: CalendarUnit, step: str, view: Viewpoint) -> DateRange:
    """The unit that a word of `STEPS` leads to."""
    return period_around(shifted(view.today, unit, STEPS[step]), unit)


def read_period_to_date(match: Match, view: Viewpoint) -> DateRange:
    """For "year to date" or "mtd": from the start of the period up to today."""
    abbreviations = {"m": CalendarUnit.MONTH, "q": CalendarUnit.QUARTER, "y": CalendarUnit.YEAR}
    written = match["unit"]
    unit = abbreviations[written] if written in abbreviations else UNITS[written]
    return DateRange(period_around(view.today, unit).first, view.today)
