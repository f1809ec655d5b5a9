#!/usr/bin/env bash
# recognizers-text-date-time 1.0.2a2 cannot be imported beside emoji 2, and loses spans of years.
#
# Guessed before the run: an alpha release, but what pip installs for it can be imported; and as it was made for spans,
# "2019-2021" is one.
# Seen: its requirement on emoji has no upper bound, so pip takes emoji 2, which has no UNICODE_EMOJI, and the import
# ends in an error. With emoji 1.7.0 it works. "february 20-23, 2024" is then one range, but "2019-2021" is two years, in
# "who led it from 2019 to 2021?" nothing is found, and "the day after february 23, 2024" is the day after the reference
# date, and February 23.
# What it means: a service that takes it for the dates of questions starts only with a pin of a package that it never
# names, and a question about a span of years is asked without it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "setuptools==80.9.0" "recognizers-text-date-time==1.0.2a2" "emoji==2.16.0"
if "$folder/venv/bin/python" -W ignore -c "import recognizers_date_time" 2> "$folder/error"; then
    echo "changed: it can be imported beside emoji 2"
    exit 1
fi
grep --quiet UNICODE_EMOJI "$folder/error"

"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "emoji==1.7.0"
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
from datetime import datetime

from recognizers_date_time import Culture, recognize_datetime


def read(text: str) -> list[str]:
    """The time expression of each thing found."""
    asked_at = datetime(2024, 3, 5)
    results = recognize_datetime(text, Culture.English, reference=asked_at)
    return [result.resolution["values"][0]["timex"] for result in results]


assert read("february 20-23, 2024") == ["(2024-02-20,2024-02-23,P3D)"]
assert read("2019-2021") == ["2019", "2021"]
assert read("who led it from 2019 to 2021?") == []
assert read("the day after february 23, 2024") == ["2024-03-06", "2024-02-23"]

print("as described: no import beside emoji 2; spans of years are lost")
PYTHON
