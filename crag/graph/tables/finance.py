"""The six finance tables. Days are New York days."""

import re
from collections.abc import Sequence
from datetime import date, datetime, timedelta
from functools import partial

from crag.graph.context import LookupContext, TableQuery, days_text
from crag.graph.entities import company_data
from crag.graph.results import Cell, MeaninglessCallError, NotFoundError, Row
from crag.text.dates import Calendar, eastern_time

NEAREST_EARLIER, NEAREST_LATER = timedelta(days=7), timedelta(days=5)
"""A day without prices gets those of the nearest earlier, else the nearest later day within these times."""
_NOT_BY_THE_MINUTE = ("high", "low", "volume")
"""Keys that "latest" reads from the day, not from the minute."""
_EPOCH = datetime(1970, 1, 1)
_EPOCHS = re.compile(r"Date$|DateInterest$|PreviousMonthDate$|EpochUtc$|FiscalYearEnd$|mostRecentQuarter$")
_PRICE = {"Open": "open", "High": "high", "Low": "low", "Close": "close", "Volume": "volume"}


def get_stock_price(context: LookupContext, query: TableQuery) -> list[Row]:
    """Prices of the days that the dates name; "latest" is the price of the minute of asking."""
    company, first, last = query.name("a company"), *query.names[1:]
    if first is None:
        return _daily(context, company)
    start = context.resolve(first, Calendar.TRADING)
    if start.newest:
        by_minute = query.keys.isdisjoint(_NOT_BY_THE_MINUTE)
        return (by_minute and _this_minute(context, company)) or _latest_day(context, company)
    end = context.resolve(last, Calendar.TRADING) if last is not None else start
    begin, finish = start.range, end.range
    if begin is None:
        raise MeaninglessCallError(f'"{first}" is no first day of a span')
    until = finish.last if finish is not None else date.max  # from a day until "now"
    earliest, latest = sorted((begin.first, until))  # the dates of a span may be in the wrong order
    rows = _daily(context, company)
    days = [row for row in rows if earliest <= _time(row) <= latest]
    if not days and earliest == latest:
        days = _nearest(context, rows, earliest)
    if not days:
        span = f"; it has those of {days_text(_time(rows[0]), _time(rows[-1]))}" if rows else ""
        raise NotFoundError(f"the graph has no prices of {company} of {days_text(earliest, latest)}{span}")
    return days


def _single_value(context: LookupContext, query: TableQuery, endpoint: str) -> list[Row]:
    ticker, value = company_data(context, endpoint, query.name("a company"))
    return [Row(ticker, {"value": value})]


get_stock_pe_ratio = partial(_single_value, endpoint="/finance/get_pe_ratio")
get_stock_eps = partial(_single_value, endpoint="/finance/get_eps")
get_stock_market_cap = partial(_single_value, endpoint="/finance/get_market_capitalization")


def get_stock_dividend(context: LookupContext, query: TableQuery) -> list[Row]:
    """All dividends, oldest first."""
    ticker, history = company_data(context, "/finance/get_dividends_history", query.name("a company"))
    return [
        Row(ticker, {"date": day[:10], "value": value}) for day, value in sorted(history.items()) if value is not None
    ]


def get_stock_info(context: LookupContext, query: TableQuery) -> list[Row]:
    """The company's record, with all keys of the server."""
    ticker, info = company_data(context, "/finance/get_info", query.name("a company"))
    cells: dict[str, Cell] = {
        key: str((_EPOCH + timedelta(seconds=value)).date())
        if isinstance(value, int) and _EPOCHS.search(key)
        else value
        for key, value in info.items()
        if isinstance(value, str | int | float) and value != ""
    }
    officers = [each for each in info.get("companyOfficers") or () if isinstance(each, dict) and each.get("name")]
    cells["companyOfficers"] = tuple(f"{each['name']} ({each.get('title') or 'officer'})" for each in officers) or None
    return [Row(ticker, cells)]


def _daily(context: LookupContext, company: str) -> list[Row]:
    ticker, history = company_data(context, "/finance/get_price_history", company)
    return [
        Row(ticker, {"time": stamp[:10], **{key: bar.get(name) for name, key in _PRICE.items()}})
        for stamp, bar in sorted(history.items())
    ]


def _latest_day(context: LookupContext, company: str) -> list[Row]:
    """The last session up to now."""
    rows = _daily(context, company)
    today = eastern_time(context.asked_at).date()
    return [row for row in rows if _time(row) <= today][-1:] or rows[-1:]


def _this_minute(context: LookupContext, company: str) -> list[Row]:
    """The last minute bar up to now. Its opening print is the price: its close is still in the future."""
    try:
        ticker, bars = company_data(context, "/finance/get_detailed_price_history", company)
    except NotFoundError:
        return []
    now = f"{eastern_time(context.asked_at):%Y-%m-%d %H:%M:%S}"
    last = max((stamp for stamp in bars if stamp[:19] <= now), default=None)
    if last is None:
        return []
    price = bars[last].get("Open", bars[last].get("Close"))
    context.remark(f"the latest price is that of {last[:16]} Eastern time")
    return [Row(ticker, {"time": last[:16], "open": price, "close": price})]


def _nearest(context: LookupContext, rows: Sequence[Row], day: date) -> list[Row]:
    """The row of the nearest trading day to a day without prices, if one is near."""
    earlier = [row for row in rows if day - NEAREST_EARLIER <= _time(row) < day]
    later = [row for row in rows if day < _time(row) <= day + NEAREST_LATER]
    nearest = earlier[-1:] or later[:1]
    if nearest:
        context.remark(f"there are no prices of {day}; those of {nearest[0].cells['time']} are the nearest")
    return nearest


def _time(row: Row) -> date:
    return date.fromisoformat(str(row.cells["time"])[:10])
