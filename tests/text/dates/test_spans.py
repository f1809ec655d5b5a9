"""Generated counts, spans and neighbours of dates, against plain arithmetic with days."""

from calendar import monthrange
from datetime import date, datetime, time, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crag.text.dates import Calendar, DateRange, find_dates, resolve_date
from crag.text.dates.calendars import is_session
from crag.text.number_words import read_count

TUESDAY = datetime(2024, 3, 5, 12)

# fmt: off
ONES = [
    "", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
]
TENS = ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
# fmt: on

MOMENTS = st.datetimes(datetime(1990, 1, 1), datetime(2060, 1, 1))
DAYS = st.dates(date(1950, 1, 1), date(2050, 12, 31))


def in_words(number: int, hyphen: str = "-") -> str:
    """The English words of a number below 1,000."""
    if number < 20:
        return ONES[number]
    if number < 100:
        return f"{TENS[number // 10]}{hyphen if number % 10 else ''}{ONES[number % 10]}"
    rest = f" and {in_words(number % 100, hyphen)}" if number % 100 else ""
    return f"{ONES[number // 100]} hundred{rest}"


def meaning(words: str, asked_at: datetime = TUESDAY, calendar: Calendar = Calendar.CIVIL) -> DateRange | None:
    """The days of the words, which are a whole expression and are found as one inside a question."""
    resolved = resolve_date(words, asked_at, calendar)
    found = [date.range for date in find_dates(f"what happened {words}?", asked_at, calendar)]
    assert found == ([resolved.range] if resolved else []), words
    return resolved.range if resolved else None


@given(st.integers(1, 999), st.sampled_from("- "))
def test_a_count_in_words_is_its_number(number: int, hyphen: str) -> None:
    assert read_count(in_words(number, hyphen)) == number


@given(st.integers(1, 999), st.sampled_from("- "), MOMENTS)
def test_days_and_weeks_ago_are_counted_back_from_today(number: int, hyphen: str, asked_at: datetime) -> None:
    for unit, days in (("days", 1), ("weeks", 7)):
        day = asked_at.date() - timedelta(days=number * days)
        assert meaning(f"{in_words(number, hyphen)} {unit} ago", asked_at) == DateRange(day, day)


@given(st.integers(2, 150), MOMENTS)
def test_years_ago_mean_the_same_day_of_that_year(number: int, asked_at: datetime) -> None:
    today = asked_at.date()
    last_day = monthrange(today.year - number, today.month)[1]
    day = date(today.year - number, today.month, min(today.day, last_day))
    assert meaning(f"{in_words(number)} years ago", asked_at) == DateRange(day, day)


@given(st.integers(1, 99), MOMENTS)
def test_the_past_days_end_today(number: int, asked_at: datetime) -> None:
    today = asked_at.date()
    expected = DateRange(today - timedelta(days=number - 1), today)
    assert meaning(f"the past {in_words(number)} days", asked_at) == expected


@given(DAYS, st.integers(1, 27))
def test_days_of_one_month_in_any_notation_are_one_span(day: date, length: int) -> None:
    first = day.replace(day=1)
    last = first + timedelta(days=length)
    expected = DateRange(first, last)
    for name in (f"{day:%B}".lower(), f"{day:%b}".lower()):
        for words in (
            f"{name} {first.day}-{last.day}, {day.year}",
            f"{name} {first.day}–{last.day}, {day.year}",
            f"{name} {first.day} to {last.day} {day.year}",
            f"from {name} {first.day} through {last.day}, {day.year}",
            f"between {name} {first.day} and {last.day}, {day.year}",
            f"{first.day}-{last.day} {name} {day.year}",
            f"from the {first.day}th to the {last.day}th of {name} {day.year}",
        ):
            assert meaning(words) == expected, words


@given(DAYS, st.integers(0, 300))
def test_a_span_between_two_days_in_any_notation_has_both(first: date, length: int) -> None:
    last = first + timedelta(days=length)
    for form in ("%B %d, %Y", "%d %B %Y", "%Y-%m-%d", "%m/%d/%Y"):
        one, other = (f"{day:{form}}".lower() for day in (first, last))
        for words in (f"from {one} to {other}", f"{one} through {other}", f"between {one} and {other}"):
            assert meaning(words) == DateRange(first, last), words


