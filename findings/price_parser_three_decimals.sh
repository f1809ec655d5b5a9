#!/usr/bin/env bash
# price-parser 0.5.1: three digits behind the last point or comma are thousands, even in 0.235 and in 1,234.567.
#
# Guessed before the first run: "1.234" is 1234, for a point groups thousands in much of Europe; of "$1.5 million" the
# word is lost. Guessed before the second, after 0.123 had come as 123: a comma ("€0,235") and a number with both marks
# ("$1,234.567") are right, and so is "$.235", which can be read in one way only.
# Seen: the first as guessed. Of the second all three were wrong: "€0,235" is 235, "$.235" is 235, and "$1,234.567" is
# 1,234,567 although its comma already marks the thousands. "$0.235 per share" is 235 dollars, "$3.499/gal" is 3499. Two
# or four digits are decimals. `decimal_separator="."` mends those with a point.
# What it means: dividends, exchange rates and prices of fuel have three decimals. They come a thousand times too high,
# while their neighbours with two or four are right, so a spot check does not show it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "price-parser==0.5.1"
"$folder/venv/bin/python" - <<'PYTHON'
from decimal import Decimal

from price_parser import Price

SEEN = {
    "$1.234": "1234",
    "$1.5 million": "1.5",
    "$0.23 per share": "0.23",
    "$0.235 per share": "235",
    "$0.2350 per share": "0.2350",
    "€0,235": "235",
    "$.235": "235",
    "$3.499/gal": "3499",
    "$1,234.56": "1234.56",
    "$1,234.567": "1234567",
}
for text, amount in SEEN.items():
    assert Price.fromstring(text).amount == Decimal(amount), (text, Price.fromstring(text))

for text, amount in {"$0.235 per share": "0.235", "$.235": "0.235", "$1,234.567": "1234.567"}.items():
    assert Price.fromstring(text, decimal_separator=".").amount == Decimal(amount), text
assert Price.fromstring("€0,235", decimal_separator=",").amount == Decimal("0.235")

print("as described: three decimals make a price a thousand times as high, 0.235 is 235")
PYTHON
