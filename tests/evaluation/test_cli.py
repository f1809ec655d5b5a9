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


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (["--limit", "0"], "argument --limit: must be at least 1, found 0"),
        (["--limit", "x"], "argument --limit: invalid whole number value: 'x'"),
        (["--batch-size", "0"], "argument --batch-size: must be from 1 to 16, found 0"),
        (["--seconds-per-query", "-1"], "argument --seconds-per-query: must be more than 0, found -1"),
        (["--seconds-per-query", "nan"], "argument --seconds-per-query: must be more than 0, found nan"),
        (["--startup-seconds", "inf"], "argument --startup-seconds: must be more than 0, found inf"),
        (["--judge", "magic"], "argument --judge: invalid choice: 'magic'"),
        (["--datset", "x"], "unrecognized arguments: --datset x"),
    ],
)
def test_a_wrong_argument_is_named(capsys: pytest.CaptureFixture[str], wrong: list[str], message: str) -> None:
    with pytest.raises(SystemExit) as caught:
        main(wrong)
    assert caught.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(("agent", "told"), [("NoSuchAgent", "no attribute"), ("BigBatchAgent", "found 17")])
def test_an_agent_that_cannot_be_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], agent: str, told: str
) -> None:
    assert main(arguments(tmp_path, dataset(tmp_path), agent, "--in-process")) == 2
    captured = capsys.readouterr()
    assert told in captured.err
    assert captured.out == ""
    assert not (tmp_path / "out/results.json").exists()


def test_an_agent_path_without_a_class(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--dataset", str(dataset(tmp_path)), "--output", str(tmp_path / "out"), "--in-process", "--quiet"]
    assert main([*options, "--agent", "some.module"]) == 2
    assert "expected MODULE:CLASS" in capsys.readouterr().err


def test_an_output_that_is_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "out").write_text("mine", encoding="utf-8")
    assert main(arguments(tmp_path, dataset(tmp_path))) == 2
    assert "out: cannot be written" in one_line(capsys)
    assert (tmp_path / "out").read_text(encoding="utf-8") == "mine"


def test_a_wrong_number_of_seconds_is_told_in_plain_words(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["--seconds-per-query", "soon"])
    assert "invalid number of seconds value: 'soon'" in capsys.readouterr().err
