"""How the command line tells of faults of the agent's start and end."""

import importlib.util
from pathlib import Path

import pytest

from evaluation.cli import main
from tests.test_local_evaluation import arguments, dataset, one_line, run


@pytest.mark.parametrize(
    ("agent", "line"),
    [
        ("NoEngineAgent", "error: the language model engine 'x' cannot start: pip install -r requirements.txt"),
        ("NoSuchModelAgent", "error: no model named 'x'; known: y"),
    ],
)
@pytest.mark.parametrize("more", [[], ["--in-process"]])
def test_a_fault_that_says_what_to_do_has_no_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], agent: str, line: str, more: list[str]
) -> None:
    assert main(arguments(tmp_path, dataset(tmp_path), agent, *more)) == 2
    told = capsys.readouterr().err.splitlines()
    assert told[-1] == line
    assert len(told) == 1 + len(more), "in this process, a line before it says that no limit is enforced"


@pytest.mark.skipif(importlib.util.find_spec("vllm") is not None, reason="vLLM is installed")
def test_a_preset_whose_engine_is_not_installed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = dataset(tmp_path)
    assert main(["--dataset", str(data), "--preset", "submission", "--output", str(tmp_path / "out"), "--quiet"]) == 2
    line = one_line(capsys)
    assert line.startswith("error: the language model engine 'vllm' cannot start")
    assert "pip install -r requirements.txt" in line


def test_a_killed_agent_that_showed_a_progress_bar_leaks_nothing(tmp_path: Path) -> None:
    code, _, err = run(
        [*arguments(tmp_path, dataset(tmp_path, crash_at=2), "ProgressAgent"), "--seconds-per-query", "1"]
    )
    assert code == 1
    assert "1 batch(es) ran over their time" in err
    assert "leaked" not in err
