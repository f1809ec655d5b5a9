#!/usr/bin/env bash
# pandas 3.1.1, aniso8601 10.0.1, iso8601-duration 2.1.4, Luxon 3.7.2: PT1.5H is five hours and one second.
#
# Guessed before the run: pandas, which documents ISO 8601 for Timedelta, reads PT1.5H as an hour and a half or refuses
# it; midnight at the end of a day is the next day, and a minus is read or refused.
# Seen: pandas knows a decimal point before S only. Elsewhere it gives the digits before the point to the seconds, and
# those behind it to the unit: PT1.5H is 05:00:01, P1.5D five days and a second, P1.25D twenty-five days. P1M, a month,
# is a minute, while P1Y is an error. aniso8601 reads 24:00 on 15 March 1932 as the beginning of that day, so that the
# interval from 22:00 to 24:00 ends before it begins. iso8601-duration drops the sign: -P1D is 86,400 seconds. Luxon
# reads a decimal comma, which the standard prefers, as NaN.
# What it means: lengths of films and matches stand so in the JSON-LD of pages. This project reads them by its own
# rules.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "pandas==3.1.1" "aniso8601==10.0.1"
npm install --silent --no-fund --no-audit --prefix "$folder" "iso8601-duration@2.1.4" "luxon@3.7.2"
"$folder/venv/bin/python" - <<'PYTHON'
from datetime import datetime

from aniso8601 import parse_datetime, parse_duration, parse_interval
from pandas import Timedelta

DAY, HOUR, MINUTE = 86400, 3600, 60
# The text -> the seconds in pandas; None: the right ones, as in aniso8601
READ = {
    "PT36H": None,
    "PT90M": None,
    "PT1.5S": None,
    "P1DT2H": None,
    "PT1.5H": 5 * HOUR + 1,
    "PT2.5M": 5 * MINUTE + 2,
    "P1.5D": 5 * DAY + 1,
    "P1.25D": 25 * DAY + 1,
    "PT1H0.5M": HOUR + 5 * MINUTE,
    "P1M": MINUTE,
}
for text, seconds in READ.items():
    right = parse_duration(text).total_seconds()
    assert Timedelta(text).total_seconds() == (right if seconds is None else seconds), (text, Timedelta(text))
assert parse_duration("PT1.5H").total_seconds() == 1.5 * HOUR
try:
    Timedelta("P1Y")
except ValueError as error:
    assert "Invalid ISO 8601 Duration" in str(error)
else:
    raise AssertionError("a year was read")

for text in ("1932-03-15T24:00", "1932-03-15T24:00:00", "1932-03-15T00:00"):
    assert parse_datetime(text) == datetime(1932, 3, 15), (text, parse_datetime(text))
first, last = parse_interval("2024-05-03T22:00/2024-05-03T24:00")
assert last < first
PYTHON
cat >"$folder/read.mjs" <<'JAVASCRIPT'
import assert from "node:assert";
import { parse, toSeconds } from "iso8601-duration";
import { Duration } from "luxon";

const READ = [
  ["PT36H", 129600, 129600],
  ["PT0.5M", 30, 30],
  ["PT0,5M", 30, NaN],
  ["-P1D", 86400, -86400],
];
for (const [text, ...seconds] of READ) {
  assert.deepEqual([toSeconds(parse(text)), Duration.fromISO(text).as("seconds")], seconds, text);
}
console.log("as described: an hour and a half are five hours and a second");
JAVASCRIPT
node "$folder/read.mjs"
