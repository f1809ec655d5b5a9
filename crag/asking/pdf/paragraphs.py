"""Lines to paragraphs: a sentence stays in one piece across lines, columns and pages."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from crag.asking.hyphens import HYPHENS, Hyphenation
from crag.asking.pdf.lines import Line

WIDER_GAP = 1.45
"""Lines that are so many times as far apart as usual in their region are of two paragraphs."""
WIDEST_GAP = 2.6
"""In font sizes: more than the distance of double-spaced lines."""
INDENT = 0.8
"""In font sizes."""
OTHER_SIZE = 1.12
"""Ratio of the sizes of a heading and of text."""
LEAST_WORDS = 5
"""Of a paragraph that may go on in another column with a capital; headings are shorter."""
CUT_SHARE = 0.6
"""A line that fills less of its region ends a paragraph, if a capital follows."""

_SENTENCE_END = re.compile(r"[.!?:;][\"'”’)\]]*(?:\s?\d{1,2})?$")
_FIRST_SENTENCE = re.compile(r".+?[.!?][\"'”’)\]]*(?=\s+[A-Z\"“(])|.+", re.DOTALL)
_ENDED_SENTENCE = re.compile(r".{1,600}?[.!?]", re.DOTALL)
_BULLET = re.compile(r"[•◦▪■●‣⁃·]\s?")
_MARKER = re.compile(r"(?:[-–—*]|\(?(?:\d{1,2}|[a-z]|[ivx]{1,4})[.)])\s+")
"""Marks of list items that also occur in prose."""
_LABEL = re.compile(r"[A-Z][\w ]{0,30}: \S")
"""Begins a line such as "Born: 12 May 1931"."""
_BEGINS_SENTENCE = re.compile(
    r"(?:The|A|An|In|It|Its|He|She|His|Her|They|Their|This|These|That|Those|There|On|At|By|For|From|With|As|After|"
    r"Before|During|Since|When|While|Where|If|But|And|Of|To|We|Our|I|You|Who|What|How|Why|Because|Although)\b"
)
_BEGINS_OPEN = re.compile(r"[a-z,;)\]%]")
_ENDS_OPEN = re.compile(
    r"""
    (?: , | & | \b (?:
        the | a | an | of | in | on | at | by | for | from | with | to | and | or | as | is | are | was | were | be
      | been | has | have | had | that | which | who | whose | its | his | her | their | than | between | into | called
      | named
      | (?: Mr | Mrs | Ms | Dr | Prof | St | No ) \.
    ) ) $
    """,
    re.VERBOSE,
)
"""Words behind which a sentence goes on."""


@dataclass(slots=True)
class _Region:
    """The edges of a region of a page, and the usual distance of its baselines."""

    left: float
    right: float
    leading: float


@dataclass(slots=True)
class Paragraph:
    """Lines that belong together. `is_item`: the first one begins with the mark of a list."""

    text: str
    first: Line
    last: Line
    is_item: bool


def build_paragraphs(lines: Sequence[Line], hyphenation: Hyphenation) -> list[str]:
    """The paragraphs of a page, and the rows of its tables, in reading order."""
    regions = _measure_regions(lines)
    paragraphs: list[Paragraph] = []
    for line in lines:
        if paragraphs and _continues(paragraphs[-1], line, regions):
            paragraphs[-1].text = hyphenation.join(paragraphs[-1].text, line.text)
            paragraphs[-1].last = line
        else:
            is_item = bool(_BULLET.match(line.text) or _MARKER.match(line.text))
            paragraphs.append(Paragraph(line.text, line, line, is_item))
    return [paragraph.text for paragraph in paragraphs]


def join_pages(pages: Sequence[Sequence[str]], hyphenation: Hyphenation) -> list[list[str]]:
    """The paragraphs of the pages; a sentence that runs over a page break belongs to the page where it begins."""
    joined: list[list[str]] = []
    for paragraphs in pages:
        remaining = list(paragraphs)
        before = joined[-1] if joined else []
        if before and remaining and _goes_on(before[-1], remaining[0]):
            sentence_end = _FIRST_SENTENCE.match(remaining[0])
            end = sentence_end.end() if sentence_end else 0
            before[-1] = hyphenation.join(before[-1], remaining[0][:end])
            remaining[0] = remaining[0][end:].strip()
        joined.append([paragraph for paragraph in remaining if paragraph])
    return joined


def _measure_regions(lines: Sequence[Line]) -> dict[int, _Region]:
    regions = {}
    for number in {line.region for line in lines}:
        members = [line for line in lines if line.region == number]
        distances = [after.baseline - line.baseline for line, after in pairwise(members)]
        regions[number] = _Region(
            left=min(line.left for line in members),
            right=max(line.right for line in members),
            leading=median(distances) if distances else 0.0,
        )
    return regions


def _continues(paragraph: Paragraph, line: Line, regions: dict[int, _Region]) -> bool:
    """Whether a line continues a paragraph."""
    before = paragraph.last
    is_other_kind = before.is_row or line.is_row or _BULLET.match(line.text)
    if is_other_kind or max(before.size, line.size) > OTHER_SIZE * min(before.size, line.size):
        return False
    if before.region != line.region:
        return _goes_on(paragraph.text, line.text)

    region = regions[line.region]
    is_finished = bool(_SENTENCE_END.search(before.text)) and not _ENDS_OPEN.search(before.text)
    begins_item = _MARKER.match(line.text) and (is_finished or paragraph.is_item)
    is_next_label = _LABEL.match(before.text) and _LABEL.match(line.text)
    if begins_item or is_next_label or _is_far_below(before, line, region) or _is_outdented(paragraph, line):
        return False

    if _is_unfinished(before.text, line.text):
        return True
    is_indented = line.left - before.left > INDENT * line.size and not paragraph.is_item
    return not is_indented and not _was_cut_short(before, line, region, is_finished=is_finished)


def _is_far_below(before: Line, line: Line, region: _Region) -> bool:
    """Whether the distance of two lines is that of paragraphs."""
    distance = line.baseline - before.baseline
    usual = max(region.leading, line.size)
    return distance > WIDER_GAP * usual or distance > WIDEST_GAP * line.size


def _is_outdented(paragraph: Paragraph, line: Line) -> bool:
    """Whether a line begins where the first line of a paragraph begins, to the left of all others: the next item."""
    indent = INDENT * line.size
    return paragraph.last.left - paragraph.first.left > indent and paragraph.last.left - line.left > indent


def _is_unfinished(before: str, after: str) -> bool:
    """Whether the words alone tell that a sentence goes on."""
    if before.endswith(tuple(HYPHENS)) and after[:1].isalnum():
        return True
    if _ENDS_OPEN.search(before):
        return True
    return bool(_BEGINS_OPEN.match(after)) and not _SENTENCE_END.search(before) and " | " not in before


def _goes_on(before: str, after: str) -> bool:
    """Whether a sentence goes on in another column or on another page, perhaps with a name."""
    if _is_unfinished(before, after):
        return True
    is_prose = " | " not in before + after and len(before.split()) >= LEAST_WORDS and before[-1].islower()
    begins_anew = _BEGINS_SENTENCE.match(after) or _BULLET.match(after) or _MARKER.match(after)
    return is_prose and not begins_anew and bool(_ENDED_SENTENCE.match(after))


def _was_cut_short(before: Line, line: Line, region: _Region, *, is_finished: bool) -> bool:
    """Whether the first word of a line would have had room on the line before it."""
    first_word = line.text.split(maxsplit=1)[0]
    width = (line.right - line.left) * (len(first_word) + 1) / max(len(line.text), 1)
    had_room = before.right + width < region.right
    if is_finished or _BEGINS_SENTENCE.match(line.text):
        return had_room

    # A name may begin the line, in text with a ragged edge: only much room tells.
    share = (before.right - region.left) / max(region.right - region.left, 1.0)
    return had_room and share < CUT_SHARE
