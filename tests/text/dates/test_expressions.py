"""A date expression means what CRAG's labels say it means, on either calendar; any other text means nothing."""

import json
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfoNotFoundError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crag.core.queries import parse_query_time
from crag.text.dates import Calendar, DateRange, eastern_time, expressions, find_dates, resolve_date
from crag.text.dates.calendars import is_session
from crag.text.dates.rules import RULES
from tests.match_steps import has_unbounded_repeat, parse

WEDNESDAY = datetime(2024, 2, 28, 8, 0)
FIELDS = frozenset({"time", "date", "year", "release_date"})
LABELLED = Path(__file__).parents[3] / "../shared/data/kg/kg_questions_split0.jsonl"

BOTH_CALENDARS = [
    ("1850-01-01 to 1850-12-31", "1850|year 1850|the year 1850"),
    ("1800-01-01 to 1899-12-31", "the 1800s"),
    ("1850-01-01 to 1859-12-31", "1850s|the 1850s"),
    ("1990-01-01 to 1999-12-31", "the 1990s|the 1990's|mid-90s|early '90s"),
    ("1999-07-01 to 2000-06-30", "1999/00"),
    ("2003-01-01 to 2018-12-31", "between 2018 and 2003"),
    ("2011-07-01 to 2012-06-30", "2011-12 season"),
    ("2011-12-01 to 2011-12-31", "2011-12"),
    ("2021-01-01 to 2021-12-31", "2021|2021 season"),
    ("2021-01-01 to 2024-02-28", "since 2021|2021 onwards"),
    ("2022-01-01 to 2023-12-31", "2022-2023"),
    ("2022-12-28", "1 year and 2 months ago"),
    ("2022-07-01 to 2023-06-30", "2022-23 season|2022-2023 season|2022/2023|last season"),
    ("2022-10-01 to 2022-12-31", "between october and december 2022"),
    ("2010-01-01 to 2015-12-31", "from 2010 up to 2015|between 2010 & 2015"),
    ("2023-01-01 to 2023-12-31", "the year 2023|2023's|previous year|last fiscal year|financial year 2023"),
    ("2023-02-01 to 2023-02-28", "last february|2023-02|2023/2"),
    ("2023-02-28", "a year ago|an year ago"),
    ("2023-04-01 to 2023-06-30", "q2 2023|second qtr of 2023|2nd quarter, 2023"),
    ("2022-04-01 to 2022-09-30", "second and third quarters of 2022"),
    ("2024-01-08 to 2024-01-09", "january 8 and 9, 2024|jan 8th and 9th"),
    (
        "2023-07-01 to 2023-09-30",
        "two quarters ago|last year's q3|fy23 q3|q3-2023|q3/2023|quarter 3 of 2023|quarter three, 2023",
    ),
    ("2023-07-01 to 2024-02-28", "so far this season"),
    ("2023-08-29 to 2024-02-28", "past half year|last half-year"),
    ("2023-09-01 to 2023-09-30", "last year's september|last year in september|september of the previous year"),
    ("2023-07-01 to 2023-12-31", "second half of 2023|last half|previous half"),
    ("2023-07-01 to 2024-06-30", "2023/24|this season"),
    ("2023-12-24", "christmas eve|last christmas eve|on christmas eve 2023"),
    ("2024-01-01 to 2024-12-31", "this fiscal year|current financial year"),
    ("2023-10-01 to 2023-12-31", "fourth fiscal quarter|last fiscal quarter"),
    (
        "2023-10-01 to 2023-12-31",
        "q4 2023|fiscal q4 2023|fourth quarter|last quarter|last quarter of 2023",
    ),
    ("2023-12-01 to 2024-02-29", "from december to february"),
    ("2023-12-29", "last trading day of 2023|last business day of 2023"),
    ("2024-01-01 to 2024-01-07", "first week of january 2024"),
    ("2024-01-01 to 2024-01-31", "2024-01|january 2024|in the last month"),
    (
        "2024-01-01 to 2024-02-28",
        "year to date|YTD|quarter to date|so far this year|2024 so far|2024 ytd|earlier this year",
    ),
    ("2024-01-01 to 2024-03-31", "1st qtr of 2024|first quarter of 2024|q1|first quarter"),
    ("2024-01-01 to 2024-12-31", "2024"),
    ("2024-01-02", "first trading day of 2024"),
    ("2024-01-05", "2024-01-05|2024-01-05 00:00:00 EST|01/05/2024|01-05-2024|1/5/2024|2024.01.05"),
    ("2024-01-05", "2024-01-05 16:00:00 edt|2024-01-05t09:30:00 et|5 jan 2024"),
    ("2024-01-01 to 2024-02-29", "january & february 2024|jan/feb 2024"),
    ("2024-01-05", "5.1.2024|05.01.2024"),
    ("2024-01-05 to 2024-01-08", "2024-01-05/2024-01-08"),
    ("2024-12-24", "this christmas eve|next christmas eve|christmas eve, 2024"),
    ("2024-01-25 to 2024-01-31", "last week of january"),
    ("2024-01-26", "last friday of january"),
    ("2024-02-01 to 2024-02-28", "mtd|month-to-date"),
    ("2024-02-01 to 2024-02-29", "2024/02|feb|february"),
    ("2024-02-14", "feb 14 2024|14 february 2024|february fourteenth|february the fourteenth, 2024"),
    ("2024-01-22", "january twenty-second|monday, january twenty second, 2024"),
    ("2024-02-17 to 2024-02-18", "two weekends ago"),
    ("2024-02-18 to 2024-02-24", "last week|the  past week|past week|previous week|prior week|preceding week"),
    ("2024-02-20", "last tuesday|the tuesday from the past week|last tues"),
    ("2024-02-21", "a week ago|recent wednesday"),
    ("2024-02-23", "last friday|most recent friday|friday|last week on friday|3 trading days ago"),
    ("2024-02-24 to 2024-02-25", "last weekend"),
    ("2024-02-25 to 2024-02-28", "so far this week|earlier this week"),
    ("2024-02-25 to 2024-03-02", "this week|current week"),
    ("2024-02-26", "the day before yesterday|last monday of february 2024"),
    ("2024-02-26 to 2024-02-28", "last 3 trading days"),
    ("2024-02-27", "yesterday's|last trading day|previous trading day|previous business day|most recent trading day"),
    ("2024-02-27", "yesterday morning|yesterday evening"),
    ("2024-02-27", "the most recent day that the market was open|last day|last close|last session|last night"),
    ("2024-02-27", "last market day|last market close|last stock trading session|last day of trading|final close"),
    ("2024-02-28", "today|wednesday|tonight|this morning|this afternoon|this evening"),
    ("2024-02-29", "tomorrow|next day|next trading day|end of the month|close of the month"),
    ("2024-02-29 to 2024-03-01", "next two days"),
    ("2024-02-29 to 2024-03-04", "next 3 trading days"),
    ("2024-02-29 to 2024-03-13", "next 2 weeks"),
    ("2024-02-29 to 2024-03-02", "later this week"),
    ("2024-03-01", "this friday|day after tomorrow"),
    ("2024-03-01 to 2024-03-31", "next month|this march|next march"),
    ("2024-03-03 to 2024-03-09", "next week|coming week|upcoming week"),
    (None, "2024-02-30|last 0 days|fifth week of february 2023|since tomorrow|friday's child is loving|february 30"),
    (None, "2022/2024|2022/24|0 days ago|fifth week of february 2024|fifth monday of february 2024"),
    (None, "a quarter of a century ago|2020 so far"),
    (None, "|" + "last " * 100),
    (None, "first trading day of last weekend|2024%|$2024|13/2023|1750|2150|q5 2023|sixth day of 2023|2023-00"),
]


