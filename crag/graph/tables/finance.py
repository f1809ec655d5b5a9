"""The six finance tables. Days are New York days."""

import re
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from functools import partial

from crag.graph.context import LookupContext, TableQuery, format_days
from crag.graph.entities import company_data
from crag.graph.results import Cell, MeaninglessCallError, NotFoundError, Row
from crag.text.dates import Calendar, DateRange, eastern_time

NEAREST_EARLIER = timedelta(days=7)
NEAREST_LATER = timedelta(days=5)
"""A day without prices gets those of the nearest earlier, else the nearest later day within these times."""

_NOT_BY_THE_MINUTE = ("high", "low", "volume")
"""Keys that "latest" reads from the day, not from the minute."""
_EPOCH = datetime(1970, 1, 1)
_EPOCH_KEYS = re.compile(r"Date$|DateInterest$|PreviousMonthDate$|EpochUtc$|FiscalYearEnd$|mostRecentQuarter$")
"""Keys of a company's record whose numbers are seconds since 1970."""
_PRICE_KEYS = {"Open": "open", "High": "high", "Low": "low", "Close": "close", "Volume": "volume"}


# ---- the tables


def get_stock_price(context: LookupContext, query: TableQuery) -> list[Row]:
    """Prices of the days that the dates name; "latest" is the price of the minute of asking."""
    company = query.require_name("a company")
    # One date names a day or a span by itself, two are the ends of a span
    _, first_date, last_date = query.names
    if first_date is None:
        return _daily_prices(context, company)

    start = context.resolve(first_date, Calendar.TRADING)
    if start.newest:
        latest: list[Row] = []
        if query.keys.isdisjoint(_NOT_BY_THE_MINUTE):
            latest = _price_of_this_minute(context, company)
        # Without bars of the minute, or for a day's high, low or volume
        return latest or _prices_of_latest_day(context, company)

    end = context.resolve(last_date, Calendar.TRADING) if last_date is not None else start
    if start.range is None:
        raise MeaninglessCallError(f'"{first_date}" is no first day of a span')
    return _prices_of_days(
        context,
        company,
        start.range,
        end.range,
    )


def _single_value(context: LookupContext, query: TableQuery, endpoint: str) -> list[Row]:
    ticker, value = company_data(context, endpoint, query.require_name("a company"))
    return [Row(ticker, {"value": value})]


get_stock_pe_ratio = partial(_single_value, endpoint="/finance/get_pe_ratio")
get_stock_eps = partial(_single_value, endpoint="/finance/get_eps")
get_stock_market_cap = partial(_single_value, endpoint="/finance/get_market_capitalization")


def get_stock_dividend(context: LookupContext, query: TableQuery) -> list[Row]:
    """All dividends, oldest first."""
    company = query.require_name("a company")
    ticker, history = company_data(context, "/finance/get_dividends_history", company)

    rows: list[Row] = []
    for time, value in sorted(history.items()):
        if value is not None:
            cells: dict[str, Cell] = {"date": time[:10], "value": value}
            rows.append(Row(ticker, cells))
    return rows


def get_stock_info(context: LookupContext, query: TableQuery) -> list[Row]:
    """The company's record, with all keys of the server."""
    ticker, info = company_data(context, "/finance/get_info", query.require_name("a company"))
    cells: dict[str, Cell] = {}
    for key, value in info.items():
        if not isinstance(value, str | int | float) or value == "":
            continue  # missing, or a structure of the server's
        # A model cannot read 1709251200 as a day
        if isinstance(value, int) and _EPOCH_KEYS.search(key):
            cells[key] = str((_EPOCH + timedelta(seconds=value)).date())
        else:
            cells[key] = value

    officers: list[str] = []
    for officer in info.get("companyOfficers") or ():
        if isinstance(officer, dict) and officer.get("name"):
            title = officer.get("title") or "officer"
            officers.append(f"{officer['name']} ({title})")
    cells["companyOfficers"] = tuple(officers) or None
    return [Row(ticker, cells)]


# ---- prices


def _daily_prices(context: LookupContext, company: str) -> list[Row]:
    """All days with prices, oldest first."""
    ticker, history = company_data(context, "/finance/get_price_history", company)
    rows: list[Row] = []
    for time, bar in sorted(history.items()):
        cells: dict[str, Cell] = {"time": time[:10]}
        for server_key, key in _PRICE_KEYS.items():
            cells[key] = bar.get(server_key)
        rows.append(Row(ticker, cells))
    return rows


def _prices_of_days(
    context: LookupContext,
    company: str,
    first_days: DateRange,
    last_days: DateRange | None,
) -> list[Row]:
    """The days from the first of `first_days` to the last of `last_days`; None: until now."""
    last = last_days.last if last_days is not None else date.max
    earliest, latest = sorted((first_days.first, last))  # the dates of a span may be in the wrong order

    rows = _daily_prices(context, company)
    rows_of_days = [row for row in rows if earliest <= _day(row) <= latest]
    # Only a single day has a nearest one; a span without prices has none
    if not rows_of_days and earliest == latest:
        rows_of_days = _nearest_day(context, rows, earliest)
    if rows_of_days:
        return rows_of_days

    # The message tells which days the graph does have.
    message = f"the graph has no prices of {company} of {format_days(earliest, latest)}"
    if rows:
        known_days = format_days(_day(rows[0]), _day(rows[-1]))
        message += f"; it has those of {known_days}"
    raise NotFoundError(message)


def _prices_of_latest_day(context: LookupContext, company: str) -> list[Row]:
    """The last session up to now."""
    rows = _daily_prices(context, company)
    today = eastern_time(context.asked_at).date()
    past = [row for row in rows if _day(row) <= today]
    # All days may be later than the question; then the newest one is the nearest
    return past[-1:] or rows[-1:]


def _price_of_this_minute(context: LookupContext, company: str) -> list[Row]:
    """The last minute bar up to now. Its opening print is the price: its close is still in the future."""
    try:
        ticker, bars = company_data(context, "/finance/get_detailed_price_history", company)
    except NotFoundError:
        return []

    # Times as strings of this form are ordered like the moments.
    now = f"{eastern_time(context.asked_at):%Y-%m-%d %H:%M:%S}"
    past = [time for time in bars if time[:19] <= now]
    if not past:
        return []

    latest = max(past)
    bar = bars[latest]
    price = bar.get("Open", bar.get("Close"))
    minute = latest[:16]
    context.remark(f"the latest price is that of {minute} Eastern time")
    return [Row(ticker, {"time": minute, "open": price, "close": price})]


def _nearest_day(context: LookupContext, rows: Sequence[Row], day: date) -> list[Row]:
    """The row of the nearest trading day to a day without prices, if one is near."""
    earlier = [row for row in rows if day - NEAREST_EARLIER <= _day(row) < day]
    later = [row for row in rows if day < _day(row) <= day + NEAREST_LATER]
    # On a weekend or holiday the last price before it still holds
    nearest = earlier[-1:] or later[:1]
    if nearest:
        context.remark(f"there are no prices of {day}; those of {nearest[0].cells['time']} are the nearest")
    return nearest


def _day(row: Row) -> date:
    return date.fromisoformat(str(row.cells["time"])[:10])
