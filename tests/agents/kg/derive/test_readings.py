"""What a rule takes from the results of calls: one number, the names that differ, or nothing where that is unsure."""

from dataclasses import replace
from fractions import Fraction

import pytest

from agents.kg.derive.readings import GraphEvidence, Reading, amount, differing, exact, read_case, with_unit
from agents.kg.language import Call, parse
from agents.kg.masked_question import Asked
from agents.kg.results import Result, Row, Status, Value
from agents.kg.schema import Domain, load_schema

CLOSES = 'get_stock_price("abc","2024-01-02","2024-01-03")["close"]'


def reading(text: str, *values: Value, domain: str = "finance") -> Reading:
    (call,) = parse(text, Domain(domain)).statements
    assert isinstance(call, Call)
    table = load_schema(Domain(domain)).tables[call.table]
    column = table.column(call.select) if call.select else None
    return Reading(call, call.conditions, table, column, values, (), counted=call.count)


def case(text: str, *results: Result, domain: str = "movie", question: str = "what is it?") -> GraphEvidence | None:
    return read_case(question, Domain(domain), parse(text, Domain(domain)), results, None)


def found(*values: Value, rows: tuple[Row, ...] = ()) -> Result:
    return Result("call", Status.OK, rows, values)


@pytest.mark.parametrize(
    ("question", "call", "values", "said"),
    [
        ("what was the price?", CLOSES, (1.5,), "$1.50"),
        ("what was the price?", CLOSES, (1.5, None), "$1.50"),
        ("what was the price?", CLOSES, (1.5, "n/a"), None),
        ("what was the price?", CLOSES, (), None),
        ("what were the prices?", CLOSES, (1, 2), None),
        ("what were the prices in total?", CLOSES, (1, 2), "$3"),
        ("what was the average price?", CLOSES, (1, 2, 6), "$3"),
        ("what did it trade?", CLOSES.replace("close", "volume"), (1, 2), "3"),
        ("on which day?", CLOSES.replace("close", "time"), ("2024-01-02",), "2024-01-02"),
        ("on which day?", CLOSES.replace("close", "time"), ("2024-01",), None),
        ("what was the total?", CLOSES.replace("close", "time"), ("2024-01-02", "2024-01-03"), None),
        ("how many?", 'get_stock_price("abc")["len"]', (3,), "3"),
        ("how many?", 'get_stock_price("abc")["len"]', (3, 4), None),
    ],
)
def test_the_one_amount(question: str, call: str, values: tuple[Value, ...], said: str | None) -> None:
    value = amount(Asked(question), reading(call, *values))
    assert (value and with_unit(value)) == said


@pytest.mark.parametrize(
    ("calls", "names"),
    [
        (('get_movie("a")["budget"]', 'get_movie("b")["budget"]'), ["a", "b"]),
        (('get_movie_person_cast("a","x")', 'get_movie_person_cast("a","y")'), ["x", "y"]),
        (('get_movie_person_cast("a","x")', 'get_movie_person_cast("b","y")'), None),
        (('get_movie_person_cast("a","x")', 'get_movie_person_cast("b")'), None),
        (('get_movie("a")["budget"]',), None),
        (('get_movie("a")', 'get_movie("a")'), None),
        (('get_movie("a")["budget"]', 'get_movie("b")["revenue"]'), None),
        (('get_movie("a")["budget"]', 'get_movie("b")["budget"]["len"]'), None),
        (('get_movie("a",eq(year,2001))', 'get_movie("b",eq(year,2002))'), None),
        (('get_movie("a")', "get_movie()"), None),
    ],
)
def test_calls_that_differ_in_one_name(calls: tuple[str, ...], names: list[str] | None) -> None:
    assert differing([reading(call, domain="movie") for call in calls]) == names


def test_a_mean_is_not_compared_with_a_single_value() -> None:
    one, other = (reading(f'get_movie("{name}")["budget"]', 1, domain="movie") for name in "ab")
    assert differing([one, replace(other, averaged=True)]) is None


def test_numbers_are_exact_and_what_is_none_is_no_number() -> None:
    assert [exact(value) for value in (3, 3.0, 0.1)] == [3, 3, Fraction(1, 10)]
    assert {exact(value) for value in (10**25, float("nan"), float("inf"), True, "3")} == {None}


def test_nothing_is_derived_where_a_call_failed_or_may_have_missed_something() -> None:
    both = 'get_movie("a")["budget"]\nget_movie("b")["budget"]'
    good = found(1)
    assert case(both, good, good) is not None
    assert case(both, good) is None
    assert case(both, good, replace(good, partial=True)) is None
    assert case(both, good, replace(good, status=Status.NOT_FOUND)) is None
    assert case(both, good, good, question="what was it on 2024-01-02?") is None


@pytest.mark.parametrize(
    ("names", "entities", "readings"),
    [
        ('["a","b"]', ("A", "B"), [("a", (1,)), ("b", (2,))]),
        ('["a","b"]', ("A and B", "A and B"), [("", (1, 2))]),
        ('["a","b","c"]', ("A", "B"), [("", (1, 2))]),
        ('"a"', ("A", "B"), [("a", (1, 2))]),
    ],
)
def test_a_list_of_names_is_a_reading_for_each(
    names: str, entities: tuple[str, ...], readings: list[tuple[str, tuple[Value, ...]]]
) -> None:
    rows = tuple(Row("get_movie", entity, {"budget": place}) for place, entity in enumerate(entities, start=1))
    read = case(f'get_movie({names})["budget"]', found(1, 2, rows=rows))
    assert read is not None
    assert [(one.name, one.values) for one in read.readings] == readings


def test_of_a_list_what_is_not_known_is_left_out_and_a_count_stays_one_number() -> None:
    rows = (Row("get_movie", "A", {"budget": 1}), Row("get_movie", "B", {"budget": None}))
    read = case('get_movie(["a","b"])["budget"]', found(1, rows=rows))
    assert read is not None
    assert [one.values for one in read.readings] == [(1,), ()]
    read = case('get_movie(["a","b"])["len"]', found(2, rows=rows))
    assert read is not None
    assert [one.values for one in read.readings] == [(2,)]


def test_the_conditions_of_a_call_hold_for_its_sort_too() -> None:
    read = case('get_movie_person_cast("x",None,eq(gender,"male"))\nsort(ge(year,"2001"))["len"]', found(), found(7))
    assert read is not None
    assert read.readings[0].decided == {"gender", "year"}


def test_a_sort_reads_the_rows_that_a_key_holds() -> None:
    program = 'get_person("x")["music"]\nsort(ge(release_date,"2001"))["len"]'
    read = case(program, found(), found(7), domain="music")
    assert read is not None
    (only,) = read.readings
    assert (only.table.name, only.values, only.counted) == ("music", (7,), True)
    assert only.decided == {"release_date"}
