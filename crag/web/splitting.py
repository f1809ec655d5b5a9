"""Splits a text into chunks. A chunk is a span of the original text, so its offsets are valid.

The searched chunks (children) are inside the chunks that the model reads (parents): db3 2.2. With only one size, each
parent is its only child.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from crag.settings import ChunkSettings, ParentChildChunks, WordChunks
from crag.text.sentences import sentence_ends

TokenOffsets = Callable[[str], list[tuple[int, int]]]
"""Gives the character span of each token of a text, in order; dense encoders have it as a method."""


class Span(NamedTuple):
    """The characters from `start` to `end` (exclusive) of a text, without blanks at either end."""

    start: int
    end: int

    @property
    def length(self) -> int:
        """The number of characters."""
        return self.end - self.start


class ParentSpan(NamedTuple):
    """A chunk to read, and the spans of the chunks to search inside it, in text order."""

    span: Span
    children: tuple[Span, ...]


def split_text(
    text: str,
    settings: ChunkSettings,
    token_offsets: TokenOffsets | None = None,
) -> list[ParentSpan]:
    """The chunks of a text, in order. Raises ValueError: token chunks without `token_offsets`.

    Example:
        settings = ParentChildChunks(method="parent_child", parent_characters=700, child_characters=200)
        for parent in split_text(text, settings):
            read = text[parent.span.start : parent.span.end]  # at most 700 characters
            searched = [text[child.start : child.end] for child in parent.children]  # at most 200 each
    """
    if isinstance(settings, ParentChildChunks):
        return _split_parents(text, settings)

    if isinstance(settings, WordChunks):
        words = [Span(*match.span()) for match in _WORD.finditer(text)]
        windows = _slide_window(words, settings.words, settings.overlap)
    elif token_offsets is None:
        raise ValueError("token chunks need a tokenizer: a dense encoder that offers token_offsets")
    else:
        # A token can have no characters of the text.
        tokens = [Span(start, end) for start, end in token_offsets(text) if start < end]
        windows = _slide_window(tokens, settings.tokens, settings.overlap)

    # Chunks of one size: each is read as it is searched.
    chunks = [_trim(text, window) for window in windows]
    return [ParentSpan(chunk, (chunk,)) for chunk in chunks]


def _split_parents(text: str, settings: ParentChildChunks) -> list[ParentSpan]:
    """The chunks to read, each with the smaller chunks inside it that are searched."""
    whole_text = Span(0, len(text))
    parents = []
    for span in pack(text, whole_text, settings.parent_characters):
        children = pack(text, span, settings.child_characters)
        parents.append(ParentSpan(span, tuple(children)))
    return parents


# --- by characters: lines, then sentences, then words, then anywhere ------------------------------------------------

_WORD = re.compile(r"\S+")
_LINE = re.compile(r"\S(?:[^\n]*\S)?")


def split_sentences(text: str, span: Span) -> Iterator[Span]:
    """The sentences of a span of English prose, blanks after them included."""
    start = span.start
    for end in sentence_ends(text, span.start, span.end):
        yield Span(start, end)
        start = end

    # What follows the last sentence end, such as a heading or a list item without a period.
    if start < span.end:
        yield Span(start, span.end)


def pack(text: str, span: Span, limit: int) -> list[Span]:
    """Join neighbouring lines to chunks of up to `limit` characters.

    Longer lines are split into sentences, longer sentences between words, longer words anywhere. Every visible
    character is in exactly one chunk.
    """
    packed: list[Span] = []
    for piece in _split_to_limit(text, span, limit):
        if packed and piece.end - packed[-1].start <= limit:
            packed[-1] = Span(packed[-1].start, piece.end)  # it still fits: extend the chunk
        else:
            packed.append(piece)
    return packed


def _split_to_limit(text: str, span: Span, limit: int) -> Iterator[Span]:
    """Pieces of at most `limit` characters, without blanks at their ends."""
    for match in _LINE.finditer(text, span.start, span.end):
        line = Span(*match.span())
        if line.length <= limit:
            yield line
            continue

        for sentence in split_sentences(text, line):
            trimmed = _trim(text, sentence)
            if trimmed.length <= limit:
                yield trimmed
            else:
                yield from _split_words(text, trimmed, limit)


def _split_words(text: str, span: Span, limit: int) -> Iterator[Span]:
    """The words of a span; words of more than `limit` characters in pieces."""
    for match in _WORD.finditer(text, span.start, span.end):
        word_start, word_end = match.span()
        for start in range(word_start, word_end, limit):
            end = min(start + limit, word_end)
            yield Span(start, end)


def _trim(text: str, span: Span) -> Span:
    """The span without blanks at its ends."""
    without_left_blanks = text[span.start : span.end].lstrip()
    start = span.end - len(without_left_blanks)
    end = start + len(without_left_blanks.rstrip())
    return Span(start, end)


# --- by windows of words or tokens ----------------------------------------------------------------------------------


def _slide_window(units: Sequence[Span], size: int, overlap: int) -> Iterator[Span]:
    """Windows of `size` units, each beginning with the last `overlap` units before it; the last one ends the text."""
    for start in range(0, len(units), size - overlap):
        window = units[start : start + size]
        yield Span(window[0].start, window[-1].end)
        # Another window would hold only units that are in this one.
        if start + size >= len(units):
            return
