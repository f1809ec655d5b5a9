#!/usr/bin/env bash
# pysrt 1.1.2, webvtt-py 0.6.0, pysubs2 1.8.1: subtitles lose what stands between < and >, and behind an empty line.
#
# Guessed before the run: the readers give the same cues; webvtt-py keeps entities as they are; pysubs2 reads {...} in
# SRT as tags.
# Seen: in SRT, where these signs are text, pysrt (without tags) and webvtt-py make "3 < 5 and 7 > 6" into "3  6".
# pysubs2 keeps that, makes a < b > c bold, and loses <five> and {5}. At an empty line within a cue pysrt drops the
# rest. The cue at 100 hours is at 0 in pysubs2. Half a second, ",5", is 500 thousandths to pysubs2, and 5 to pysrt and
# webvtt-py. In WebVTT, where &amp; and &lt; have to be written, webvtt-py and pysubs2 leave them: "AT&amp;T". The small
# text above a word (<ruby>) joins it.
# What it means: captions are the text of films and talks, and questions about them go to what was cut. srt 3.5.3, which
# leaves tags in, keeps all of it. This project's reader lost text behind an empty line, cues with half seconds and some
# signs before this was found, and does not now.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
    "pysubs2==1.8.1" "pysrt==1.1.2" "webvtt-py==0.6.0" "srt==3.5.3"
"$folder/venv/bin/python" - <<'PYTHON'
from io import StringIO

import pysrt
import pysubs2
import srt
import webvtt

TIMES = "00:00:01,000 --> 00:00:02,000"


def subtitles(text: str, times: str = TIMES) -> str:
    return f"1\n{times}\n{text}\n\n2\n00:00:05,000 --> 00:00:06,000\nNext\n"


def by_pysubs2(written: str, kind: str = "srt") -> str:
    return str(pysubs2.SSAFile.from_string(written, format_=kind)[0].plaintext)


def by_pysrt(written: str) -> str:
    return str(pysrt.from_string(written)[0].text_without_tags)


def by_webvtt(written: str) -> str:
    return str(webvtt.from_buffer(StringIO(written), format="srt")[0].text)


def by_srt(written: str) -> str:
    return next(iter(srt.parse(written))).content


# A text -> what pysubs2, pysrt, webvtt-py and srt read
READ = {
    "It is <i>310</i> m": ("It is 310 m", "It is 310 m", "It is 310 m", "It is <i>310</i> m"),
    "3 < 5 and 7 > 6": ("3 < 5 and 7 > 6", "3  6", "3  6", "3 < 5 and 7 > 6"),
    "a < b > c": ("a  c", "a  c", "a  c", "a < b > c"),
    "{5} of it": (" of it", "{5} of it", "{5} of it", "{5} of it"),
    "East\n\nWest": ("East\n\nWest", "East", "East\nWest", "East\n\nWest"),
}
for text, read in READ.items():
    written = subtitles(text)
    seen = (by_pysubs2(written), by_pysrt(written), by_webvtt(written), by_srt(written))
    assert seen == read, (text, seen)
bold = pysubs2.SSAFile.from_string(subtitles("a < b > c"), format_="srt")[0]
assert bold.text == "a {\\b1} c", bold.text

late = subtitles("Late", "100:00:00,000 --> 100:00:01,000")
starts = {cue.plaintext: cue.start for cue in pysubs2.SSAFile.from_string(late, format_="srt")}
assert starts == {"Late": 0, "Next": 5000}, starts
assert str(pysrt.from_string(late)[0].start) == "100:00:00,000"

half = subtitles("Half", "00:00:09,5 --> 00:00:10,5")
assert pysubs2.SSAFile.from_string(half, format_="srt")[0].start == 9500
assert str(pysrt.from_string(half)[0].start) == "00:00:09,005"
assert webvtt.from_buffer(StringIO(half), format="srt")[0].start == "00:00:09.005"

cue = "WEBVTT\n\n00:01.000 --> 00:02.000\n<v Mary>AT&amp;T &lt;5&gt; <ruby>A<rt>a</rt></ruby>\n"
assert webvtt.from_string(cue)[0].text == "AT&amp;T &lt;5&gt; Aa"
assert by_pysubs2(cue, "vtt") == "AT&amp;T &lt;5&gt; Aa"

print("as described: 3 < 5 and 7 > 6 is 3 6, and the text behind an empty line is lost")
PYTHON
