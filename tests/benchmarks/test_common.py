"""What all benchmarks tell in the same way."""

from pathlib import Path

import pytest

from agents.common.files import DatasetError
from benchmarks import common

GUIDE = Path(__file__).parents[2] / "docs" / "results.md"


def test_data_that_does_not_ship_is_told_to_be_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(common, "SHARED", tmp_path / "absent")

    def work() -> int:
        raise DatasetError(f"{tmp_path / 'absent' / 'x.jsonl'}: there is no such file")

    assert common.exit_code(work) == common.UNUSABLE
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith('docs/results.md, "Data that does not ship", says what it holds and how to name yours')
    assert "\n## Data that does not ship\n" in GUIDE.read_text(encoding="utf-8")


def test_other_faults_are_told_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    def work() -> int:
        raise DatasetError("mine.jsonl: there is no such file")

    assert common.exit_code(work) == common.UNUSABLE
    assert capsys.readouterr().err == "error: mine.jsonl: there is no such file\n"