@given(DAYS, st.integers(1, 300))
def test_the_first_day_takes_its_year_from_the_second(first: date, length: int) -> None:
    last = first + timedelta(days=length)
    if (first.month, first.day) == (2, 29):
        return  # the latest leap day before `last` may be another one
    words = f"from {first:%B} {first.day} to {last:%B} {last.day}, {last.year}".lower()
    assert meaning(words) == DateRange(first, last)


@given(DAYS, st.integers(1, 60), st.sampled_from((-1, 1)))
def test_days_before_and_after_a_day_are_counted_from_it(day: date, number: int, direction: int) -> None:
    word = "after" if direction > 0 else "before"
    neighbour = day + timedelta(days=direction)
    expected = day + timedelta(days=direction * number)

    assert meaning(f"the day {word} {day:%B} {day.day}, {day.year}".lower()) == DateRange(neighbour, neighbour)
    assert meaning(f"{in_words(number)} days {word} {day.isoformat()}") == DateRange(expected, expected)


@given(DAYS, st.integers(1, 9), st.sampled_from((-1, 1)))
def test_sessions_before_and_after_a_day_leave_out_days_without_one(day: date, number: int, direction: int) -> None:
    word = "after" if direction > 0 else "before"
    expected = day
    passed: list[date] = []
    while len(passed) < number:
        expected += timedelta(days=direction)
        if is_session(expected):
            passed.append(expected)

    next_session = DateRange(passed[0], passed[0])
    assert meaning(f"the day {word} {day.isoformat()}", TUESDAY, Calendar.TRADING) == next_session
    assert meaning(f"the trading day {word} {day.isoformat()}") == next_session
    counted = meaning(f"{in_words(number)} trading days {word} {day.isoformat()}")
    assert counted == DateRange(passed[-1], passed[-1])


@given(DAYS)
def test_the_week_of_a_day_begins_on_its_sunday(day: date) -> None:
    sunday = day - timedelta(days=day.isoweekday() % 7)
    expected = DateRange(sunday, sunday + timedelta(days=6))
    assert meaning(f"the week of {day:%B} {day.day}, {day.year}".lower()) == expected


@given(st.integers(1900, 2050), st.integers(1, 3), st.integers(1, 3))
def test_quarters_and_spans_of_quarters_are_three_months_each(year: int, number: int, more: int) -> None:
    last = min(number + more, 4)
    first_day = date(year, 3 * number - 2, 1)
    last_day = date(year, 3 * last, monthrange(year, 3 * last)[1])
    end_of_first = date(year, 3 * number, monthrange(year, 3 * number)[1])

    for words in (f"q{number}-q{last} {year}", f"q{number} to q{last} {year}", f"from q{number} to q{last} of {year}"):
        assert meaning(words) == DateRange(first_day, last_day), words
    assert meaning(f"q{number} {year}") == DateRange(first_day, end_of_first)


@given(st.integers(1900, 2050))
def test_a_half_of_a_year_in_any_notation_is_six_months(year: int) -> None:
    first = DateRange(date(year, 1, 1), date(year, 6, 30))
    second = DateRange(date(year, 7, 1), date(year, 12, 31))
    for form in ("h{} {}", "{}h {}", "h{} of {}"):
        assert meaning(form.format(1, year)) == first, form
        assert meaning(form.format(2, year)) == second, form
    assert meaning(f"the second half of {year}") == second


@given(MOMENTS)
def test_to_date_spans_reach_from_the_beginning_to_today(asked_at: datetime) -> None:
    today = asked_at.date()
    for words in ("ytd", "year to date", "year-to-date"):
        assert meaning(words, asked_at) == DateRange(today.replace(month=1, day=1), today)
    assert meaning("month to date", asked_at) == DateRange(today.replace(day=1), today)