def days_of(expression: str, asked_at: datetime = WEDNESDAY, calendar: Calendar = Calendar.CIVIL) -> str | None:
    resolved = resolve_date(expression, asked_at, calendar)
    return str(resolved.range) if resolved else None


@pytest.mark.parametrize(("expected", "expressions"), BOTH_CALENDARS)
def test_on_this_wednesday_both_calendars_agree(expected: str | None, expressions: str) -> None:
    for expression in expressions.split("|"):
        for calendar in Calendar:
            assert days_of(expression, calendar=calendar) == expected, expression


@pytest.mark.parametrize(
    ("expected", "expressions"),
    [
        ("2023-01-02", "2nd day of 2023"),
        ("2023-07-01", "start of the season"),
        ("2024-01-01", "first monday of january 2024"),
        ("2024-02-18", "last sunday|last week, sunday"),
        ("2024-03-02", "end of the week|end of week"),
        ("2024-06-30", "end of the season|end of this season"),
    ],
)
def test_on_the_civil_calendar_a_day_without_a_session_counts(expected: str, expressions: str) -> None:
    for expression in expressions.split("|"):
        assert days_of(expression) == expected, expression


@pytest.mark.parametrize(
    ("expression", "asked_at", "civil", "trading"),
    [
        ("last monday", WEDNESDAY, "2024-02-19", "2024-02-20"),  # Presidents' Day: the label is the next session
        ("today", datetime(2024, 3, 2, 8), "2024-03-02", "2024-03-01"),
        ("tomorrow", datetime(2024, 3, 1, 8), "2024-03-02", "2024-03-04"),
        ("last trading day", datetime(2024, 2, 20, 8), "2024-02-16", "2024-02-16"),
        ("recent friday", datetime(2024, 3, 31, 8), "2024-03-29", "2024-03-28"),  # Good Friday; Monday is to come
        ("last day of the previous month", datetime(2024, 7, 1, 8), "2024-06-30", "2024-06-28"),
        ("close of last month", datetime(2024, 4, 9, 8), "2024-03-31", "2024-03-28"),
        ("start of 2024", WEDNESDAY, "2024-01-01", "2024-01-02"),
        ("past 5 days", WEDNESDAY, "2024-02-24 to 2024-02-28", "2024-02-22 to 2024-02-28"),
        ("two days ago", datetime(2024, 2, 26, 8), "2024-02-24", "2024-02-23"),
        ("2024-02-19", WEDNESDAY, "2024-02-19", "2024-02-19"),  # written out: stays a day without a session
        # Late in the evening in California it is the next day in New York.
        ("today", datetime(2024, 3, 5, 23, 18, 31), "2024-03-05", "2024-03-06"),
        ("last week", datetime(2024, 3, 2, 22), "2024-02-18 to 2024-02-24", "2024-02-25 to 2024-03-02"),
        ("next day", datetime(2024, 2, 23), "2024-02-24", "2024-02-26"),
        ("end of last week", WEDNESDAY, "2024-02-24", "2024-02-23"),
        ("monday", datetime(2024, 2, 19), "2024-02-19", "2024-02-16"),  # a holiday: Tuesday is still to come
        ("monday", datetime(2024, 2, 20), "2024-02-19", "2024-02-20"),
        ("this saturday", WEDNESDAY, "2024-03-02", "2024-03-04"),
        # what comes before and after the day of asking
        ("last january", datetime(2024, 1, 31), "2023-01-01 to 2023-01-31", "2023-01-01 to 2023-01-31"),
        # the latest leap day may be eight years ago
        ("february 29", datetime(2024, 2, 28), "2020-02-29", "2020-02-29"),
    ],
)
def test_what_an_expression_means_on_either_calendar(
    expression: str, asked_at: datetime, civil: str, trading: str
) -> None:
    assert [days_of(expression, asked_at, calendar) for calendar in Calendar] == [civil, trading]


