#!/usr/bin/env bash
# numeral 2.0.6, accounting 0.4.1, currency.js 2.0.4, numbro 2.5.0: a tenth of a millionth is one, and 1e6 is 16.
#
# Guessed before the run: numeral and numbro know "million" and "bn"; accounting and currency.js do not, and 1,5 is 15.
# Seen: numbers as JavaScript prints them are read otherwise: "1e-7" is 1 in accounting and no number in currency.js,
# "1e+21" is 121 in both. numeral is right about these two, and reads 1e6 as 16 and 1.5e3 as 1.53. "1.5 million" and
# "$1.5 billion" are 1.5 in three, not a number in numbro; "10 m" is ten million in numeral and numbro, and "10 km" ten
# thousand million in numbro. Digits are joined across words: "3 to 1" is 31, "Q3 2020" 32020, "1/2" 12, "May 5, 2020"
# 52020. numeral moves a hyphen to the front: 1990-1995 is -19901995, 3-1 is -31. 9:58 is 598 seconds in numeral, 958 in
# two others. A minus of books is dropped.
# What it means: a small number that was saved as text comes back ten million times as large, and an amount in millions
# as one or two. This project reads numbers by its own tables; its judge took 2.5m viewers for metres before this was
# found, and does not now.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
npm install --silent --no-fund --no-audit --prefix "$folder" \
    "numeral@2.0.6" "accounting@0.4.1" "numbro@2.5.0" "currency.js@2.0.4"
cat >"$folder/read.mjs" <<'JAVASCRIPT'
import assert from "node:assert";
import accounting from "accounting";
import currency from "currency.js";
import numbro from "numbro";
import numeral from "numeral";

// A text -> what numeral, accounting, currency.js and numbro read
const READ = {
  "1,234.5": [1234.5, 1234.5, 1234.5, 1234.5],
  [String(1e-7)]: [1e-7, 1, NaN, 1e-7],
  [String(1e21)]: [1e21, 121, 121, 1e21],
  "1e6": [16, 16, 16, 1000000],
  "1.5e3": [1.53, 1.53, 1.53, 1500],
  "1.5 million": [1.5, 1.5, 1.5, NaN],
  "$1.5 billion": [1.5, 1.5, 1.5, NaN],
  "10 m": [10000000, 10, 10, 10000000],
  "10 km": [10, 10, 10, 10000000000],
  "1,5": [15, 15, 15, 15],
  "3 to 1": [31, 31, 31, NaN],
  "1/2": [12, 12, 12, undefined],
  "Q3 2020": [32020, 32020, 32020, undefined],
  "May 5, 2020": [52020, 52020, 52020, undefined],
  "1990-1995": [-19901995, 1990, NaN, undefined],
  "3-1": [-31, 3, NaN, undefined],
  "9:58": [598, 958, 958, undefined],
  "−5": [5, 5, 5, undefined],
};
for (const [text, numbers] of Object.entries(READ)) {
  const read = [numeral(text).value(), accounting.unformat(text), currency(text).value, numbro.unformat(text)];
  assert.deepEqual(read, numbers, text + " " + read);
}
console.log("as described: a tenth of a millionth is read as a whole number, and 1.5 million as 1.5");
JAVASCRIPT
node "$folder/read.mjs"
