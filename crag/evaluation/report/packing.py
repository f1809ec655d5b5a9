"""Traces made small enough for one page: long texts are cut, questions compressed in blocks."""

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
    """The blocks (zlib in base64), the characters kept of each text, and how many questions were cut."""

    blocks: Sequence[str]
    longest: int
    shortened: int


def pack_traces(records: Sequence[Mapping[str, Any]], traces: Sequence[Mapping[str, Any]]) -> PackedTraces:
    """Blocks of ``[{record, trace, left_out}]``, `BLOCK_QUESTIONS` questions each, in order.

    ``left_out`` is the number of characters cut from the question's texts.
    """
    entries: list[dict[str, Any]] = []
    for record, trace in zip(records, traces, strict=True):
        entries.append({"record": record, "trace": _without_repeated_context(trace) or None})

    # Texts are cut as little as the limit allows. The last length is taken even if it is still too much.
    packed = PackedTraces((), 0, 0)
    for longest in LONGEST:
        packed = _pack(entries, longest)
        if sum(map(len, packed.blocks)) <= PACKED_LIMIT:
            break
    return packed


def _pack(entries: Sequence[Mapping[str, Any]], longest: int) -> PackedTraces:
    shortened = 0
    cut_entries: list[dict[str, Any]] = []
    for entry in entries:
        left_out = sum(max(0, len(text) - longest) for text in _texts(entry))
        cut_entries.append({**cut_texts(entry, longest), "left_out": left_out})
        if left_out:
            shortened += 1

    blocks: list[str] = []
    for start in range(0, len(cut_entries), BLOCK_QUESTIONS):
        block_entries = cut_entries[start : start + BLOCK_QUESTIONS]
        blocks.append(_compress(block_entries))
    return PackedTraces(blocks, longest, shortened)


def _compress(entries: Sequence[Mapping[str, Any]]) -> str:
    # ASCII and no NaN: what the script of the page can parse
    plain = json.dumps(entries, separators=(",", ":"), allow_nan=False).encode("ascii")
    compressed = zlib.compress(plain, level=9)
    return base64.b64encode(compressed).decode("ascii")


def _without_repeated_context(trace: Mapping[str, Any]) -> Mapping[str, Any]:
    """The trace without its context, if a prompt has it word for word, as is usual."""
    # A long text, which the page would otherwise have twice
    context = trace.get("context")
    if isinstance(context, str) and any(context in text for text in _texts(trace.get("prompts"))):
        return {**trace, "context": ""}
    return trace


def cut_texts(value: Any, longest: int) -> Any:  # noqa: ANN401 - any JSON value
    """The value with every text longer than `longest` cut in its middle, with a note of how much is missing."""
    if isinstance(value, str) and len(value) > longest:
        head = longest * 2 // 3
        return f"{value[:head]} [... {len(value) - longest} characters left out ...] {value[head - longest :]}"
    if isinstance(value, Mapping):
        return {name: cut_texts(item, longest) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [cut_texts(item, longest) for item in value]
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
