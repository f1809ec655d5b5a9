"""What the tests of benchmarks share."""

import argparse
from collections.abc import Callable
from pathlib import Path

import pytest

from crag.evaluate import parsed

Cells = Callable[[str], list[list[str]]]
WEB = """
[web]
pages = { keep = 1, method = "search_order" }
chunk = { method = "words" }
retrieve = [{ method = "bm25", top_k = 4 }]
"""


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> Cells:
    """The cells of the table rows printed since the last look whose first cell is this."""

    def rows(first: str) -> list[list[str]]:
        lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith(f"| {first} ")]
        return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]

    return rows


def scripted_preset(folder: Path, replies: str, engine: str = "", more: str = "") -> Path:
    """A preset whose language model gives these replies (lines of TOML), else "None"."""
    path = folder / "script.toml"
    path.write_text(
        f'description = "script"\nbatch_size = 1\n{more}[language_model]\nengine = "scripted"\n{engine}'
        f"[language_model.replies]\n{replies}\n{WEB}",
        encoding="utf-8",
    )
    return path


@pytest.fixture
def evaluations(monkeypatch: pytest.MonkeyPatch) -> list[argparse.Namespace]:
    """The options of the runs of local_evaluation.py that a benchmark asks for; none is made."""
    asked: list[argparse.Namespace] = []

    def evaluate(arguments: list[str]) -> int:
        asked.append(parsed(arguments))
        return 2

    monkeypatch.setattr("benchmarks.common.evaluate", evaluate)
    return asked
