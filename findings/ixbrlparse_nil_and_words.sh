#!/usr/bin/env bash
# ixbrlparse 0.12.0, word2number 1.1: figures of annual reports (inline XBRL) that are not reported, and those in words.
#
# Guessed before the first run: scales, signs and decimal commas are right, and a footnote mark in ix:exclude stays out
# of a number. Guessed before the second: a number in words is right or refused.
# Seen: scales, signs and commas are right. A figure with xsi:nil="true", which says that there is none, is 0. A number
# with a footnote mark in ix:exclude is an error and no number; of a text the same mark stays out. Numbers in words
# (numwordsen of the SEC) come from word2number: "two million three hundred thousand" is 2,301,300, "one thousand, nine
# hundred" is 109, "six million, two hundred thousand" is 112,000, "two-thirds" is 2. Alone, word2number makes
# 1719 of "nineteen ninety nine", 1 of "one trillion", 6 of "six point five million". Of a text with a line break,
# "New<br/>York" is NewYork. Dates with the month in English words stay texts, with a warning.
# What it means: a mean or a sum over companies takes missing figures for zeros, and the numbers in words are wrong in
# a way that reads like a number: right for all below a thousand, which is what one tries. word2number, last released in
# 2017, stands in evaluation scripts of question answering too. This project reads numbers in words by its own table.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "ixbrlparse==0.12.0" "word2number==1.1"
"$folder/venv/bin/python" - <<'PYTHON'
import io
import warnings

from ixbrlparse import IXBRL
from word2number import w2n

NAMESPACES = {
    "": "http://www.w3.org/1999/xhtml",
    ":ix": "http://www.xbrl.org/2013/inlineXBRL",
    ":ixt": "http://www.xbrl.org/inlineXBRL/transformation/2020-02-12",
    ":ixt-sec": "http://www.sec.gov/inlineXBRL/transformation/2015-08-31",
    ":xbrli": "http://www.xbrl.org/2003/instance",
    ":iso4217": "http://www.xbrl.org/2003/iso4217",
    ":xsi": "http://www.w3.org/2001/XMLSchema-instance",
    ":mine": "http://example.org/taxonomy",
}
HEADER = """<ix:header><ix:resources>
<xbrli:context id="year"><xbrli:entity><xbrli:identifier scheme="http://example.org">1</xbrli:identifier></xbrli:entity>
<xbrli:period><xbrli:startDate>2023-01-01</xbrli:startDate><xbrli:endDate>2023-12-31</xbrli:endDate></xbrli:period>
</xbrli:context><xbrli:unit id="usd"><xbrli:measure>iso4217:USD</xbrli:measure></xbrli:unit>
</ix:resources></ix:header>"""


def parse(fact: str) -> IXBRL:
    """A report of one fact."""
    names = " ".join(f'xmlns{name}="{address}"' for name, address in NAMESPACES.items())
    report = f"<html {names}><body><div>{HEADER}</div><p>{fact}</p></body></html>"
    return IXBRL(io.StringIO(report), raise_on_error=False)


def number(attributes: str, written: str) -> list[float]:
    named = 'name="mine:Sales" contextRef="year" unitRef="usd" decimals="0"'
    return [found.value for found in parse(f"<ix:nonFraction {named} {attributes}>{written}</ix:nonFraction>").numeric]


def text(attributes: str, written: str) -> object:
    fact = f'<ix:nonNumeric name="mine:Place" contextRef="year" {attributes}>{written}</ix:nonNumeric>'
    return parse(fact).nonnumeric[0].value


DOTS, COMMAS = 'format="ixt:num-dot-decimal"', 'format="ixt:num-comma-decimal"'
assert number(f'{DOTS} scale="6"', "1,234.5") == [1_234_500_000]
assert number(f'{DOTS} scale="3" sign="-"', "12") == [-12_000]
assert number(COMMAS, "1.234,5") == [1234.5]

assert number('xsi:nil="true"', "") == [0]
assert number(DOTS, "1,250<ix:exclude>(1)</ix:exclude>") == []
assert text("", "1,250<ix:exclude>(1)</ix:exclude>") == "1,250"
assert text("", "New<br/>York") == "NewYork"
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    assert text('format="ixt:date-monthname-day-year-en"', "March 5, 2023") == "March 5, 2023"
assert len(caught) == 1

WORDS = {
    "one hundred and five": 105,
    "two million three hundred thousand": 2_301_300,
    "one thousand, nine hundred": 109,
    "six million, two hundred thousand": 112_000,
    "two-thirds": 2,
}
for words, value in WORDS.items():
    assert number('format="ixt-sec:numwordsen"', words) == [value], words
    assert w2n.word_to_num(words) == value, words

for words, value in {"nineteen ninety nine": 1719, "one trillion": 1, "six point five million": 6}.items():
    assert w2n.word_to_num(words) == value, words

print("as described: a figure that is not reported is 0, and two million three hundred thousand is 2,301,300")
PYTHON
