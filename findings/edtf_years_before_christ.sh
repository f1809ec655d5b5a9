#!/usr/bin/env bash
# edtf 5.0.2, chrono-node 2.10.3: a date before Christ is one year too early, and a quarter is a month.
#
# Guessed before the first run: decades, centuries and years are right in edtf. Guessed before the second, after 44 BC
# had been -0044: chrono counts otherwise.
# Seen: both write 44 BC as the year -44. In EDTF and in the dates of JavaScript the year 0 is 1 BC, so -44 is 45 BC, as
# JavaScript says when asked for the era. The same holds for 1 BC, which is -1, 2 BC. text_to_edtf makes 2020-03 of
# "Q3 2020", 1979 of "AD 79", but 0079 of "79 AD", -0500 of "1,500 BC", and XXXX-XX-10, the tenth of a month, of
# "10,000 years ago". It gives 1912 for "1912 or 1913". Of "10,000 BC" it makes -0000, which its own parser refuses.
# chrono reads "two and a half years ago" as half a year ago, though "1.5 years ago" is right.
# What it means: lengths of time across the year 1 are wrong by one, and sorting hides it. A figure of a third quarter
# is filed under March. edtf is what libraries and archives use, chrono what chats in JavaScript do. This project's
# judge keeps the era beside the number.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "edtf==5.0.2"
npm install --silent --no-fund --no-audit --prefix "$folder" "chrono-node@2.10.3"
"$folder/venv/bin/python" - <<'PYTHON'
from edtf import parse_edtf, text_to_edtf
from edtf.parser.edtf_exceptions import EDTFParseException

WRITTEN = {
    "the 1860s": "186X",
    "19th century": "18XX",
    "5 March 1999": "1999-03-05",
    "44 BC": "-0044",
    "1 BC": "-0001",
    "Q1 2020": "2020-01",
    "Q3 2020": "2020-03",
    "79 AD": "0079",
    "AD 79": "1979",
    "1500 BC": "-1500",
    "1,500 BC": "-0500",
    "10,000 years ago": "XXXX-XX-10",
    "1912 or 1913": "1912",
    "10,000 BC": "-0000",
}
for text, edtf in WRITTEN.items():
    assert text_to_edtf(text) == edtf, (text, text_to_edtf(text))

assert parse_edtf("-0044").lower_strict()[:3] == (-44, 1, 1)
assert parse_edtf("0000").lower_strict()[:3] == (0, 1, 1)  # the year before the year 1
try:
    parse_edtf("-0000")
except EDTFParseException as error:
    assert "Invalid input" in str(error)
else:
    raise AssertionError("-0000 was refused")
PYTHON
cat >"$folder/read.mjs" <<'JAVASCRIPT'
import assert from "node:assert";
import { parse, parseDate } from "chrono-node";

const now = new Date(2024, 1, 28, 12);
const era = new Intl.DateTimeFormat("en", { year: "numeric", era: "short" });
for (const [text, year, told] of [["15 March 44 BC", -44, "45 BC"], ["15 March 1 BC", -1, "2 BC"]]) {
  assert.equal(parse(text, now)[0].start.get("year"), year);
  assert.equal(era.format(parseDate(text, now)), told);
}

for (const [text, found, year, month] of [
  ["two and a half years ago", "half years ago", 2023, 8],
  ["1.5 years ago", "1.5 years ago", 2022, 8],
]) {
  const [result] = parse(text, now);
  assert.deepEqual([result.text, result.start.get("year"), result.start.get("month")], [found, year, month]);
}
JAVASCRIPT
(cd "$folder" && node read.mjs)
echo "as described: 44 BC is 45 BC, and the third quarter is March"
