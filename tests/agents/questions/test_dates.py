"""A date expression means what CRAG's labels say it means, on either calendar; any other text means nothing."""

import time
from datetime import date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfoNotFoundError

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.questions import dates
from agents.questions.dates import (
    Calendar,
    DateRange,
    MomentKind,
    eastern_time,
    find_dates,
    resolve_date,
)
from benchmarks.date_resolution import Agreement, labelled_questions, measure

WEDNESDAY = datetime(2024, 2, 28, 8, 0)
LABELLED = Path(__file__).parents[3] / "../shared/data/kg/kg_questions_split0.jsonl"

BOTH_CALENDARS = [
    # written out
    ("2024", "2024-01-01 to 2024-12-31"),
    ("the year 2023", "2023-01-01 to 2023-12-31"),
    ("2024-01", "2024-01-01 to 2024-01-31"),
    ("2024/02", "2024-02-01 to 2024-02-29"),
    ("2024-01-05", "2024-01-05"),
    ("2024/01/06", "2024-01-06"),
    ("2024-01-05 00:00:00 EST", "2024-01-05"),
    ("01/05/2024", "2024-01-05"),
    ("13/05/2024", "2024-05-13"),
    ("feb 14 2024", "2024-02-14"),
    ("Feb. 9, 2024", "2024-02-09"),
    ("14 february 2024", "2024-02-14"),
    ("3rd of may 2023", "2023-05-03"),
    ("january 2024", "2024-01-01 to 2024-01-31"),
    ("q4 2023", "2023-10-01 to 2023-12-31"),
    ("1st qtr of 2024", "2024-01-01 to 2024-03-31"),
    ("first quarter of 2024", "2024-01-01 to 2024-03-31"),
    ("2023 q2", "2023-04-01 to 2023-06-30"),
    ("the 1990s", "1990-01-01 to 1999-12-31"),
    ("the 1990's", "1990-01-01 to 1999-12-31"),
    ("2023's", "2023-01-01 to 2023-12-31"),
    # written out in part: the latest that is not wholly in the future
    ("feb", "2024-02-01 to 2024-02-29"),
    ("in march", "2023-03-01 to 2023-03-31"),
    ("may 3rd", "2023-05-03"),
    ("feb 29", "2020-02-29"),
    ("q1", "2024-01-01 to 2024-03-31"),
    ("fourth quarter", "2023-10-01 to 2023-12-31"),
    ("last february", "2023-02-01 to 2023-02-28"),
    ("next january", "2025-01-01 to 2025-01-31"),
    # relative to the day of asking
    ("today", "2024-02-28"),
    ("yesterday's", "2024-02-27"),
    ("the day before yesterday", "2024-02-26"),
    ("tomorrow", "2024-02-29"),
    ("this week", "2024-02-25 to 2024-03-02"),
    ("last week", "2024-02-18 to 2024-02-24"),
    ("the  past week", "2024-02-18 to 2024-02-24"),
    ("next month", "2024-03-01 to 2024-03-31"),
    ("in the last month", "2024-01-01 to 2024-01-31"),
    ("last quarter", "2023-10-01 to 2023-12-31"),
    ("previous year", "2023-01-01 to 2023-12-31"),
    ("last weekend", "2024-02-24 to 2024-02-25"),
    ("this year so far", "2024-01-01 to 2024-02-28"),
    ("year to date", "2024-01-01 to 2024-02-28"),
    ("YTD", "2024-01-01 to 2024-02-28"),
    ("last 3 weeks", "2024-02-08 to 2024-02-28"),
    ("next two days", "2024-02-29 to 2024-03-01"),
    ("a week ago", "2024-02-21"),
    ("a year ago", "2023-02-28"),
    ("since 2021", "2021-01-01 to 2024-02-28"),
    # weekdays
    ("last friday", "2024-02-23"),
    ("last tuesday", "2024-02-20"),
    ("this friday", "2024-03-01"),
    ("next monday", "2024-03-04"),
    ("most recent friday", "2024-02-23"),
    ("recent wednesday", "2024-02-21"),
    ("wednesday", "2024-02-28"),
    ("friday", "2024-02-23"),
    ("last week on friday", "2024-02-23"),
    ("the tuesday from the past week", "2024-02-20"),
    # parts of periods, and ranges
    ("first week of january 2024", "2024-01-01 to 2024-01-07"),
    ("first week in feb", "2024-02-01 to 2024-02-07"),
    ("last week of january", "2024-01-25 to 2024-01-31"),
    ("last quarter of 2023", "2023-10-01 to 2023-12-31"),
    ("second friday of march 2024", "2024-03-08"),
    ("last friday of january", "2024-01-26"),
    ("week of 2024-01-08", "2024-01-07 to 2024-01-13"),
    ("between october and december 2022", "2022-10-01 to 2022-12-31"),
    ("between 2018 and 2003", "2003-01-01 to 2018-12-31"),
    ("2024-01-01 to 2024-01-05", "2024-01-01 to 2024-01-05"),
    ("beginning of 2022 to its end", "2022-01-01 to 2022-12-31"),
    # sports seasons; what can be a year is a year, what can be a month a month
    ("2022-23 season", "2022-07-01 to 2023-06-30"),
    ("2023/24", "2023-07-01 to 2024-06-30"),
    ("2324", "2023-07-01 to 2024-06-30"),
    ("2011-12", "2011-12-01 to 2011-12-31"),
    ("2011-12 season", "2011-07-01 to 2012-06-30"),
    ("2021", "2021-01-01 to 2021-12-31"),
    ("2021 season", "2021-01-01 to 2021-12-31"),
    ("2023-01 season", "2023-01-01 to 2023-01-31"),
    ("this season", "2023-07-01 to 2024-06-30"),
    # sessions, on either calendar
    ("last trading day", "2024-02-27"),
    ("previous trading day", "2024-02-27"),
    ("most recent trading day", "2024-02-27"),
    ("the most recent day that the market was open", "2024-02-27"),
    ("last day", "2024-02-27"),
    ("last close", "2024-02-27"),
    ("last session", "2024-02-27"),
    ("first trading day of 2024", "2024-01-02"),
    ("last trading day of 2023", "2023-12-29"),
    ("last 3 trading days", "2024-02-26 to 2024-02-28"),
    # no dates
    ("2024-02-30", None),
    ("last 0 days", None),
    ("fifth week of february 2023", None),
    ("since tomorrow", None),
    ("friday's child is loving", None),
    ("", None),
    ("last " * 100, None),
]


