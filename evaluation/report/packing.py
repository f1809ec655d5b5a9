"""Makes traces small enough for one page: cuts long texts, compresses questions in blocks.

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
LONGEST = (40_000, 10_000, 5_000, 2_000, 1_000, 500, 200, 80)
"""Characters to which each text is cut, tried in turn until the blocks are small enough."""


class PackedTraces(NamedTuple):
    """The blocks, the characters kept of each text, and how many questions were cut."""

    blocks: Sequence[str]
    longest: int
    shortened: int


def pack(records: Sequence[Mapping[str, Any]], traces: Sequence[Mapping[str, Any]]) -> PackedTraces:
    """Blocks of ``[{record, trace, left_out}]``, `BLOCK_QUESTIONS` questions each, in order."""
    whole = [
        {"record": record, "trace": trace or None} for record, trace in zip(records, map(_once, traces), strict=True)
    ]
    for longest in LONGEST:
        left_out = [sum(max(0, len(text) - longest) for text in _texts(entry)) for entry in whole]
        entries = [{**cut(entry, longest), "left_out": count} for entry, count in zip(whole, left_out, strict=True)]
        blocks = [_block(entries[n : n + BLOCK_QUESTIONS]) for n in range(0, len(entries), BLOCK_QUESTIONS)]
        if sum(map(len, blocks)) <= PACKED_LIMIT:
            break
    return PackedTraces(blocks, longest, sum(map(bool, left_out)))


def _block(entries: Sequence[Mapping[str, Any]]) -> str:
    plain = json.dumps(entries, separators=(",", ":"), allow_nan=False).encode("ascii")
    return base64.b64encode(zlib.compress(plain, 9)).decode("ascii")


def _once(trace: Mapping[str, Any]) -> Mapping[str, Any]:
    """The trace without its context, if a prompt has it word for word, as is usual."""
    context = trace.get("context")
    if isinstance(context, str) and any(context in text for text in _texts(trace.get("prompts"))):
        return {**trace, "context": ""}
    return trace


def cut(value: Any, longest: int) -> Any:  # noqa: ANN401 - any JSON value
    """Cut every text longer than `longest` in its middle, with a note of how much is missing."""
    if isinstance(value, str) and len(value) > longest:
        head = longest * 2 // 3
        return f"{value[:head]} [... {len(value) - longest} characters left out ...] {value[head - longest :]}"
    if isinstance(value, Mapping):
        return {name: cut(item, longest) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [cut(item, longest) for item in value]
    return value


def _texts(value: Any) -> Iterator[str]:  # noqa: ANN401 - any JSON value
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for item in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(item)
