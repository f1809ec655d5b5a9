#!/usr/bin/env bash
# fastfeedparser 0.6.5: what was published in 2024 was published on today's day of 2024.
#
# Nothing was guessed before the run.
# Seen: where a feed gives a year or a month only, which its standard allows (W3C-DTF), the day of the run fills the
# rest: on the last day of November "2024" is 30 November 2024, and "2024-05" 30 May. feedparser 6.0.14 says the first.
# A title of type xhtml is lost. Plain text is cut as if it were HTML: the summary of "3 < 5 and 7 > 6" is "3 6", beside
# the whole text under content; 10<sup>6</sup> is "10 6" in it. If the entry's link to itself comes first, it is its
# link. The link is taken as it is written, without the address that xml:base gives. feedparser is right there.
# What it means: sorted by date, old entries mix with new ones, by the day of reading. This project's reader of feeds
# gives dates as they are written; it glued the digits of an XHTML title before this was found, and does not now.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "fastfeedparser==0.6.5" "feedparser==6.0.14"
"$folder/venv/bin/python" - <<'PYTHON'
from datetime import datetime, timezone

import fastfeedparser
import feedparser

RDF = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"'
DATES = 'xmlns:dc="http://purl.org/dc/elements/1.1/"'
ATOM = 'xmlns="http://www.w3.org/2005/Atom" xml:base="http://example.org/"'
XHTML = 'xmlns="http://www.w3.org/1999/xhtml"'


def dated(date: str) -> str:
    item = f'<item rdf:about="http://example.org/1"><title>One</title><dc:date>{date}</dc:date></item>'
    channel = '<channel rdf:about="http://example.org"><title>News</title></channel>'
    return f"<rdf:RDF {RDF} {DATES}>{channel}{item}</rdf:RDF>"


def entry(inner: str) -> str:
    """A feed of Atom with one entry."""
    named = "<id>urn:1</id><updated>2024-01-05T19:00:00Z</updated>"
    return f"<feed {ATOM}><title>News</title>{named}<entry>{named}{inner}</entry></feed>"


def published(date: str) -> str:
    return str(fastfeedparser.parse(dated(date)).entries[0]["published"])[:10]


def today() -> datetime:
    return datetime.now(timezone.utc).astimezone()


before = today()
year, month = published("2024"), published("2024-05")
after = today()
assert year in {f"2024-{day:%m-%d}" for day in (before, after)}, year
assert month in {f"2024-05-{day:%d}" for day in (before, after)}, month
assert published("2024-05-03") == "2024-05-03"
assert feedparser.parse(dated("2024")).entries[0].updated_parsed[:3] == (2024, 1, 1)

title = f'<title type="xhtml"><div {XHTML}>10<sup>6</sup> cars</div></title>'
assert fastfeedparser.parse(entry(title)).entries[0]["title"] == ""
assert feedparser.parse(entry(title)).entries[0].title == "10<sup>6</sup> cars"

text = '<title>One</title><content type="text">3 &lt; 5 and 7 &gt; 6</content>'
read = fastfeedparser.parse(entry(text)).entries[0]
assert (read["description"], read["content"][0]["value"]) == ("3 6", "3 < 5 and 7 > 6")
power = f'<title>One</title><content type="xhtml"><div {XHTML}>10<sup>6</sup></div></content>'
assert fastfeedparser.parse(entry(power)).entries[0]["description"] == "10 6"

links = '<title>One</title><link rel="self" href="one.atom"/><link href="one"/>'
assert fastfeedparser.parse(entry(links)).entries[0]["link"] == "one.atom"
assert feedparser.parse(entry(links)).entries[0].link == "http://example.org/one"

print("as described: a year is today's day of that year")
PYTHON
