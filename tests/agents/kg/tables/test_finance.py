from datetime import datetime

import pytest

from agents.kg.results import Status
from tests.agents.kg.conftest import Run


@pytest.mark.parametrize(
    ("program", "values"),
    [
        ('get_stock_price("abc","2024-02-26")["close"]', (12,)),
        ('get_stock_price("abc","2024-02-22","2024-02-26")["open"]', (10, 12, 11)),
        ('get_stock_price("abc","2024-02-26","2024-02-22")["open"]', (10, 12, 11)),
        ('get_stock_price("abc","today")["open"]', (13,)),
        ('get_stock_price("abc","yesterday")["open"]', (14,)),
        ('get_stock_price("abc","2024-02-25")["open"]', (12,)),  # a Sunday is the Friday before it
        ('get_stock_price("thn","2024-02-20")["open"]', (0.5,)),  # nothing near before, so the day after
        ('get_stock_price("thn","2024-01-15","2024-02-01")["open"]', ()),
        ('get_stock_price("abc","2023-01-02")["open"]', ()),
        ('get_stock_price("abc")["len"]', (5,)),
        ('get_stock_price("abc","latest")["close"]', (12.7,)),  # the opening print of the minute 09:31
        ('get_stock_price("abc","latest")["high"]', (15,)),  # the day's
        ('get_stock_price("thn","latest")["open"]', (0.5,)),  # no minutes
        ('get_stock_price("abc","2024-02-22","2024-02-28")\nsort(ge(close,open),-time)["time"][:2]',
         ("2024-02-28", "2024-02-27")),
        ('get_stock_price("abc","2024-02-22","2024-02-26")["high"]\naverage', (13.0,)),
        ('get_stock_price("abc","2024-02-26")["high"]\naverage', (13.0,)),
        ('get_stock_pe_ratio("abacus")', (20.25,)),
        ('get_stock_eps("ABC")', (2.5,)),
        ('get_stock_market_cap("$abc")', (1234567890.0,)),
        ('get_stock_market_cap(["abc","gap"])', (1234567890.0, 5.0)),
        ('get_stock_dividend("abc")\nsort(None,-date)["date"]', ("2024-02-01",)),
        ('get_stock_dividend("abc")\nsort([ge(date,"2023-01-01"),le(date,"2023-12-31")],date)["len"]', (2,)),
        ('get_stock_dividend("abc",eq(date,"2023"))["value"]', (0.1, 0.2)),
        ('get_stock_dividend("thn")["len"]', (0,)),
        ('get_stock_info("abc")["exDividendDate"]', ("2024-02-21",)),
        ('get_stock_info("abc")["companyOfficers"]', ("Ms. Ada Count (CEO)",)),
    ],
)  # fmt: skip
def test_values(run: Run, program: str, values: tuple[object, ...]) -> None:
    result = run("finance", program).results[-1]
    assert result.values == values
    assert result.status is (Status.OK if values else Status.NOT_FOUND)


def test_today_is_the_day_in_new_york(run: Run) -> None:
    late = datetime(2024, 2, 26, 22, 0)
    assert run("finance", 'get_stock_price("abc","today")["open"]', late).results[0].values == (14,)


def test_the_latest_price_never_lies_in_the_future(run: Run) -> None:
    """Before the first minute that is known there is the last session."""
    early = datetime(2024, 2, 27, 6, 0)
    assert run("finance", 'get_stock_price("abc","latest")["close"]', early).results[0].values == (15,)


def test_another_day_than_the_one_asked_for_is_told(run: Run) -> None:
    (result,) = run("finance", 'get_stock_price("abc","2024-02-25")["open"]').results
    assert "2024-02-23" in result.text
    assert result.explanation == ("there are no prices of 2024-02-25; those of 2024-02-23 are the nearest",)


def test_a_day_outside_the_data_says_what_there_is(run: Run) -> None:
    (result,) = run("finance", 'get_stock_price("abc","2023-01-02")["open"]').results
    assert "it has those of 2024-02-22 to 2024-02-28" in result.explanation[0]


def test_a_call_without_a_company_or_with_a_date_that_is_none_makes_no_sense(run: Run) -> None:
    for program in ('get_stock_price(None,"2024-02-22")["open"]', 'get_stock_price("abc","blue")["open"]'):
        assert run("finance", program).results[0].status is Status.INVALID
