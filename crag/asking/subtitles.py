"""Subtitles of films and talks (`.srt`, `.vtt`): what is said, without the times."""

import html
import re
from collections.abc import Iterator
from itertools import pairwise

_TIME = r"(?:\d{1,3}:)?\d{1,2}:\d\d[,.]\d{1,3}"
_TIMES = re.compile(rf"[ \t]{{0,9}}{_TIME}[ \t]{{0,9}}-->[ \t]{{0,9}}{_TIME}")
_BEGINNING = re.compile(rf"\ufeff?\s{{0,99}}(?:WEBVTT\b|\d{{1,6}}[ \t]{{0,9}}\r?\n[ \t]{{0,9}}{_TIME}[ \t]{{0,9}}-->)")
_SPEAKER = re.compile(r"<v(?:\.[\w.]{1,60})?\s+([^<>]{1,80})>")
_READING = re.compile(r"<rt>[^<>]{0,80}(?:</rt>)?", re.IGNORECASE)
"""The small text above a word."""
_TAG = re.compile(
    r"</?(?:[bius](?:\.[\w.]{1,60})?|(?:c|v|em|strong|font|span|lang|ruby|rt|br|p|small|big)(?:[.\s/][^<>]{0,80})?)\s?>"
    r"|<[\d:.]{5,15}>|\{\\[^{}]{1,80}\}",
    re.IGNORECASE,
)
"""Of what else stands between < and >, "3 <n and n> 2", nothing is a tag."""
_SENTENCE_END = re.compile(r"[.!?…♪)\]][\"'”’]?\Z")
_BEGINS_SPEECH = re.compile(r"[-–—]\s?\S|[\[(♪]|[^\W\d_][\w .'-]{0,30}:\s")
"""Of another person than the one before: ``- Yes.``, ``IDA: Yes.``"""


def is_subtitles(text: str) -> bool:
    """Whether a text begins as a file of subtitles does."""
    return _BEGINNING.match(text) is not None


def subtitle_lines(text: str) -> list[str]:
    r"""The sentences of subtitles. A line that stays on the screen with the next one is read once.

    >>> subtitle_lines("1\n00:00:01,000 --> 00:00:04,000\nThe mill has\n<i>12</i> wheels.\n")
    ['The mill has 12 wheels.']
    """
    sentences: list[str] = []
    last_line = ""
    for line in _spoken_lines(text):
        if line == last_line:
            continue
        last_line = line
        goes_on = sentences and not _SENTENCE_END.search(sentences[-1]) and not _BEGINS_SPEECH.match(line)
        if goes_on:
            sentences[-1] = f"{sentences[-1]} {line}"
        else:
            sentences.append(line)
    return sentences


def _spoken_lines(text: str) -> Iterator[str]:
    """The lines below each pair of times. In WebVTT an empty one ends them, in SRT the next number and times."""
    is_webvtt = text.lstrip("\ufeff \t\r\n").startswith("WEBVTT")
    is_spoken = False
    for line, next_line in pairwise([*text.splitlines(), ""]):
        is_number = line.strip().isdecimal() and _TIMES.match(next_line)
        if _TIMES.match(line):
            is_spoken = True
        elif is_number or (is_webvtt and not line.strip()):
            is_spoken = False
        elif is_spoken:
            bare = _TAG.sub("", _READING.sub("", _SPEAKER.sub(r"\1: ", line)))
            words = " ".join(html.unescape(bare).split())
            if words:
                yield words
