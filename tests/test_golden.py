"""Presets do with the sample what they did before, step by step (`tests.golden`)."""

import json

import pytest

from tests.golden import FOLDER, PRESETS, lines, traces


@pytest.mark.parametrize("preset", PRESETS)
def test_traces_are_those_of_the_golden_file(preset: str, graph: str) -> None:
    """Where a difference is wanted, `python -m tests.golden` writes the files anew."""
    wanted = (FOLDER / f"{preset}.jsonl").read_text(encoding="utf-8").splitlines()
    for found, golden in zip(lines(traces(preset, graph)), wanted, strict=True):
        assert json.loads(found) == json.loads(golden)
