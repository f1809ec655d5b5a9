#!/usr/bin/env bash
# Babel 2.19.0: half past seven in the evening, as Babel itself writes it for Canada, is read as the morning.
#
# Guessed before the run: parse_time reads what format_time writes; numbers with a wrong comma are errors; 1,500 in
# compact form is 1.5K, as browsers write it, and a date with the name of a month is read or refused with a word about
# it.
# Seen: format_time writes 7:30 p.m. for English in Canada, and parse_time looks for "pm" only: it says 07:30, and 12:30
# for half past midnight. With "PM" it is right. The same holds for 171 of Babel's 1,147 locales, in Spanish of America
# and Greek among them. "1,5" is 15 and "12,34" 1234, unless asked to be strict. 1,500 is 2K, as no decimals are the
# default. A date as format_date writes it by default, "May 3, 2024", is an IndexError in parse_date.
# What it means: twelve hours are lost between two functions of one package. This project reads times by its own rules.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "babel==2.19.0"
"$folder/venv/bin/python" - <<'PYTHON'
from datetime import date, time
from decimal import Decimal

from babel.dates import format_date, format_time, parse_date, parse_time
from babel.numbers import format_compact_decimal, parse_decimal

EVENING, NIGHT = time(19, 30), time(0, 30)


def there_and_back(moment: time, locale: str) -> time:
    return parse_time(format_time(moment, "short", locale=locale), locale=locale)


for locale in ("en_US", "en_GB", "en_AU"):
    assert (there_and_back(EVENING, locale), there_and_back(NIGHT, locale)) == (EVENING, NIGHT), locale
for locale in ("en_CA", "es_US", "el_GR"):
    seen = there_and_back(EVENING, locale), there_and_back(NIGHT, locale)
    assert seen == (time(7, 30), time(12, 30)), (locale, seen)
assert format_time(EVENING, "short", locale="en_CA") == "7:30\u202fp.m."
assert parse_time("7:30 p.m.", locale="en_US") == time(7, 30)
assert parse_time("7:30 pm", locale="en_US") == EVENING

assert parse_decimal("1,5", locale="en") == Decimal(15)
assert parse_decimal("12,34", locale="en") == Decimal(1234)
assert format_compact_decimal(1500, locale="en") == "2K"

written = format_date(date(2024, 5, 3), locale="en_US")
assert written == "May 3, 2024"
try:
    parse_date(written, locale="en_US")
except IndexError:
    pass
else:
    raise AssertionError("the name of a month was read")

print("as described: the evening is read as the morning")
PYTHON
