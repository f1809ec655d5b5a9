#!/usr/bin/env bash
# compromise 14.17.0, text2num 3.1.0, number-parser 0.3.2, numerizer 0.2.4: one point five million is one.
#
# Guessed before the run: "nineteen eighty-four" is 19 84 in text2num and number-parser, and 103 in numerizer. About
# compromise nothing was guessed.
# Seen: compromise reads "one point five million" as 1, "two and a half million" as 2,000,000, "5bn euros" as 5, "twenty
# twenty" and "twenty ten" as 0, and writes so: "in 0 he won". Half a million and €5 billion are right. text2num writes
# "1.5 million" as "1.5 1000000", "two and a half million" as "two and a half 1000000", number-parser "one point five
# million" as "1 point 5000000". numerizer is right about 1.5 million and two and a half million, splits the year once
# more than the others, "19 80 4", adds "twenty four seven" up to 31, and makes "1 few100" of a few hundred. Thousands
# with "and" are right in all.
# What it means: the commonest large numbers of news, so many and a half million, lose their half or their zeros. This
# project reads such numbers by its own tables.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
    "text2num==3.1.0" "number-parser==0.3.2" "numerizer==0.2.4"
npm install --silent --no-fund --no-audit --prefix "$folder" "compromise@14.17.0"
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
from number_parser import parse
from numerizer import numerize
from text_to_num import alpha2digit

# What text2num, number-parser and numerizer write
WRITTEN = {
    "two thousand and one nights": ("2001 nights", "2001 nights", "2001 nights"),
    "nineteen eighty-four": ("19 84", "19 84", "19 80 4"),
    "1.5 million": ("1.5 1000000", "1.5 1000000", "1500000"),
    "one point five million": ("1.5 1000000", "1 point 5000000", "1 point 5000000"),
    "two and a half million": ("two and a half 1000000", "2 and a half 1000000", "2500000"),
    "twenty four seven": ("24 7", "24 7", "31"),
    "a few hundred": ("a few 100", "a few 100", "1 few100"),
    "twenty-first century": ("21st century", "21 century", "21st century"),
}
for text, written in WRITTEN.items():
    seen = (alpha2digit(text, "en"), parse(text), numerize(text))
    assert seen == written, (text, seen)
PYTHON
cat >"$folder/read.mjs" <<'JAVASCRIPT'
import assert from "node:assert";
import nlp from "compromise";

const READ = {
  "two thousand and one nights": [2001],
  "half a million": [500000],
  "€5 billion": [5000000000],
  "5bn euros": [5],
  "two and a half": [2.5],
  "two and a half million": [2000000],
  "one point five million": [1],
  "nineteen eighty-four": [19, 80, 4],
  "twenty twenty": [0],
};
for (const [text, numbers] of Object.entries(READ)) {
  assert.deepEqual(nlp(text).numbers().json().map(({ number }) => number.num), numbers, text);
}
assert.equal(nlp("in twenty ten he won").numbers().toNumber().all().text(), "in 0 he won");
console.log("as described: two and a half million are two million, and twenty twenty is zero");
JAVASCRIPT
node "$folder/read.mjs"
