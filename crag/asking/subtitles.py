"""Subtitles of films and talks (`.srt`, `.vtt`): what is said, without the times."""

import html
import re
from collections.abc import Iterator

_TIME = r"(?:\d{1,3}:)?\d{1,2}:\d\d[,.]\d{3}"
_TIMES = re.compile(rf"[ \t]{{0,9}}{_TIME}[ \t]{{0,9}}-->[ \t]{{0,9}}{_TIME}")
_BEGINNING = re.compile(rf"\ufeff?\s{{0,99}}(?:WEBVTT\b|\d{{1,6}}[ \t]{{0,9}}\r?\n[ \t]{{0,9}}{_TIME}[ \t]{{0,9}}-->)")
_SPEAKER = re.compile(r"<v(?:\.[\w.]{1,60})?\s+([^<>]{1,80})>")
_TAG = re.compile(r"</?[a-z][^<>]{0,80}>|<[\d:.]{5,15}>|\{\\[^{}]{1,80}\}", re.IGNORECASE)
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
    """The lines below each pair of times."""
    is_spoken = False
    for line in text.splitlines():
        if _TIMES.match(line):
            is_spoken = True
        elif not line.strip():
            is_spoken = False
        elif is_spoken:
            words = html.unescape(_TAG.sub("", _SPEAKER.sub(r"\1: ", line)))
            if words.strip():
                yield " ".join(words.split())
