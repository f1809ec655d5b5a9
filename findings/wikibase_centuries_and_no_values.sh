#!/usr/bin/env bash
# wikibase-sdk 11.6.6, Wikidata 0.9.0: the 20th century is the year 2000 or 19, and "none" is not known.
#
# Guessed before the run: wikibase-sdk makes 1 January of a year, drops units, and gives preferred values alone. About
# centuries and "none" nothing was guessed.
# Seen: Wikidata says how exact a time is: a year, a decade, a century. simplifyClaim drops that: 1990 is 1 January 1990
# at midnight, the 20th century, written as 2000, 1 January 2000; asked for simple days it gives 1990 for the year and
# "2000" for the century. Wikidata (Python) gives the number 19 for a century that is written as 1901, refuses decades,
# and years before Christ. A value that is known to be none ("no children") and one that is unknown are both an empty
# list. A quantity is a number without its unit, whole numbers of sixteen digits are rounded.
# What it means: who was born in the 18th century was born on New Year's Day, and "never married" is a gap. This project
# reads no statements of Wikidata.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "Wikidata==0.9.0"
npm install --silent --no-fund --no-audit --prefix "$folder" "wikibase-sdk@11.6.6"
cat >"$folder/read.mjs" <<'JAVASCRIPT'
import assert from "node:assert";
import { simplifyClaim, simplifyPropertyClaims } from "wikibase-sdk";

const statement = { rank: "normal", type: "statement", id: "Q1$1" };
const claim = (mainsnak) => ({ ...statement, mainsnak: { property: "P1", ...mainsnak } });
const known = (datatype, type, value) => claim({ snaktype: "value", datatype, datavalue: { type, value } });
const time = (text, precision) =>
  known("time", "time", { time: text, timezone: 0, before: 0, after: 0, precision, calendarmodel: "" });
const days = (found) => simplifyClaim(found, { timeConverter: "simple-day" });
const [CENTURY, DECADE, YEAR, DAY] = [7, 8, 9, 11];

const year = time("+1990-00-00T00:00:00Z", YEAR);
assert.equal(simplifyClaim(year), "1990-01-01T00:00:00.000Z");
assert.equal(days(year), "1990");
assert.equal(days(time("+1990-05-03T00:00:00Z", DAY)), "1990-05-03");
const century = time("+2000-00-00T00:00:00Z", CENTURY);
assert.equal(simplifyClaim(century), "2000-01-01T00:00:00.000Z");
assert.equal(days(century), "2000");
assert.equal(days(time("+1990-00-00T00:00:00Z", DECADE)), "1990");

for (const snaktype of ["novalue", "somevalue"]) {
  assert.deepEqual(simplifyPropertyClaims([claim({ snaktype, datatype: "wikibase-item" })]), []);
}
const unit = "http://www.wikidata.org/entity/Q11573";
assert.equal(simplifyClaim(known("quantity", "quantity", { amount: "+310", unit })), 310);
assert.equal(simplifyClaim(known("quantity", "quantity", { amount: "+9007199254740993", unit })), 9007199254740992);
JAVASCRIPT
node "$folder/read.mjs"
"$folder/venv/bin/python" - <<'PYTHON'
from wikidata.client import Client
from wikidata.datavalue import DatavalueError, Decoder

GREGORIAN = "http://www.wikidata.org/entity/Q1985727"
CENTURY, DECADE, YEAR, DAY = 7, 8, 9, 11


def read(text: str, precision: int) -> str:
    """The value, or the words of the error."""
    value = {"time": text, "precision": precision, "calendarmodel": GREGORIAN, "timezone": 0, "before": 0, "after": 0}
    try:
        return repr(Decoder()(Client(), "time", {"type": "time", "value": value}))
    except DatavalueError as error:
        return str(error)


assert read("+1990-00-00T00:00:00Z", YEAR) == "1990"
assert read("+1901-00-00T00:00:00Z", CENTURY) == "19"
assert "is unsupported" in read("+1990-00-00T00:00:00Z", DECADE)
assert "only AD (CE) is supported" in read("-0044-03-15T00:00:00Z", DAY)

print("as described: the 20th century is the year 2000, or 19")
PYTHON
