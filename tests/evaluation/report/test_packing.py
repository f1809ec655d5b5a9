"""Traces cut and packed."""

import base64
import json
import random
import zlib
from typing import Any

import pytest

from crag.evaluation.report import packing
from crag.evaluation.report.packing import pack_traces
from tests.evaluation.report.example import record, trace


def unpacked(blocks: Any) -> list[dict[str, Any]]:
    return [entry for block in blocks for entry in json.loads(zlib.decompress(base64.b64decode(block)))]


def test_long_texts_give_way_until_the_blocks_are_small_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    noise = base64.b85encode(random.Random(1).randbytes(40_000)).decode()
    records, traces = [record(0), record(1)], [trace(0, context=noise), trace(1, context="short")]
    monkeypatch.setattr(packing, "PACKED_LIMIT", 6_000)
    packed = pack_traces(records, traces)
    assert sum(map(len, packed.blocks)) <= 6_000
    assert packed.longest < packing.LONGEST[0]
    assert packed.shortened == 1

    first, second = unpacked(packed.blocks)
    assert second["trace"] == traces[1]
    assert first["left_out"] > 0
    assert f"{first['left_out']} characters left out" in first["trace"]["context"]
    assert first["trace"]["context"].startswith(noise[:50])
    assert first["trace"]["context"].endswith(noise[-50:])
    assert {**first["trace"], "context": noise} == traces[0], "nothing else is touched"
