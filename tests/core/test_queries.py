"""What the evaluator hands over becomes queries; a bad row costs one answer, a bad batch is an error at once."""

import time
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crag.core.queries import (
    LIMITS,
    BatchFormatError,
    normalise_query_time,
    pacific_now,
    parse_batch,
    parse_query_time,
)
from tests.pipeline import asking
from tests.pipeline.asking import page

PAGE = page("<p>Rain Man</p>", 0, "Rain Man", "A film of 1988")


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Pacific/Honolulu"])
def test_now_is_pacific_time_on_every_machine(zone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    difference = pacific_now() - datetime.now(UTC).astimezone(ZoneInfo("America/Los_Angeles")).replace(tzinfo=None)
    monkeypatch.undo()
    time.tzset()
    assert abs(difference) < timedelta(hours=1)


def batch_of(**columns: list[Any]) -> dict[str, list[Any]]:
    return asking.batch_of(["who directed rain man?"], [PAGE]) | columns


def test_a_row_becomes_a_query() -> None:
    (query,) = parse_batch(batch_of())
    assert query.text == "who directed rain man?"
    assert query.asked_at == datetime(2024, 3, 5, 23, 18, 31)
    assert query.pages[0].html == "<p>Rain Man</p>"
    assert query.fault is None


@pytest.mark.parametrize(
    ("columns", "reported"),
    [
        ({"query": None}, "'query' must be a list, found NoneType"),
        ({"query": "abc"}, "'query' must be a list, found str"),
        ({"query": ["a", "b"]}, "differ in length"),
    ],
)
def test_a_malformed_batch_is_an_error(columns: dict[str, Any], reported: str) -> None:
    with pytest.raises(BatchFormatError, match=reported):
        parse_batch(batch_of(**columns))
    with pytest.raises(BatchFormatError, match="'query' is missing"):
        parse_batch({"interaction_id": ["a"]})
    no_batch: Any
    for no_batch in (None, [], "interaction_id query search_results query_time"):
        with pytest.raises(BatchFormatError, match=f"must be a dict of lists, found {type(no_batch).__name__}"):
            parse_batch(no_batch)


@pytest.mark.parametrize(
    ("column", "value"),
    [
        *(("query", value) for value in (None, 7, "   ", ["x"], 10**5_000, [["x" * 1_000_000]] * 1_000)),
        *(("search_results", value) for value in (None, "html", 5)),
    ],
    ids=range(9),  # Python refuses to print a number of 5,000 digits
)
def test_a_value_of_another_type_is_a_short_fault_of_its_row(column: str, value: object) -> None:
    (query,) = parse_batch(batch_of(**{column: [value]}))
    assert "must be a" in (query.fault or "")
    assert len(query.fault or "") < 100


def test_broken_search_results_are_read_as_far_as_they_go() -> None:
    (query,) = parse_batch(batch_of(search_results=[[None, {"page_url": None, "page_result": 3}, PAGE]]))
    assert [page.rank for page in query.pages] == [1, 2]
    assert (query.pages[0].url, query.pages[0].html) == ("", "")
    assert query.fault is None


def test_characters_that_nobody_sees_and_references_are_no_part_of_the_question() -> None:
    (query,) = parse_batch(batch_of(query=["\u0301who\u200b directed\0 rain\r\nman &amp; &#" + "9" * 50 + ";?"]))
    assert query.text == "who directed rain man & \ufffd?"


@pytest.mark.parametrize("field", LIMITS)
def test_what_is_longer_than_its_limit_is_cut_and_the_cut_is_reported(field: str) -> None:
    most = LIMITS[field]
    long = "a" * (most + 1)
    columns: dict[str, list[Any]] = {"search_results": [[PAGE, PAGE | {field: long}]]} if field in PAGE else {}
    columns = columns or {field: [[PAGE] * (most + 1) if field == "search_results" else long]}
    (query,) = parse_batch(batch_of(**columns))
    (note,) = query.notes
    assert f"{field} was cut from {most + 1:,} to {most:,}" in note
    texts = [query.text, query.query_time, query.interaction_id]
    texts += [text for page in query.pages for text in (page.name, page.url, page.snippet, page.html)]
    assert max(map(len, texts)) <= max(LIMITS.values())
    assert len(query.pages) <= LIMITS["search_results"]
    assert query.fault is None


@given(st.lists(st.tuples(*[st.none() | st.integers() | st.text() | st.lists(st.none() | st.text())] * 4), max_size=5))
def test_any_values_give_one_query_per_row(rows: list[tuple[Any, ...]]) -> None:
    columns = [list(column) for column in zip(*rows, strict=True)] or [[]] * 4
    names = ("interaction_id", "query", "search_results", "query_time")
    assert len(parse_batch(dict(zip(names, columns, strict=True)))) == len(rows)


@pytest.mark.parametrize(
    ("text", "pacific"),
    [
        ("03/05/2024, 23:18:31 PT", "03/05/2024, 23:18:31 PT"),
        (" 3/5/2024, 23:18:31 ", "03/05/2024, 23:18:31 PT"),
        ("03/05/2024 23:18:31 pst", "03/05/2024, 23:18:31 PT"),
        ("03/05/2024", "03/05/2024, 00:00:00 PT"),
        ("2024-03-05T23:18:31", "03/05/2024, 23:18:31 PT"),
        ("2024-03-05 23:18", "03/05/2024, 23:18:00 PT"),
        ("2024-03-05, 23:18:31 PT", "03/05/2024, 23:18:31 PT"),
        ("2024-03-05", "03/05/2024, 00:00:00 PT"),
        ("20240305T231831", "03/05/2024, 23:18:31 PT"),
        ("2024-03-06T07:18:31Z", "03/05/2024, 23:18:31 PT"),
        ("2024-03-06 07:18:31.123456 UTC", "03/05/2024, 23:18:31 PT"),
        ("2024-03-06T08:18:31+01:00", "03/05/2024, 23:18:31 PT"),
        ("2024-03-06t12:48:31+0530", "03/05/2024, 23:18:31 PT"),
        ("2024-07-01T00:00:00\u221207", "07/01/2024, 00:00:00 PT"),
        ("03/06/2024, 02:18:31 ET", "03/05/2024, 23:18:31 PT"),
        ("2024-07-01 01:00 cst", "06/30/2024, 23:00:00 PT"),
        ("2024-07-01T00:00:00Z", "06/30/2024, 17:00:00 PT"),
        ("0999-01-01", "01/01/0999, 00:00:00 PT"),
    ],
)
def test_a_time_in_any_usual_form_is_pacific_time(text: str, pacific: str) -> None:
    assert normalise_query_time(text) == pacific
    assert parse_query_time(text) == parse_query_time(pacific)
    (query,) = parse_batch(batch_of(query_time=[text]))
    assert (query.query_time, query.asked_at) == (pacific, parse_query_time(pacific))
    assert not query.notes


@pytest.mark.parametrize(
    "text",
    [
        *("yesterday", "1709683111", "2024-13-05", "2024-02-30T10:00", "05.03.2024", "2024-03-05T25:00", "2024-03"),
        *("2024-03-05T10", "2024-03-05T10:00:00+25:00", "0001-01-01T00:00:00Z", "2024-03-05T10:00 CET", "2024-0305"),
    ],
)
def test_another_form_is_no_time_and_is_told(text: str) -> None:
    assert normalise_query_time(text) is None
    (query,) = parse_batch(batch_of(query_time=[text]))
    assert (query.query_time, query.asked_at) == (text, None)
    assert query.notes[0].startswith(f"query_time {text!r} is not a time that is understood")