NOW = "now|right now|current|currently|at the moment|at this moment|at present|as of now"


@pytest.mark.parametrize(
    ("expressions", "days"), [("latest|the most recent|newest|most recently", "None"), (NOW, "2024-02-28")]
)
def test_the_newest_record_is_no_day_but_a_word_for_now_names_the_day(expressions: str, days: str) -> None:
    for expression in expressions.split("|"):
        resolved = resolve_date(expression, WEDNESDAY)
        assert resolved is not None
        assert (resolved.newest, str(resolved.range)) == (True, days)


@pytest.mark.parametrize(
    ("pacific", "eastern"),
    [
        (datetime(2024, 3, 5, 23, 18, 31), datetime(2024, 3, 6, 2, 18, 31)),
        (datetime(2024, 3, 9, 23, 30), datetime(2024, 3, 10, 3, 30)),  # New York is already on summer time
        (datetime(2024, 11, 2, 23, 30), datetime(2024, 11, 3, 1, 30)),  # and already back from it
    ],
)
def test_a_pacific_time_is_the_same_moment_in_new_york(pacific: datetime, eastern: datetime) -> None:
    assert eastern_time(pacific) == eastern


def test_without_a_time_zone_database_the_day_in_new_york_is_still_right(monkeypatch: pytest.MonkeyPatch) -> None:
    moments = [datetime(2024, 1, 1) + timedelta(minutes=30 * number) for number in range(48 * 366)]
    days = [eastern_time(moment).date() for moment in moments]

    def missing(key: str) -> None:
        raise ZoneInfoNotFoundError(key)

    monkeypatch.setattr(expressions, "ZoneInfo", missing)
    assert [eastern_time(moment).date() for moment in moments] == days


