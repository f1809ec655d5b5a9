"""docs/evaluation.md: its commands are understood, its agent runs, and its names of files and options exist."""

import argparse
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from crag import preflight
from evaluation import cli, compare, merge
from evaluation.judge import __main__ as judge
from evaluation.report import __main__ as report
from evaluation.store import PREDICTIONS, REPORT, RESULTS, RUN, TRACES
from mock_api.tables import __main__ as tables
from tests.evaluation.guides import blocks, commands
from tests.test_local_evaluation import results_of

GUIDE = Path(__file__).parents[2] / "docs/evaluation.md"
PARSERS: dict[str, Callable[[], argparse.ArgumentParser]] = {
    "python local_evaluation.py": cli._parser,
    "python -m evaluation.compare": compare._parser,
    "python -m evaluation.judge": judge._parser,
    "python -m evaluation.merge": merge._parser,
    "python -m evaluation.preflight": preflight.parser,
    "python -m evaluation.report": report._parser,
    "python -m mock_api.tables": tables._parser,
}
COMMANDS = [(beginning, words) for beginning in PARSERS for words in commands(GUIDE, beginning)]


@pytest.mark.parametrize(
    ("beginning", "words"), COMMANDS, ids=[f"{first} {' '.join(rest)}" for first, rest in COMMANDS]
)
def test_a_command(beginning: str, words: list[str]) -> None:
    PARSERS[beginning]().parse_args(words)


def test_every_option_that_the_text_names_exists() -> None:
    named = set(re.findall(r"`(--[a-z-]+)", GUIDE.read_text(encoding="utf-8")))
    known = {option for parser in PARSERS.values() for option in parser()._option_string_actions}
    assert len(named) > 20
    assert named <= known


def test_every_file_of_a_run_is_reported() -> None:
    reported = GUIDE.read_text(encoding="utf-8")
    assert all(f"| `{name}` |" in reported for name in (RUN, PREDICTIONS, TRACES, RESULTS, REPORT))


def test_the_agent_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (source,) = (block for block in blocks(GUIDE) if block.startswith("class MyAgent"))
    (tmp_path / "my_agent.py").write_text(source, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    first, *_ = commands(GUIDE, "python local_evaluation.py")
    assert cli.main([*first, "--in-process", "--no-report", "--quiet", "--output", str(tmp_path / "out")]) == 0
    assert results_of(tmp_path / "out")["n"] == 8
