"""What all benchmarks tell in the same way."""

from pathlib import Path

import pytest

from agents.common.files import DatasetError
from benchmarks import common

GUIDE = Path(__file__).parents[2] / "docs" / "results.md"


def test_data_that_does_not_ship_is_told_to_be_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(common, "SHARED", tmp_path / "absent")
    remedy = r'docs/results.md, "Data that does not ship", says what it holds and how to name yours$'
    with pytest.raises(DatasetError, match=remedy):
        common.existing(tmp_path / "absent" / "x.jsonl")
    assert "\n## Data that does not ship\n" in GUIDE.read_text(encoding="utf-8")
    with pytest.raises(DatasetError, match=r"mine.jsonl: there is no such file$"):
        common.existing(tmp_path / "mine.jsonl")
