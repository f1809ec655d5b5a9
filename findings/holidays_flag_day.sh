#!/usr/bin/env bash
# holidays 0.109, pandas_market_calendars 5.5.0, exchange_calendars 4.13.2: the exchange is closed on Flag Day.
#
# Guessed before the run: the three agree on the days on which New York's stock exchange was closed, at least from 1930;
# early closings differ.
# Seen: from 1971 on all agree. Before, holidays has 31 working days as closed that pandas_market_calendars has as open:
# Flag Day in each year to 1953, the Fridays before holidays that fell on a Saturday (29 May 1970 among them, the
# month's last session), and, in 1968, five Wednesdays of weeks that had a holiday already. Veterans Day of 1968 is
# missing. Of the early closings since 1990, holidays lacks the blizzard of 8 January 1996, and pandas_market_calendars
# the last day of 1999; the sudden ones of 27 October 1997 and 1 June 2005 are in none but pandas_market_calendars.
# What it means: "the session before" of a day in June is a day off up to 1953. This project asks holidays, for prices
# of the last years.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "holidays==0.109" \
    "pandas_market_calendars==5.5.0" "exchange_calendars==4.13.2" "pandas==3.1.1" "numpy==2.4.6"
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
from collections import Counter
from datetime import date

import exchange_calendars
import pandas as pd
import pandas_market_calendars as market_calendars
from holidays import financial_holidays

NYSE = market_calendars.get_calendar("NYSE")
CLOSED = financial_holidays("NYSE", years=range(1930, 2026))

working = pd.bdate_range("1930-01-01", "2025-12-31")
sessions = set(NYSE.valid_days("1930-01-01", "2025-12-31").tz_localize(None))
closed_by_holidays = {day.date() for day in working if day.date() in CLOSED}
closed_by_markets = {day.date() for day in working if day not in sessions}
exchange = exchange_calendars.get_calendar("XNYS", start="1990-01-01", end="2025-12-31")
exchange_sessions = set(exchange.sessions)
closed_by_exchange = {day.date() for day in working if day.year >= 1990 and day not in exchange_sessions}

assert closed_by_exchange == {day for day in closed_by_markets if day.year >= 1990}
assert closed_by_markets - closed_by_holidays == {date(1968, 11, 11)}
too_many = closed_by_holidays - closed_by_markets
names = Counter("Flag Day" if "Flag Day" in CLOSED[day] else CLOSED[day] for day in too_many)
assert (len(too_many), max(too_many)) == (31, date(1970, 5, 29)), (len(too_many), max(too_many))
assert names == {
    "Flag Day": 20,
    "Paperwork Crisis": 5,
    "Memorial Day (observed)": 3,
    "Washington's Birthday (observed)": 1,
    "Independence Day (observed)": 1,
    "Volume activity": 1,
}, names

early = set(financial_holidays("NYSE", years=range(1990, 2026), categories=("half_day",)))
early_by_markets = {day.date() for day in NYSE.early_closes(NYSE.schedule("1990-01-01", "2025-12-31")).index}
early_by_exchange = {day.date() for day in exchange.early_closes}
assert early_by_markets - early == {date(1996, 1, 8), date(1997, 10, 27), date(2005, 6, 1)}
assert early - early_by_markets == {date(1999, 12, 31)}
assert early - early_by_exchange == {date(1994, 2, 11)}
assert early_by_exchange <= early

print("as described: up to 1953 the exchange is closed on Flag Day")
PYTHON
