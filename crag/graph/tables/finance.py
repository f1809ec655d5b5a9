"""The six finance tables. Days are New York days."""

import re
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from functools import partial
from typing import Any

from crag.graph.context import LookupContext, TableQuery, format_days
from crag.graph.entities import company_data
from crag.graph.results import Cell, MeaninglessCallError, NotFoundError, Row
from crag.graph.tables.sessions import is_open, last_finished_session, last_opened_session
from crag.text.dates import Calendar, DateRange, eastern_time

NEAREST_EARLIER = timedelta(days=7)
NEAREST_LATER = timedelta(days=5)
"""A day without prices gets those of the nearest earlier, else the nearest later day within these times."""

_KEYS_OF_THE_DAY = ("open", "high", "low", "volume")
"""Keys that "latest" reads from a session, not from the minute."""
_KEYS_AT_THE_OPENING = frozenset({"open", "time"})
"""What is known of a session as soon as it has begun."""
_LATEST_CLOSE = re.compile(
    r"(?:the )?(?:latest|most recent|last) (?:market |stock |session )?(?:close|closing(?: price)?)",
    re.IGNORECASE,
)
_EPOCH = datetime(1970, 1, 1)
_MOST_SECONDS = 1000 * 366 * 24 * 60 * 60
"""Those of a thousand years."""
_EPOCH_KEYS = re.compile(r"Date$|DateInterest$|PreviousMonthDate$|EpochUtc$|FiscalYearEnd$|mostRecentQuarter$")
"""Keys of a company's record whose numbers are seconds since 1970."""
_PRICE_KEYS = {"Open": "open", "High": "high", "Low": "low", "Close": "close", "Volume": "volume"}


# --- the tables -------------------------------------------------------------------------------------------------------


def get_stock_price(context: LookupContext, query: TableQuery) -> list[Row]:
    """Prices of the days that the dates name; "latest" is the price at the time of asking."""
    company = query.require_name("a company")
    # One date names a day or a span by itself, two are the ends of a span
    _, first_date, last_date = query.names
    if first_date is None:
        return _past_prices(context, company)

    if _LATEST_CLOSE.fullmatch(first_date.strip()):
        return _prices_of_latest_session(context, company, query)
    start = context.resolve(first_date, Calendar.TRADING)
    if start.newest:
        return _latest_prices(context, company, query)

    end = context.resolve(last_date, Calendar.TRADING) if last_date is not None else start
    if start.range is None:
        raise MeaninglessCallError(f'"{first_date}" is not a first day of a span')
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
        is_time = isinstance(value, int) and _EPOCH_KEYS.search(key)
        cells[key] = _day_of_seconds(int(value)) if is_time else value

    officers: list[str] = []
    for officer in info.get("companyOfficers") or ():
        if isinstance(officer, dict) and officer.get("name"):
            title = officer.get("title") or "officer"
            officers.append(f"{officer['name']} ({title})")
    cells["companyOfficers"] = tuple(officers) or None
    return [Row(ticker, cells)]


def _day_of_seconds(seconds: int) -> Cell:
    """The day of a time in seconds since 1970; a number that is none stays one."""
    if abs(seconds) > _MOST_SECONDS:
        return seconds
    return str((_EPOCH + timedelta(seconds=seconds)).date())


# --- prices -----------------------------------------------------------------------------------------------------------


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


def _past_prices(context: LookupContext, company: str) -> list[Row]:
    """The days whose sessions were over at the time of asking; if all days are later, these."""
    rows = _daily_prices(context, company)
    latest = last_finished_session(eastern_time(context.asked_at))
    return [row for row in rows if _day(row) <= latest] or rows


def _prices_of_days(
    context: LookupContext,
    company: str,
    first_days: DateRange,
    last_days: DateRange | None,
) -> list[Row]:
    """The days from the first of `first_days` to the last of `last_days`; None: until now."""
    last_day = last_days.last if last_days is not None else date.max
    earliest, latest = sorted((first_days.first, last_day))  # the dates of a span may be in the wrong order

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


def _latest_prices(context: LookupContext, company: str, query: TableQuery) -> list[Row]:
    """The price of the minute while the exchange is open, else those of the last session."""
    now = eastern_time(context.asked_at)
    is_for_the_day = not query.keys.isdisjoint(_KEYS_OF_THE_DAY)
    if is_open(now) and not is_for_the_day:
        ticker, bars = _bars_until(context, company, now)
        if bars and max(bars)[:10] == str(now.date()):
            return _price_of_minute(context, ticker, bars, "Open")

    try:
        return _prices_of_latest_session(context, company, query)
    except NotFoundError:
        ticker, bars = _bars_until(context, company, now)
        if not bars:
            raise
        # The graph may have the minutes of a company without its days
        return _price_of_minute(context, ticker, bars, "Open" if is_open(now) else "Close")


def _prices_of_latest_session(context: LookupContext, company: str, query: TableQuery) -> list[Row]:
    """The last session whose requested prices are known at the time of asking.

    Before the opening, during the session and on days without one, the last close is that of an earlier day.
    """
    now = eastern_time(context.asked_at)
    reads_opening_only = bool(query.keys) and not query.whole and query.keys <= _KEYS_AT_THE_OPENING
    latest = last_opened_session(now) if reads_opening_only else last_finished_session(now)

    rows = _daily_prices(context, company)
    past_rows = [row for row in rows if _day(row) <= latest]
    # All days may be later than the question; then the first one is the nearest
    row = past_rows[-1:] or rows[:1]
    if row:
        context.remark(f"the latest session with prices is that of {row[0].cells['time']}")
    return row


def _bars_until(context: LookupContext, company: str, now: datetime) -> tuple[str, dict[str, Any]]:
    """The ticker and its minute bars up to a New York time; none if the graph has no minutes of the company."""
    try:
        ticker, bars = company_data(context, "/finance/get_detailed_price_history", company)
    except NotFoundError:
        return "", {}

    # Times as strings of this form are ordered like the moments.
    end = f"{now:%Y-%m-%d %H:%M:%S}"
    return ticker, {time: bar for time, bar in bars.items() if time[:19] <= end}


def _price_of_minute(
    context: LookupContext,
    ticker: str,
    bars: dict[str, Any],
    key: str,
) -> list[Row]:
    """The last minute bar: in its minute the opening print is the price, later its close is."""
    latest = max(bars)
    bar = bars[latest]
    price = bar.get(key, bar.get("Close"))
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
