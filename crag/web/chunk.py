"""Splits a text into chunks. A chunk is a span of the original text, so its offsets are valid.

The searched chunks (children) are inside the chunks that the model reads (parents): db3 2.2. With only one size, each
parent is its own child.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from crag.settings import ChunkSettings, ParentChildChunks, WordChunks

TokenOffsets = Callable[[str], list[tuple[int, int]]]
"""Gives the character span of each token of a text, in order; dense encoders have it as a method."""


class Span(NamedTuple):
    """The characters from `start` to `end` (exclusive) of a text, without blanks at either end."""

    start: int
    end: int


class Parent(NamedTuple):
    """A chunk for reading, and the searched chunks inside it, in text order."""

    span: Span
    children: tuple[Span, ...]


def split(text: str, settings: ChunkSettings, token_offsets: TokenOffsets | None = None) -> list[Parent]:
    """The chunks of a text, in order. Raises ValueError: token chunks without `token_offsets`."""
    if isinstance(settings, ParentChildChunks):
        parents = pack(text, Span(0, len(text)), settings.parent_characters)
        return [Parent(parent, tuple(pack(text, parent, settings.child_characters))) for parent in parents]
    if isinstance(settings, WordChunks):
        units = [Span(*match.span()) for match in _WORD.finditer(text)]
        windows = _windows(units, settings.words, settings.overlap)
    else:
        if token_offsets is None:
            raise ValueError("token chunks need a tokenizer: a dense encoder that offers token_offsets")
        units = [Span(start, end) for start, end in token_offsets(text) if start < end]
        windows = _windows(units, settings.tokens, settings.overlap)
    return [Parent(window, (window,)) for window in (_trim(text, window) for window in windows)]


# --- characters: blocks, then sentences, then words, then anywhere --------------------------------------------------

_WORD = re.compile(r"\S+")
_LINE = re.compile(r"\S(?:[^\n]*\S)?")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”’)\]]*\s+(?=[\"'“‘(\[]*[A-Z0-9])")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:[A-Z]|Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|Inc|Ltd|Co|Corp|No|vs|etc|e\.g|i\.e|U\.S|U\.K|approx|Vol|Fig)\.$"
)


def sentences(text: str, span: Span) -> Iterator[Span]:
    """The sentences of a span of English prose; periods after common abbreviations and initials do not end one."""
    start = span.start
    for match in _SENTENCE_END.finditer(text, span.start, span.end):
        if not _ABBREVIATION.search(text, max(start, match.start() - 12), match.start()):
            yield Span(start, match.end())
            start = match.end()
    if start < span.end:
        yield Span(start, span.end)


def pack(text: str, span: Span, limit: int) -> list[Span]:
    """Join neighbouring lines up to `limit` characters. Split longer lines into sentences, longer sentences between
    words, longer words anywhere. Every visible character is in exactly one span.
    """
    packed: list[Span] = []
    for unit in _units(text, span, limit):
        if packed and unit.end - packed[-1].start <= limit:
            packed[-1] = Span(packed[-1].start, unit.end)
        else:
            packed.append(unit)
    return packed


def _units(text: str, span: Span, limit: int) -> Iterator[Span]:
    """Pieces of at most `limit` characters, without blanks at their ends."""
    for line in (Span(*match.span()) for match in _LINE.finditer(text, span.start, span.end)):
        parts = [line] if line.end - line.start <= limit else sentences(text, line)
        for part in (_trim(text, part) for part in parts):
            if part.end - part.start <= limit:
                yield part
                continue
            for word in _WORD.finditer(text, part.start, part.end):
                for start in range(word.start(), word.end(), limit):
                    yield Span(start, min(start + limit, word.end()))


def _trim(text: str, span: Span) -> Span:
    part = text[span.start : span.end]
    start = span.end - len(part.lstrip())
    return Span(start, start + len(part.strip()))


# --- windows of words or tokens -------------------------------------------------------------------------------------


def _windows(units: list[Span], size: int, overlap: int) -> Iterable[Span]:
    """Windows of `size` units with an overlap of `overlap`; the last one ends with the text."""
    for start in range(0, len(units), size - overlap):
        window = units[start : start + size]
        yield Span(window[0].start, window[-1].end)
        if start + size >= len(units):
            return
