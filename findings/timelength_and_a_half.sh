#!/usr/bin/env bash
# timelength 3.0.4, parse-duration 2.1.9, timestring 7.0.0: two and a half hours are half an hour.
#
# Guessed before the run: timelength, which documents fractions such as "half of a quarter of two minutes", reads two
# and a half hours as 9,000 seconds; the JavaScript packages read 1:30 h and 1 1/2 hours rightly or not at all.
# Seen: timelength drops the number before a fraction: "two and a half hours" and "1 1/2 hours" are 1,800 seconds, "an
# hour and a half" 3,600, and "1:30 h" 90; -1 h is one hour. Each of them is reported as a success. parse-duration reads
# numbers without a unit as seconds: "1 1/2 hours" is eleven seconds and two hours, "1:30 h" a second and thirty hours,
# "2-3 hours" two seconds and three hours; 1,5 h are fifteen hours, and 9:58 is nine seconds. timestring makes 112 hours
# of "1 1/2 hours", 130 of "1:30 h", and drops the minus. Whole numbers with a unit each are right in all three.
# What it means: the half is how people give lengths of films and matches. This project reads such lengths by its own
# rules.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "timelength==3.0.4"
npm install --silent --no-fund --no-audit --prefix "$folder" "parse-duration@2.1.9" "timestring@7.0.0"
"$folder/venv/bin/python" - <<'PYTHON'
from timelength import TimeLength

# The text -> seconds; the right ones first
READ = {
    "half an hour": 1800,
    "1.5 h": 5400,
    "1h 30m": 5400,
    "one hundred and five minutes": 6300,
    "two and a half hours": 1800,
    "1 1/2 hours": 1800,
    "an hour and a half": 3600,
    "1:30 h": 90,
    "-1h": 3600,
}
for text, seconds in READ.items():
    result = TimeLength(text).result
    assert (result.success, result.seconds) == (True, seconds), (text, result.success, result.seconds)
PYTHON
cat >"$folder/read.mjs" <<'JAVASCRIPT'
import assert from "node:assert";
import parse from "parse-duration";
import timestring from "timestring";

const READ = [
  ["1.5 h", 5400, 5400],
  ["1h 30m", 5400, 5400],
  ["1 hr, 2 mins, 3 secs", 3723, 3723],
  ["1 1/2 hours", 7211, 403200],
  ["1:30 h", 108001, 468000],
  ["1,5 h", 54000, 54000],
  ["-1h", -3600, 3600],
];
for (const [text, ...seconds] of READ) {
  assert.deepEqual([Math.round(parse(text, "s")), timestring(text)], seconds, text);
}
assert.equal(parse("9:58", "s"), 9.058);
assert.equal(parse("2-3 hours", "s"), 10802);
console.log("as described: two and a half hours are half an hour");
JAVASCRIPT
node "$folder/read.mjs"
