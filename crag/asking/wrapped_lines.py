"""Lines of plain text that an editor or a mail program wrapped, as paragraphs: a sentence stays in one piece."""

import html
import re
from collections.abc import Sequence
from itertools import groupby, pairwise

from crag.asking.hyphens import HYPHENS, Hyphenation

LEAST_WIDTH = 50
"""Characters: shorter lines are not wrapped, but addresses, verses or lists."""
MOST_WIDTH = 120
"""Longer lines were never wrapped."""
LEAST_WRAPPED = 0.6
"""Of the line ends of a paragraph at which the next word would not have fitted."""
LEAST_SMALL = 0.25
"""Of the lines that begin with a small letter: prose goes on with one, a log or a list hardly ever."""

_ENDS_SENTENCE = re.compile(r"[.!?:;|][\"'”’)\]]*$")
_DIVIDES_WORD = re.compile(rf"\w[{HYPHENS}][ \t]*$", re.MULTILINE)
_BEGINS_ITEM = re.compile(r"(?:[-–—*•+>|#]|\(?\d{1,3}[.)]|[a-z][.)])\s|[|>#]")


def to_paragraphs(lines: Sequence[str]) -> str:
    """HTML with a paragraph for each line that is not blank."""
    return "".join(f"<p>{html.escape(line)}</p>\n" for line in lines if line.strip())


def join_wrapped_lines(text: str) -> list[str]:
    r"""The paragraphs of a text: wrapped lines joined, other lines as they are.

    Example:
        join_wrapped_lines("The first ship left the new harbour of Antwerp early in\nMay 1921 with grain.")
        # one line: "The first ship left the new harbour of Antwerp early in May 1921 with grain."
    """
    # Most texts divide no word, and a dictionary of one takes longer than all else.
    hyphenation = Hyphenation([text] if _DIVIDES_WORD.search(text) else [])
    paragraphs: list[str] = []
    for is_blank, lines in groupby(text.splitlines(), key=lambda line: not line.strip()):
        if not is_blank:
            paragraphs += _join_block([line.strip() for line in lines], hyphenation)
    return paragraphs


def join_flowed_lines(text: str, *, is_blank_lost: bool = False) -> list[str]:
    """The paragraphs of a text in which a line that ends with a blank goes on (RFC 3676).

    `is_blank_lost`: that blank is no part of the text, as in languages without blanks.
    """
    paragraphs: list[str] = []
    depth_above = -1  # of a line that goes on
    for line in text.splitlines():
        depth = len(line) - len(line.lstrip(">"))
        words = line[depth:].removeprefix(" ")
        if depth == depth_above:
            paragraphs[-1] += words
        else:
            paragraphs.append(f"{'>' * depth} {words}" if depth else words)

        goes_on = words.endswith(" ") and words != "-- "  # above a signature
        depth_above = depth if goes_on else -1
        if goes_on and is_blank_lost:
            paragraphs[-1] = paragraphs[-1].removesuffix(" ")
    return paragraphs


def _join_block(lines: Sequence[str], hyphenation: Hyphenation) -> list[str]:
    """The paragraphs of lines between two blank ones."""
    width = max(map(len, lines))
    if len(lines) == 1 or not LEAST_WIDTH <= width <= MOST_WIDTH or not _is_wrapped(lines, width):
        return list(lines)

    joined = [lines[0]]
    for line, following in pairwise(lines):
        goes_on = _is_full(line, following, width) and not _ENDS_SENTENCE.search(line)
        if goes_on and not _BEGINS_ITEM.match(following):
            joined[-1] = hyphenation.join(joined[-1], following)
        else:
            joined.append(following)
    return joined


def _is_wrapped(lines: Sequence[str], width: int) -> bool:
    """Whether most lines end where the next word would not have fitted, and some begin within a sentence."""
    pairs = list(pairwise(lines))
    full = sum(_is_full(line, following, width) for line, following in pairs)
    small = sum(following[0].islower() for _, following in pairs)
    return full >= LEAST_WRAPPED * len(pairs) and small >= LEAST_SMALL * len(pairs)


def _is_full(line: str, following: str, width: int) -> bool:
    """Whether the first word of the following line would have made this one longer than the longest, or goes on it."""
    if following[0].islower() and _DIVIDES_WORD.search(line):
        return True
    return len(line) + 1 + len(following.split(maxsplit=1)[0]) > width