@given(st.dates(date(2000, 1, 1), date(2050, 1, 1)), st.integers(0, 400))
def test_a_day_without_a_year_is_the_latest_one(today: date, days_ago: int) -> None:
    day = today - timedelta(days=days_ago)
    if (day.month, day.day) == (2, 29) or days_ago >= 365:
        return
    asked_at = datetime.combine(today, time(12))
    for words in (f"on {day:%B} {day.day}", f"on {day:%A}, {day:%B} {day.day}", f"on the {day.day}th of {day:%B}"):
        assert meaning(words.lower(), asked_at) == DateRange(day, day), words


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("two and a half years ago", "2021-09-05"),
        ("a year and a half ago", "2022-09-05"),
        ("half a year ago", "2023-09-05"),
        ("2.5 years ago", "2021-09-05"),
        ("a dozen years ago", "2012-03-05"),
        ("half a dozen weeks ago", "2024-01-23"),
        ("a couple of weeks ago", "2024-02-20"),
        ("a hundred years ago", "1924-03-05"),
        ("1,000 days ago", "2021-06-09"),
        ("two decades ago", "2004-03-05"),
        ("two centuries ago", "1824-03-05"),
        ("a fortnight ago", "2024-02-20"),
        ("three days from now", "2024-03-08"),
        ("the week before last", "2024-02-18 to 2024-02-24"),
        ("2019–21", "2019-01-01 to 2021-12-31"),
        ("2019 through 2021", "2019-01-01 to 2021-12-31"),
        ("december 28, 2022 to january 3", "2022-12-28 to 2023-01-03"),
        ("q3 2022 to q1", "2022-07-01 to 2023-03-31"),
        ("2022 q3", "2022-07-01 to 2022-09-30"),
        ("third quarter of fiscal 2022", "2022-07-01 to 2022-09-30"),
        ("fy2022", "2022-01-01 to 2022-12-31"),
        ("first half of february 2024", "2024-02-01 to 2024-02-15"),
        ("first nine months of 2023", "2023-01-01 to 2023-09-30"),
        ("last two weeks of february 2024", "2024-02-16 to 2024-02-29"),
        ("the week after february 23, 2024", "2024-02-25 to 2024-03-02"),
        ("the month before march 2022", "2022-02-01 to 2022-02-28"),
        ("the friday after february 23, 2024", "2024-03-01"),
        ("the twenty-third of february 2024", "2024-02-23"),
        ("march last year", "2023-03-01 to 2023-03-31"),
        ("february 20 last year", "2023-02-20"),
        ("q1 of last year", "2023-01-01 to 2023-03-31"),
        ("week ending february 23, 2024", "2024-02-17 to 2024-02-23"),
        ("week starting february 19, 2024", "2024-02-19 to 2024-02-25"),
        ("from february 20 on", "2024-02-20 to 2024-03-05"),
        ("mid-february to mid-march 2024", "2024-02-01 to 2024-03-31"),
        ("q2 and q3 2022", "2022-04-01 to 2022-09-30"),
        ("january and february 2024", "2024-01-01 to 2024-02-29"),
        ("q3'22", "2022-07-01 to 2022-09-30"),
        ("the 90s", "1990-01-01 to 1999-12-31"),
        ("the nineties", "1990-01-01 to 1999-12-31"),
        ("the late eighties", "1980-01-01 to 1989-12-31"),
        ("the 20th century", "1901-01-01 to 2000-12-31"),
        ("the early twenty-first century", "2001-01-01 to 2100-12-31"),
        ("the past decade", "2014-03-06 to 2024-03-05"),
        ("'99", "1999-01-01 to 1999-12-31"),
        ("98-99 season", "1998-07-01 to 1999-06-30"),
        ("fy23", "2023-01-01 to 2023-12-31"),
        ("4q23", "2023-10-01 to 2023-12-31"),
        ("4q 2023", "2023-10-01 to 2023-12-31"),
        ("12/29/23", "2023-12-29"),
        ("december '23", "2023-12-01 to 2023-12-31"),
        ("dec 29, '23", "2023-12-29"),
        ("from october to december of '23", "2023-10-01 to 2023-12-31"),
        ("20231229", "2023-12-29"),
        ("two years back", "2022-03-05"),
        ("the trailing twelve months", "2023-03-06 to 2024-03-05"),
        ("this decade", "2020-01-01 to 2029-12-31"),
        ("this century", "2001-01-01 to 2100-12-31"),
        ("12/29/95", "1995-12-29"),
        ("02/2024", "2024-02-01 to 2024-02-29"),
        ("2024-01-05T16:00:00.000Z", "2024-01-05"),
        ("2024-01-05 16:00:00-05:00", "2024-01-05"),
        ("the 15th of last month", "2024-02-15"),
        ("a week ago today", "2024-02-27"),
        ("the past year and a half", "2022-09-06 to 2024-03-05"),
        ("eighteen hundred", "1800-01-01 to 1800-12-31"),
        ("nineteen oh five", "1905-01-01 to 1905-12-31"),
        ("eighteen hundred and fifty", "1850-01-01 to 1850-12-31"),
        ("twenty-twelve", "2012-01-01 to 2012-12-31"),
        ("from nineteen ninety to nineteen ninety-five", "1990-01-01 to 1995-12-31"),
        ("december thirty-first, nineteen ninety-nine", "1999-12-31"),
        ("q2 of twenty twenty-three", "2023-04-01 to 2023-06-30"),
        ("2024 aug", "2024-08-01 to 2024-08-31"),
        ("2023 september 5", "2023-09-05"),
        ("march one 2020", "2020-03-01"),
        ("october twenty-three, 2023", "2023-10-23"),
        ("last april 1", "2023-04-01"),
        ("last march 4", "2024-03-04"),
        ("last march the fifth", "2023-03-05"),
        ("next march 5", "2025-03-05"),
        ("next april fifth", "2024-04-05"),
        ("05-sep-23", "2023-09-05"),
        ("1 mar 24", "2024-03-01"),
        ("the aughts", "2000-01-01 to 2009-12-31"),
        ("3 wks ago", "2024-02-13"),
        ("5 yrs ago", "2019-03-05"),
        ("6 mos ago", "2023-09-05"),
        ("past 2 yrs", "2022-03-06 to 2024-03-05"),
        ("two fridays ago", "2024-02-23"),
        ("a tuesday ago", "2024-02-27"),
        ("a week from friday", "2024-03-15"),
        ("two weeks from tuesday", "2024-03-26"),
        ("this coming friday", "2024-03-08"),
        ("coming tuesday", "2024-03-12"),
        ("this past tuesday", "2024-02-27"),
        ("this past monday", "2024-03-04"),
        ("the last weekend of february", "2024-02-24 to 2024-02-25"),
        ("first weekend in march 2024", "2024-03-02 to 2024-03-03"),
        ("fourth-quarter 2023", "2023-10-01 to 2023-12-31"),
        ("third-quarter", "2023-07-01 to 2023-09-30"),
        ("qtd", "2024-01-01 to 2024-03-05"),
        ("2023h2", "2023-07-01 to 2023-12-31"),
        ("h1'23", "2023-01-01 to 2023-06-30"),
        ("second to last day of february 2024", "2024-02-28"),
        ("two seasons ago", "2021-07-01 to 2022-06-30"),
        ("the 2019-2020 nba season", "2019-07-01 to 2020-06-30"),
        ("last nba season", "2022-07-01 to 2023-06-30"),
        ("the current premier league season", "2023-07-01 to 2024-06-30"),
        ("this day", "2024-03-05"),
        ("this time last year", "2023-03-05"),
        ("the same day last year", "2023-03-05"),
        ("year-end 2023", "2023-12-31"),
        ("the quarter ended december 31, 2023", "2023-10-01 to 2023-12-31"),
        ("quarter ending june 2023", "2023-04-01 to 2023-06-30"),
        ("year ended june 30, 2023", "2022-07-01 to 2023-06-30"),
        ("six months ended june 30, 2023", "2023-01-01 to 2023-06-30"),
        ("the penultimate day of 2023", "2023-12-30"),
        ("2nd-to-last friday of february 2024", "2024-02-16"),
        ("third-to-last trading day of 2023", "2023-12-27"),
        ("next-to-last month of 2023", "2023-11-01 to 2023-11-30"),
        ("2023's last trading day", "2023-12-29"),
        ("last year's first friday", "2023-01-06"),
        ("2010 to present", "2010-01-01 to 2024-03-05"),
        ("2010-now", "2010-01-01 to 2024-03-05"),
        ("from may 2020 until now", "2020-05-01 to 2024-03-05"),
        ("since the beginning of 2023", "2023-01-01 to 2024-03-05"),
        ("since the end of last year", "2023-12-31 to 2024-03-05"),
        # no day at all
        ("sixty-six million years ago", None),
        ("three hundred thousand years ago", None),
        ("two thousand eight hundred", None),
        ("two and a half days ago", None),
        ("february 23-20, 2024", None),
        ("june 1755", None),
        ("january and june 2022", None),
        ("98-97 season", None),
        ("the 31st of last month", None),
        ("last february 30", None),
        ("march one", None),
        ("2024 may", None),
    ],
)
def test_every_other_form_means_its_days_or_nothing(words: str, expected: str | None) -> None:
    resolved = resolve_date(words, TUESDAY)
    assert (str(resolved.range) if resolved else None) == expected
