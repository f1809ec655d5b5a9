#!/usr/bin/env bash
# ical.js 2.2.1, rrule 2.8.1, python-dateutil 2.9.0.post0: a birthday of 29 February is on 1 March, three years in four.
#
# Guessed before the run: all three read the rules of RFC 5545 alike; ical.js refuses those by number of the week.
# Seen: dateutil and rrule agree on every rule tried. RFC 5545 says that days which do not exist are ignored; ical.js
# makes 29 February 2025 the first of March, though it skips 31 April. The first Saturday of June is lost in the year in
# which it is the first day of June, if the event begins in another month. The twentieth Monday of a year is each Monday
# from then on, and so is the Monday of week 20: the week's number is dropped. The last weekday of a week is every one,
# BYSETPOS counts within each month of a yearly rule instead of within the year, and of two hours only the first is
# kept. A day in two months (BYMONTH=6,7) comes on the first of one and on the 31st of the other.
# What it means: dates of festivals and elections ("first Tuesday after...") are such rules, and a wrong day looks like
# a right one. This project quotes the words of a rule, and counts no days by it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "python-dateutil==2.9.0.post0"
npm install --silent --no-fund --no-audit --prefix "$folder" "ical.js@2.2.1" "rrule@2.8.1"
cat >"$folder/rules.json" <<'JSON'
[
  ["20240229", "FREQ=YEARLY", "2024-02-29 2025-03-01 2026-03-01", "2024-02-29 2028-02-29 2032-02-29"],
  ["20240131", "FREQ=MONTHLY", "2024-01-31 2024-03-31 2024-05-31", ""],
  ["20240902", "FREQ=YEARLY;BYMONTH=9;BYDAY=1MO", "2024-09-02 2025-09-01 2026-09-07", ""],
  ["20240131", "FREQ=MONTHLY;BYMONTH=6;BYDAY=1SA", "2025-06-07 2026-06-06 2027-06-05",
   "2024-06-01 2025-06-07 2026-06-06"],
  ["20240513", "FREQ=YEARLY;BYDAY=20MO", "2024-05-13 2024-05-20 2024-05-27", "2024-05-13 2025-05-19 2026-05-18"],
  ["20240513", "FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO", "2024-05-20 2024-05-27 2024-06-03",
   "2024-05-13 2025-05-12 2026-05-11"],
  ["20240503", "FREQ=WEEKLY;BYDAY=MO,FR;BYSETPOS=-1", "2024-05-03 2024-05-06 2024-05-10",
   "2024-05-03 2024-05-10 2024-05-17"],
  ["20240311", "FREQ=YEARLY;BYMONTH=3,9;BYDAY=MO;BYSETPOS=2", "2024-03-11 2024-09-09 2025-03-10",
   "2024-03-11 2025-03-10 2026-03-09"],
  ["20240731", "FREQ=YEARLY;BYMONTH=6,7", "2024-07-31 2025-07-01 2025-07-31", "2024-07-31 2025-07-31 2026-07-31"]
]
JSON
"$folder/venv/bin/python" - "$folder/rules.json" <<'PYTHON'
import json
import sys
from itertools import islice
from pathlib import Path

from dateutil.rrule import rrulestr

for start, rule, by_icaljs, by_others in json.loads(Path(sys.argv[1]).read_text()):
    days = " ".join(str(day.date()) for day in islice(rrulestr(f"DTSTART:{start}T190000\nRRULE:{rule}"), 3))
    assert days == (by_others or by_icaljs), (rule, days)
PYTHON
cat >"$folder/read.mjs" <<'JAVASCRIPT'
import assert from "node:assert";
import { readFileSync } from "node:fs";
import ICAL from "ical.js";
import rrule from "rrule";

const byIcaljs = (start, rule) => {
  const lines = ["BEGIN:VEVENT", `DTSTART:${start}T190000`, `RRULE:${rule}`, "END:VEVENT"];
  const event = new ICAL.Event(new ICAL.Component(ICAL.parse(lines.join("\r\n"))));
  const days = event.iterator();
  return [days.next(), days.next(), days.next()].map((day) => day.toString().slice(0, 10)).join(" ");
};
const byRrule = (start, rule) => {
  const days = rrule.rrulestr(`DTSTART:${start}T190000Z\nRRULE:${rule}`).all((_, count) => count < 3);
  return days.map((day) => day.toISOString().slice(0, 10)).join(" ");
};

for (const [start, rule, icaljs, others] of JSON.parse(readFileSync(process.argv[2], "utf8"))) {
  assert.equal(byIcaljs(start, rule), icaljs, rule);
  assert.equal(byRrule(start, rule), others || icaljs, rule);
}
const hours = "FREQ=YEARLY;BYMONTH=1;BYDAY=MO;BYHOUR=9,21";
const lines = `BEGIN:VEVENT\r\nDTSTART:20240101T090000\r\nRRULE:${hours}\r\nEND:VEVENT`;
const days = new ICAL.Event(new ICAL.Component(ICAL.parse(lines))).iterator();
assert.deepEqual([days.next(), days.next()].map(String), ["2024-01-01T09:00:00", "2024-01-08T09:00:00"]);
console.log("as described: 29 February is the first of March, and weeks have no numbers");
JAVASCRIPT
node "$folder/read.mjs" "$folder/rules.json"
