#!/usr/bin/env bash
# num2words 0.5.14, inflect 7.6.0, number-to-words 1.2.4, written-number 0.11.1: -0.5 is zero point five.
#
# Guessed before the run: the Python packages say "minus zero point five" and refuse "3/4"; the JavaScript ones cut or
# round decimals, as one of them documents, and refuse numbers beyond their words.
# Seen: num2words keeps the sign of -1.5 and loses it from -0.5, -0.01 and every number between -1 and 0, though not
# when the same number is money. inflect is right about those, and reads text by its digits alone: "3/4" is thirty-four,
# "1e6" sixteen, "9:58" nine hundred and fifty-eight, and the season 1932-33 is 193 thousand; 1.5 as an ordinal is
# "first point five". number-to-words reads as far as the first letter: 1e21 is "one", and so is 1e-7. written-number
# says "two" for 1.5 and nothing at all for -5.
# What it means: half a degree below zero is half a degree above it as soon as a number is written or spoken in words,
# and no error tells. This project writes numbers as they stand in its sources.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "num2words==0.5.14" "inflect==7.6.0"
npm install --silent --no-fund --no-audit --prefix "$folder" "number-to-words@1.2.4" "written-number@0.11.1"
"$folder/venv/bin/python" - <<'PYTHON'
from decimal import Decimal

import inflect
from num2words import num2words

by_inflect = inflect.engine().number_to_words

for number in (-0.5, "-0.5", Decimal("-0.5")):
    assert num2words(number) == "zero point five" == num2words(0.5), number
    assert by_inflect(number) == "minus zero point five", number
assert num2words(-0.01) == num2words(0.01) == "zero point zero one"
assert num2words(-1.5) == "minus one point five"
assert num2words(-0.5, to="currency", currency="USD") == "minus zero dollars, fifty cents"

READ = {
    "1,234": "one thousand, two hundred and thirty-four",
    "3/4": "thirty-four",
    "1e6": "sixteen",
    "9:58": "nine hundred and fifty-eight",
    "1932-33": "one hundred and ninety-three thousand, two hundred and thirty-three",
}
for text, words in READ.items():
    assert by_inflect(text) == words, (text, by_inflect(text))
ordinal = inflect.engine().ordinal(1.5)
assert by_inflect(ordinal) == "first point five", (ordinal, by_inflect(ordinal))
PYTHON
cat >"$folder/write.mjs" <<'JAVASCRIPT'
import assert from "node:assert";
import numberToWords from "number-to-words";
import writtenNumber from "written-number";

const WRITTEN = [
  [1932, "one thousand, nine hundred thirty-two", "one thousand nine hundred and thirty-two"],
  [1.5, "one", "two"],
  [-5, "minus five", ""],
  [-0.5, "zero", ""],
  [1e21, "one", "one sextillion"],
  [1e-7, "one", "zero"],
];
for (const [number, ...words] of WRITTEN) {
  assert.deepEqual([numberToWords.toWords(number), writtenNumber(number)], words, String(number));
}
console.log("as described: half below zero is half above it, three quarters are thirty-four");
JAVASCRIPT
node "$folder/write.mjs"
