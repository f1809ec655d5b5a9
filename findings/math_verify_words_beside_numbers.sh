#!/usr/bin/env bash
# math-verify 0.9.0: five kilometres are five miles, 1.5 million is 1.5, and a third is right the one way round only.
#
# Guessed before the run: 2003-05-01 is a subtraction; 5 is 5% and 3-1 is 2; the order of the two answers matters.
# Seen: of a text the package takes the last number and drops the words: 5 km is 5 miles, $5 is €5, July 4, 1776 is
# 1776, 1.5 million is 1.5 and not 1,500,000, 9:58 is 9, 1e6 is 1. Dates with hyphens are years, spans of years
# differences: 1990-1995 is -5, and 3/4/2020 is 0.000371. 5% is both 5 and 0.05. A minus of books (−5) is no number, nor
# are Paris and Paris the same, or ½ and ½: what has no number is never right. 1/3 as the reference takes 0.333333, and
# 0.3333 as the reference does not take 1/3. "1,2,3" is 1.2.
# What it means: the judge is made for mathematics; of other answers, a score, a date or an amount in millions is judged
# by a part of it, and a name is always wrong. This project's judge compares numbers with their units and words.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
    "math-verify==0.9.0" "latex2sympy2_extended==1.11.0" "antlr4-python3-runtime==4.13.2"
"$folder/venv/bin/python" - 2>"$folder/log" <<'PYTHON' || { cat "$folder/log"; exit 1; }
from math_verify import parse, verify

READ = {
    "1,234": "1234",
    "1 000 000": "1000000",
    "1.5 million": "1.5",
    "9:58": "9",
    "1e6": "1",
    "12 or 13": "13",
    "1,2,3": "1.2",
    "2003-05-01": "2003-05-01",
}
for text, number in READ.items():
    assert parse(text)[1] == number, (text, parse(text))
for text in ("−5", "½", "Paris", "twelve", "U2"):
    assert parse(text) == [], (text, parse(text))


def right(reference: str, answer: str) -> bool:
    return verify(parse(reference), parse(answer))


SAME = [
    ("5 km", "5 miles"),
    ("$5", "€5"),
    ("July 4, 1776", "1776"),
    ("1.5 million", "1.5"),
    ("9:58", "9"),
    ("2003-05-01", "2003"),
    ("1990-1995", "-5"),
    ("3-1", "2"),
    ("3/4/2020", "0.000371"),
    ("5%", "5"),
    ("5%", "0.05"),
    ("1/3", "0.333333"),
]
DIFFERENT = [
    ("1.5 million", "1500000"),
    ("1e6", "1000000"),
    ("2003-05-01", "1997"),
    ("0.3333", "1/3"),
    ("Paris", "Paris"),
    ("½", "½"),
    ("3.1", "31"),
]
for reference, answer in SAME:
    assert right(reference, answer), (reference, answer)
for reference, answer in DIFFERENT:
    assert not right(reference, answer), (reference, answer)

print("as described: five kilometres are five miles, and 1.5 million is 1.5")
PYTHON
