#!/usr/bin/env bash
# feedparser 6.0.14, podcastparser 0.6.11: day 130 of 2024 is New Year's Day of 2025.
#
# Guessed before the run: feedparser reads ISO 8601 with days of the year, which it documents, and with weeks not at
# all; podcastparser leaves an entry without a date if it cannot read it.
# Seen: feedparser's example, 2003-335, is right: 1 December. But it tries a year and a month first, and does not look
# at what follows: 2024-130 is month 13, which is January 2025, and 2024-101 is October. 2024-032 is the 32nd day of the
# month in which it is read, and 2024-W20 the first of it: in March 1 April and 1 March. podcastparser, asked for dates
# of ISO 8601 without a time, logs a line and says 1 January 1970, and takes "GMT+2" and "CET" for Greenwich; feedparser
# has no value for the first, and Greenwich for the second.
# What it means: the newest page of a question is chosen by such dates. This project takes the dates of a page from its
# text and its markup by its own rules, and gives no date where there is none.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "feedparser==6.0.14" "podcastparser==0.6.11"
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import logging
import time
from unittest.mock import patch

import feedparser
from podcastparser import parse_pubdate

logging.disable()


def by_feedparser(text: str, month: int = 3) -> str:
    """The day and the hour as they are read in this month of 2026, or nothing."""
    feed = f"<rss version='2.0'><channel><item><title>a</title><pubDate>{text}</pubDate></item></channel></rss>"
    with patch("time.gmtime", return_value=time.struct_time((2026, month, 9, 0, 0, 0, 0, 68, 0))):
        read = feedparser.parse(feed).entries[0].get("published_parsed")
    return time.strftime("%Y-%m-%d %H", read) if read else ""


def by_podcastparser(text: str) -> str:
    return time.strftime("%Y-%m-%d %H", time.gmtime(parse_pubdate(text)))


NEVER = "1970-01-01 00"
SEEN = {
    "2024-05-03T19:00:00+02:00": ("2024-05-03 17", "2024-05-03 17"),
    "Fri, 03 May 2024 19:00:00 EST": ("2024-05-04 00", "2024-05-04 00"),
    "2024-05-03": ("2024-05-03 00", NEVER),
    "2003-335": ("2003-12-01 00", NEVER),
    "2024-366": ("2024-12-31 00", NEVER),
    "2024-130": ("2025-01-01 00", NEVER),
    "2024-101": ("2024-10-01 00", NEVER),
    "Fri, 03 May 2024 19:00:00 GMT+2": ("", "2024-05-03 19"),
    "Fri, 03 May 2024 19:00:00 CET": ("2024-05-03 19", "2024-05-03 19"),
}
for text, seen in SEEN.items():
    assert (by_feedparser(text), by_podcastparser(text)) == seen, (text, by_feedparser(text), by_podcastparser(text))
# Read in March and in July
READ = {"2024-032": ("2024-04-01 00", "2024-08-01 00"), "2024-W20": ("2024-03-01 00", "2024-07-01 00")}
for text, days in READ.items():
    assert (by_feedparser(text, month=3), by_feedparser(text, month=7)) == days, text

print("as described: day 130 of 2024 is New Year's Day of 2025")
PYTHON