@pytest.mark.parametrize("calendar", Calendar)
@pytest.mark.parametrize(("expression", "expected"), BOTH_CALENDARS)
def test_an_expression_seen_from_a_trading_wednesday(expression: str, expected: str | None, calendar: Calendar) -> None:
    if expected is not None:
        resolved = resolve_date(expression, WEDNESDAY, calendar)
        assert resolved is not None
        assert (str(resolved.range), resolved.kind) == (expected, "range" if " to " in expected else "day")
    else:
        assert resolve_date(expression, WEDNESDAY, calendar) is None


@pytest.mark.parametrize(
    ("expression", "asked_at", "civil", "trading"),
    [
        ("last monday", WEDNESDAY, "2024-02-19", "2024-02-20"),  # Presidents' Day: the label is the next session
        ("yesterday", datetime(2024, 2, 26, 8), "2024-02-25", "2024-02-23"),
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
        ("last week", datetime(2024, 3, 27, 19), "2024-03-17 to 2024-03-23", "2024-03-17 to 2024-03-23"),
    ],
)
def test_the_two_calendars_differ(expression: str, asked_at: datetime, civil: str, trading: str) -> None:
    for calendar, expected in ((Calendar.CIVIL, civil), (Calendar.TRADING, trading)):
        resolved = resolve_date(expression, asked_at, calendar)
        assert resolved is not None
        assert str(resolved.range) == expected


@pytest.mark.parametrize(
    ("expression", "days"),
    [(words, "None") for words in ("latest", "the most recent", "newest")]
    + [(words, "2024-02-28") for words in ("now", "right now", "current", "at the moment", "as of now")],
)
def test_the_newest_record_is_no_day_but_a_word_for_now_tells_the_day(expression: str, days: str) -> None:
    resolved = resolve_date(expression, WEDNESDAY)
    assert resolved is not None
    assert (resolved.kind, str(resolved.range)) == (MomentKind.LATEST, days)


def test_the_explanation_says_from_where_the_date_was_seen() -> None:
    resolved = resolve_date("last friday", WEDNESDAY, Calendar.TRADING)
    assert resolved is not None
    assert resolved.explanation == '"last friday" seen from Wednesday 2024-02-28 in New York is 2024-02-23'


def test_a_range_cannot_end_before_it_begins() -> None:
    with pytest.raises(ValueError, match="before it begins"):
        DateRange(date(2024, 1, 2), date(2024, 1, 1))


@pytest.mark.parametrize(
    ("pacific", "eastern"),
    [
        (datetime(2024, 3, 5, 23, 18, 31), datetime(2024, 3, 6, 2, 18, 31)),
        (datetime(2024, 3, 9, 23, 30), datetime(2024, 3, 10, 3, 30)),  # New York is already on summer time
        (datetime(2024, 11, 2, 23, 30), datetime(2024, 11, 3, 1, 30)),  # and already back from it
    ],
)
def test_eastern_time(pacific: datetime, eastern: datetime) -> None:
    assert eastern_time(pacific) == eastern


