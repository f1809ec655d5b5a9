"""Makes traces small enough for one page: cuts long texts to a budget, compresses questions in blocks.

The page opens a block (zlib in base64) only when a question of it is opened.
"""

import base64
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

BLOCK_QUESTIONS = 16
"""Questions per block; they share a dictionary and are unpacked together."""
PACKED_LIMIT = 11_000_000
"""Maximum characters of all blocks, so that a report of 2,706 questions stays below 15 MB."""
BUDGETS = (40_000, 20_000, 12_000, 8_000, 5_000, 3_000, 1_500)
"""Characters of text per question, tried in turn until the blocks are small enough."""
NEVER_CUT = 80
"""Shorter texts are never cut: names, answers, labels."""


class PackedTraces(NamedTuple):
    """The blocks, the characters kept per question, and how many questions were cut."""

    blocks: Sequence[str]
    budget: int
    shortened: int


def pack(records: Sequence[Mapping[str, Any]], traces: Sequence[Mapping[str, Any]]) -> PackedTraces:
    """Blocks of ``[{record, trace, left_out}]``, `BLOCK_QUESTIONS` questions each, in order."""
    whole = [
        {"record": record, "trace": trace or None} for record, trace in zip(records, map(_once, traces), strict=True)
    ]
    for budget in BUDGETS:
        packed = _packed(whole, budget)
        if sum(map(len, packed.blocks)) <= PACKED_LIMIT:
            break
    return packed


def _packed(whole: Sequence[Mapping[str, Any]], budget: int) -> PackedTraces:
    blocks, shortened = [], 0
    for start in range(0, len(whole), BLOCK_QUESTIONS):
        block = [_fitted(entry, budget) for entry in whole[start : start + BLOCK_QUESTIONS]]
        shortened += sum(bool(entry["left_out"]) for entry in block)
        plain = json.dumps(block, separators=(",", ":"), allow_nan=False).encode("ascii")
        blocks.append(base64.b64encode(zlib.compress(plain, 9)).decode("ascii"))
    return PackedTraces(blocks, budget, shortened)


def _once(trace: Mapping[str, Any]) -> Mapping[str, Any]:
    """The trace without its context, if a prompt has it word for word, as is usual."""
    context = trace.get("context")
    if isinstance(context, str) and any(context in text for text in _texts(trace.get("prompts"))):
        return {**trace, "context": ""}
    return trace


def _fitted(entry: Mapping[str, Any], budget: int) -> dict[str, Any]:
    """The entry with its longest texts cut to one length, so that all texts fit into the budget."""
    lengths = [len(text) for text in _texts(entry)]
    longest = max(NEVER_CUT, longest_allowed(lengths, budget))
    left_out = sum(max(0, length - longest) for length in lengths)
    return {**(cut(entry, longest) if left_out else entry), "left_out": left_out}


def longest_allowed(lengths: Sequence[int], budget: int) -> int:
    """The largest length to which all texts can be cut so that their sum is at most `budget`."""
    left = budget
    ascending = sorted(lengths)
    for number, length in enumerate(ascending):
        even = left // (len(ascending) - number)
        if length > even:
            return even
        left -= length
    return max(lengths, default=0)


def cut(value: Any, longest: int) -> Any:  # noqa: ANN401 - any JSON value
    """Cut every text longer than `longest` in its middle, with a note of how much is missing."""
    if isinstance(value, str) and len(value) > longest:
        head = longest * 2 // 3
        tail = longest - head
        gap = f" [... {len(value) - longest} characters left out ...] "
        return value[:head] + gap + (value[-tail:] if tail else "")
    if isinstance(value, Mapping):
        return {name: cut(item, longest) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [cut(item, longest) for item in value]
    return value


def _texts(value: Any) -> Iterator[str]:  # noqa: ANN401 - any JSON value
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
