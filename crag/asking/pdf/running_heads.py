"""Lines that repeat at the top or the bottom of the pages: running heads, footers and page numbers."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import median

from crag.asking.pdf.lines import Line
from crag.asking.pdf.paragraphs import OTHER_SIZE

LINES_AT_EDGE = 2
"""Lines at the top, and at the bottom, of each page that are looked at."""
LEAST_SHARE = 0.3
"""Of the pages: heads of left and right pages differ."""

_NUMBER = re.compile(r"\d{1,5}")
_PAGE_NUMBER = re.compile(
    r"""
    \W{0,3} (?: page \s+ | p\. \s* )?
    (?: \d{1,4} | [ivxl]{1,6} )
    (?: \s* (?: / | of ) \s* \d{1,4} )?     # 3 / 10, page 3 of 10
    \W{0,3}
    """,
    re.VERBOSE | re.IGNORECASE,
)


def drop_running_heads(pages: Sequence[Sequence[Line]]) -> list[list[Line]]:
    """The lines of each page without those that repeat; the first occurrence stays, unless it is a page number."""
    edges = [_find_edges(lines) for lines in pages]
    usual_size = median(line.size for lines in pages for line in lines) if any(pages) else 0.0
    counts: Counter[str] = Counter()
    for number, page_edges in enumerate(edges):
        keys_of_page: set[str] = set()
        for line in page_edges:
            keys_of_page.update(_keys(line, number, usual_size))
        counts.update(keys_of_page)
    least = max(2, LEAST_SHARE * len(pages))

    kept_pages = []
    seen: set[str] = set()
    for number, (lines, page_edges) in enumerate(zip(pages, edges, strict=True)):
        dropped = set()
        for line in page_edges:
            keys = {key for key in _keys(line, number, usual_size) if counts[key] >= least}
            if keys and (keys & seen or _PAGE_NUMBER.fullmatch(line.text)):
                dropped.add(line)
            seen |= keys
        kept_pages.append([line for line in lines if line not in dropped])
    return kept_pages


def _find_edges(lines: Sequence[Line]) -> list[Line]:
    """The first and the last lines of a page, from the top."""
    from_top = sorted(lines, key=lambda line: line.baseline)
    return list(dict.fromkeys(from_top[:LINES_AT_EDGE] + from_top[-LINES_AT_EDGE:]))


def _keys(line: Line, page: int, usual_size: float) -> Iterator[str]:
    """What a line has in common with its repetitions: its text, or its text with a number that counts the pages.

    In large print a number counts parts of the text, as in "Part 2" on the second page.

    Example: "Page 3 of 10" on the page with the index 2, and "Page 4 of 10" on the next one, have "Page +1 of 10".
    """
    place = f"{round(line.baseline / 4)}" if _PAGE_NUMBER.fullmatch(line.text) else ""
    text = line.text.replace(" | ", " ")
    yield f"{place} {text}"
    if line.size > OTHER_SIZE * usual_size and not place:
        return
    for match in _NUMBER.finditer(text):
        relative = int(match[0]) - page
        yield f"{place} {text[: match.start()]}{relative:+}{text[match.end() :]}"