def test_without_a_time_zone_database_the_day_in_new_york_is_still_right(monkeypatch: pytest.MonkeyPatch) -> None:
    moments = [datetime(2024, 1, 1) + timedelta(minutes=30 * number) for number in range(48 * 366)]
    days = [eastern_time(moment).date() for moment in moments]

    def missing(key: str) -> None:
        raise ZoneInfoNotFoundError(key)

    monkeypatch.setattr(dates, "ZoneInfo", missing)
    assert [eastern_time(moment).date() for moment in moments] == days


@pytest.mark.parametrize(
    ("question", "texts"),
    [
        ("What's ACME's  closing price on the Most  Recent Friday?", ["Most  Recent Friday"]),
        ("with $1999 at yesterday's close, can i buy 2,024 shares?", ["yesterday"]),
        ("what was it at the end of the trading day yesterday?", ["yesterday"]),
        ("did they win in 2021, and last week on friday?", ["2021", "last week on friday"]),
        ("latest price of the last trading day of 2023", ["latest", "last trading day of 2023"]),
        ("how did it do from the beginning of 2022 to its end?", ["beginning of 2022 to its end"]),
        ("may i ask how april met sun in may?", ["may"]),
        ("who won in the 2324 season of flight 2324", ["2324 season"]),
        ("how did it close on İstanbul’s 2024–01–05", ["2024–01–05"]),
        ("who wrote the book?", []),
        ("x" * 2000 + " today", []),
    ],
)
def test_dates_are_found_where_they_stand(question: str, texts: list[str]) -> None:
    found = find_dates(question, WEDNESDAY)
    assert [one.text for one in found] == texts
    assert [question[one.start : one.end] for one in found] == texts


WORDS = (
    "last past this next first second week of in january may 2023 2024 2023-24 1990s - / to from between and since most"
    " recent latest day trading friday month 5 999 a year ago quarter q4 now current the end 31 02/30/2024 9999 2000-02"
)
TEXTS = st.text(max_size=80) | st.lists(st.sampled_from(WORDS.split()), max_size=12).map(" ".join)
MOMENTS = st.datetimes(datetime(1950, 1, 1), datetime(2100, 1, 1))


@given(TEXTS, MOMENTS, st.sampled_from(Calendar))
def test_any_text_is_answered_with_dates_in_order_or_none(text: str, asked_at: datetime, calendar: Calendar) -> None:
    resolve_date(text, asked_at, calendar)
    end = 0
    for one in find_dates(text, asked_at, calendar):
        assert end <= one.start < one.end
        assert text[one.start : one.end] == one.text
        end = one.end
        if one.resolved.kind is not MomentKind.LATEST:
            assert one.resolved.range is not None
            assert one.resolved.range.is_day == (one.resolved.kind is MomentKind.DAY)


@given(st.dates(date(1800, 1, 1), date(2099, 12, 31)), MOMENTS, st.sampled_from(Calendar))
def test_a_day_written_out_is_itself(day: date, asked_at: datetime, calendar: Calendar) -> None:
    for form in (day.isoformat(), f"{day:%B %d, %Y}", f"{day:%d %b %Y}", f"{day:%m/%d/%Y}"):
        resolved = resolve_date(form, asked_at, calendar)
        assert resolved is not None
        assert resolved.range == DateRange(day, day)


@pytest.mark.parametrize(
    "part", ["last ", "2023 to ", "2023-01-01-", "first trading day of 1990s ", "999 trading days ago ", "9", " "]
)
def test_a_long_question_takes_no_longer_than_its_length(part: str) -> None:
    def seconds(length: int) -> float:
        """Of the processor, which other processes do not add to; the quickest of three."""
        question, found = part * (length // len(part)), []
        for _ in range(3):
            started = time.process_time()
            find_dates(question, WEDNESDAY, Calendar.TRADING)
            found.append(time.process_time() - started)
        return min(found)

    # Twenty times the length, at most sixty times the time: with its square it would be four hundred times.
    assert seconds(100_000) < 60 * max(seconds(5_000), 1e-4)


def test_the_labelled_questions_mean_what_their_labels_say() -> None:
    if not LABELLED.exists():
        pytest.skip(f"the labelled questions are not there: {LABELLED}")
    measured = [measure(question) for question in labelled_questions(LABELLED)]
    arguments = [one.argument for one in measured if one.argument]
    assert len(measured) > 150
    assert len(arguments) > 150
    assert arguments.count(Agreement.DIFFERENT) <= 0.03 * len(arguments)
    assert [one.found for one in measured].count(Agreement.DIFFERENT) <= 0.03 * len(measured)