@pytest.mark.parametrize(
    ("question", "texts"),
    [
        ("What's ACME's  closing price on the Most  Recent Friday?", ["most recent friday"]),
        ("with $1999 at yesterday's close, can i buy 2,024 shares?", ["yesterday"]),
        ("what was it at the end of the trading day yesterday?", ["yesterday"]),
        ("did they win in 2021, and last week on friday?", ["2021", "last week on friday"]),
        ("latest price of the last trading day of 2023", ["latest", "last trading day of 2023"]),
        ("may i ask how april met sun in may?", ["may"]),
        ("how did it close on İstanbul’s 2024–01–05", ["2024-01-05"]),
        ("who led the charts in the 1990’s?", ["1990's"]),
        ("who wrote the book?", []),
        ("did the owls win on christmas day?", ["christmas day"]),
        ("when did christmas eve come out, and who sang new year's day?", []),
        ("does the show air every friday?", []),
        ("in 2024 may apple raise its price?", ["2024"]),
        ("who won 5 jan 24 hours race?", []),
        ("what was the gross on the last weekend of february?", ["last weekend of february"]),
        ("did it rise by 2024% at once?", []),
        ("did they score 3.2021 on average?", []),
        ("who died in his late 90s?", []),
        ("who fought on the last day of the war?", []),
        ("x" * 2000 + " today", []),
    ],
)
def test_dates_are_found_where_they_stand(question: str, texts: list[str]) -> None:
    found = find_dates(question, WEDNESDAY)
    assert [one.expression for one in found] == texts


WORDS = (
    "last past this next first second week of in january may 2023 2024 2023-24 1990s - / to from between and since most"
    " recent latest day trading friday month 5 999 a year ago quarter q4 now current the end 31 02/30/2024 9999 2000-02"
)
TEXTS = st.text(max_size=80) | st.lists(st.sampled_from(WORDS.split()), max_size=12).map(" ".join)
MOMENTS = st.datetimes(datetime(1950, 1, 1), datetime(2100, 1, 1))


@given(TEXTS, MOMENTS, st.sampled_from(Calendar))
def test_any_text_is_answered_with_dates_in_order_or_none(text: str, asked_at: datetime, calendar: Calendar) -> None:
    resolve_date(text, asked_at, calendar)
    rest = iter(" ".join(text.lower().split()))
    for one in find_dates(text, asked_at, calendar):
        assert all(character in rest or character in "'-" for character in one.expression)
        assert one.newest or one.range is not None


@given(st.dates(date(1800, 1, 1), date(2099, 12, 31)), MOMENTS, st.sampled_from(Calendar))
def test_a_day_written_out_is_itself(day: date, asked_at: datetime, calendar: Calendar) -> None:
    for form in (day.isoformat(), f"{day:%B %d, %Y}", f"{day:%d %b %Y}", f"{day:%m/%d/%Y}"):
        resolved = resolve_date(form, asked_at, calendar)
        assert resolved is not None
        assert resolved.range == DateRange(day, day)


@pytest.mark.parametrize(
    "part", ["last ", "2023 to ", "2023-01-01-", "first trading day of 1990s ", "999 trading days ago ", "9", " "]
)
def test_only_the_first_characters_of_a_long_question_are_searched(part: str) -> None:
    question = part * 20_000
    beginning = question[: expressions.MAX_QUESTION_CHARACTERS]
    assert find_dates(question, WEDNESDAY, Calendar.TRADING) == find_dates(beginning, WEDNESDAY, Calendar.TRADING)


def test_every_form_takes_bounded_work_at_each_position_of_a_question() -> None:
    assert not any(has_unbounded_repeat(parse(rule.pattern.pattern, 0)) for rule in RULES)


def label_of(row: dict[str, Any]) -> DateRange | None:
    """The days that a labelled question asks about; None if its label names none, or no whole range."""
    bounds = {sign: value for field, sign, value in (row["frame"] or {"filters": []})["filters"] if field in FIELDS}
    ends = [resolve_date(bounds.get("eq", bounds.get(sign, "")), WEDNESDAY) for sign in ("ge", "le")]
    ranges = [end.range for end in ends if end and end.range]
    return DateRange(ranges[0].first, ranges[1].last) if len(ranges) == 2 else None


def test_the_labelled_questions_mean_what_their_labels_say() -> None:
    """Prices exist only for sessions up to the question, so finance ranges are compared by them, but for the last."""
    if not LABELLED.exists():
        pytest.skip(f"the labelled questions are not there: {LABELLED}")
    compared = different = 0
    for row in map(json.loads, LABELLED.read_text(encoding="utf-8").splitlines()):
        label, asked_at = label_of(row), parse_query_time(row["query_time"])
        if label is None or asked_at is None:
            continue
        calendar = Calendar.TRADING if row["domain"] == "finance" else Calendar.CIVIL
        today = eastern_time(asked_at).date()

        def days(found: DateRange, calendar: Calendar = calendar, today: date = today) -> object:
            if calendar is Calendar.CIVIL or found.is_day:
                return found
            some = (found.first + timedelta(days=number) for number in range((found.last - found.first).days + 1))
            return [day for day in some if day < today and is_session(day)]

        resolved = (found.range for found in find_dates(row["query"], asked_at, calendar))
        compared += 1
        different += days(label) not in [days(found) for found in resolved if found]
    assert compared > 150
    assert different <= 0.03 * compared
