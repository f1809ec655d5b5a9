#!/usr/bin/env bash
# dateparser 1.5.0: "the 1990s" is half an hour ago, "1,000 years ago" is last year, and "2019-20" a day in March.
#
# Guessed before the first run: "the 1990s" and "Q3 2021" are not read, "1.5 years ago" is right or not read. Guessed
# before the second: "in the 1980s" is so many seconds ago, "5,000 years ago" is today.
# Seen: a decade is a number of seconds: "the 1990s" is 33 minutes ago, "in the 1990s" is 33 minutes ahead, "the 80s" is
# 80 seconds ago. A comma among thousands parts the number, and the part before or behind it is lost: "1,000 years ago"
# is one year ago, "5,000 years ago" five, "1,200 hours ago" 72 minutes. "3.5 years" is a 5 March. "Q3 2021" is a day in
# September, which is right for the end of the quarter only. "2019-20" is 20 March 2019, "2011-12" a day of December
# 2011, and "1998-99" nothing. "1.5 years ago" is not read, as guessed. search_dates() finds "310 m" in a sentence about
# a bridge, as a time six hours ago.
# What it means: the answer to "when" becomes a date of today for a decade, and thousands of years become a few. Who
# compares such dates with a reference, or sorts pages by them, sees dates that look read. This project does not use it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "dateparser==1.5.0"
"$folder/venv/bin/python" - <<'PYTHON'
import warnings
from datetime import datetime, timedelta

import dateparser
from dateparser.search import search_dates

warnings.simplefilter("ignore")

NOW = datetime(2024, 3, 15, 12)
SETTINGS = {"RELATIVE_BASE": NOW}


def read(text: str) -> datetime | None:
    return dateparser.parse(text, languages=["en"], settings=SETTINGS)


SEEN = {
    "the 1990s": NOW - timedelta(seconds=1990),
    "in the 1990s": NOW + timedelta(seconds=1990),
    "the 80s": NOW - timedelta(seconds=80),
    "100 years ago": NOW.replace(year=1924),
    "1,000 years ago": NOW.replace(year=2023),
    "5,000 years ago": NOW.replace(year=2019),
    "1,200 hours ago": NOW - timedelta(minutes=72),
    "1.5 years ago": None,
    "3.5 years": datetime(2024, 3, 5),
    "Q3 2021": datetime(2021, 9, 15),
    "2019-20": datetime(2019, 3, 20),
    "2011-12": datetime(2011, 12, 15),
    "1998-99": None,
}
for text, moment in SEEN.items():
    assert read(text) == moment, (text, read(text))

found = search_dates("The bridge is 310 m long and opened on 3 May 1932.", languages=["en"], settings=SETTINGS)
assert found == [("310 m", NOW - timedelta(minutes=310)), ("on 3 May 1932", datetime(1932, 5, 3))], found

print("as described: decades are seconds, a thousand years are one, and a season is a day in March")
PYTHON
