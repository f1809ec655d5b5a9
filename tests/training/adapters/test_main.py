"""One command from nothing to an adapter: steps in order, done ones left out, a failed one gone on with."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from evaluation.folder_lock import FolderInUseError, written_alone
from training.adapters import __main__ as command
from training.adapters import recipe

RECIPE = """
[toy]
description = "copies a file twice"

[[toy.steps]]
run = ["json.tool", "{work}/given.json", "{work}/first.json"]

[[toy.steps]]
run = ["json.tool", "{work}/first.json", "{out}"]
"""
CHANGED = RECIPE.replace('run = ["json.tool", "{work}/given', 'run = ["json.tool", "--sort-keys", "{work}/given')


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Arguments of a recipe whose steps are a module of Python's own."""
    (tmp_path / "recipes.toml").write_text(RECIPE, encoding="utf-8")
    monkeypatch.setattr(recipe, "RECIPES", tmp_path / "recipes.toml")
    return ["toy", "--work", str(tmp_path), "--out", str(tmp_path / "second.json")]


def test_a_step_that_fails_stops_the_command_and_the_same_command_goes_on(
    toy: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert command.main(toy) != 0
    assert "the same command goes on" in capfd.readouterr().err
    (tmp_path / "given.json").write_text("[1]", encoding="utf-8")
    assert command.main(toy) == 0
    assert (tmp_path / "second.json").read_text(encoding="utf-8").split() == ["[", "1", "]"]
    capfd.readouterr()
    assert command.main(toy) == 0
    assert "python -m" not in capfd.readouterr().out


def test_a_changed_step_is_done_again_with_all_after_it(
    toy: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "given.json").write_text("[1]", encoding="utf-8")
    assert command.main(toy) == 0
    (tmp_path / "recipes.toml").write_text(CHANGED, encoding="utf-8")
    capfd.readouterr()
    assert command.main(toy) == 0
    assert capfd.readouterr().out.count("python -m json.tool") == 2


def test_a_step_after_a_changed_one_is_done_again_even_if_that_one_was_carried_out_in_a_run_that_failed(
    toy: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "given.json").write_text("[1]", encoding="utf-8")
    assert command.main(toy) == 0
    (tmp_path / "recipes.toml").write_text(CHANGED, encoding="utf-8")
    out = tmp_path / "second.json"
    out.unlink()
    out.mkdir()  # the second step cannot write there
    assert command.main(toy) != 0
    out.rmdir()
    capfd.readouterr()
    assert command.main(toy) == 0
    assert "[1/1]" in capfd.readouterr().out


def test_a_dry_run_shows_the_commands_and_does_nothing(
    toy: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert command.main([*toy, "--dry-run"]) == 0
    assert capfd.readouterr().out.count("python -m json.tool") == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["recipes.toml"]


@pytest.mark.parametrize("name", recipe.recipes())
def test_each_shipped_adapter_ends_with_a_training_that_can_hold_a_fold_out(name: str, tmp_path: Path) -> None:
    steps = recipe.steps(name, tmp_path / "work", tmp_path / "out", recipe.GivenFiles(), "0/5")
    module, *arguments = steps[-1].command
    assert module == "training.lora"
    assert arguments[-2:] == ["--hold-out", "0/5"]
    assert arguments[arguments.index("--out") + 1] == str(tmp_path / "out")
    assert arguments[arguments.index("--config") + 1] == name
    assert all("--hold-out" not in step.command for step in steps[:-1])
    assert not any("{" in part and part != "language_model.adapters={}" for step in steps for part in step.command)


@pytest.mark.parametrize(
    ("name", "given", "message"),
    [
        (
            "kg_writer",
            ["--questions", "none.jsonl"],
            "none.jsonl: there is no such file; give --questions or --no-real",
        ),
        ("kg_answerer", ["--no-real", "--graph", "no_graph"], "no_graph: there is no such folder; give --graph ("),
        ("web_answerer", ["--contexts", "none.jsonl"], "none.jsonl: there is no such file; give --contexts ("),
    ],
)
def test_a_missing_file_is_told_before_any_step(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], name: str, given: list[str], message: str
) -> None:
    work = tmp_path / "work"
    assert command.main([name, *given, "--work", str(work), "--out", str(tmp_path / "out")]) == 1
    output = capfd.readouterr()
    assert message in output.err
    assert len(output.err.splitlines()) == 1
    assert not output.out
    assert not list(work.iterdir())


def test_given_files_come_into_the_steps_that_read_them(tmp_path: Path) -> None:
    graphs = (tmp_path / "a", tmp_path / "b")
    files = recipe.GivenFiles(tmp_path / "mine.jsonl", graphs)
    first = recipe.steps("kg_writer", tmp_path, tmp_path, files)[0]
    expected = ("--questions", str(tmp_path / "mine.jsonl"), "--graph", str(graphs[0]), "--graph", str(graphs[1]))
    assert first.command[2:8] == expected
    without = recipe.steps("kg_writer", tmp_path, tmp_path, files._replace(real=False, graph=()))[0]
    assert without.command[:4] == ("training.api_pairs", "--house-style", "--no-real", "--out")
    assert without.reads == ()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["kg_writer", "--hold-out", "9/5"], "such as 0/5; found '9/5'"),
        (["kg_writer", "--contexts", "x"], "does not learn from --contexts"),
        (["web_answerer", "--no-real"], "does not learn from --questions"),
    ],
)
def test_wrong_arguments_are_told_at_once(
    capfd: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        command.main(arguments)
    assert ended.value.code == 2
    assert message in capfd.readouterr().err


def test_a_finished_adapter_is_not_overwritten_unasked(
    toy: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "given.json").write_text("[1]", encoding="utf-8")
    out = tmp_path / "adapter"
    out.mkdir()
    (out / "adapter_model.safetensors").write_bytes(b"weights")
    assert command.main([*toy, "--out", str(out)]) == 1
    output = capfd.readouterr()
    assert "holds a finished adapter" in output.err
    assert "--overwrite" in output.err
    assert "python -m" not in output.out
    assert command.main([*toy, "--out", str(out), "--overwrite"]) != 0  # the toy's step cannot write into a folder
    assert "[2/2]" in capfd.readouterr().out
    assert command.main([*toy, "--out", str(out)]) != 0
    assert "[1/1]" in capfd.readouterr().out, "what was begun goes on"


def test_two_processes_do_not_write_into_one_folder(
    toy: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with written_alone(tmp_path):
        assert command.main(toy) == 1
    assert "another process is writing here" in capfd.readouterr().err


WAITS = """
import pathlib, sys, time
pathlib.Path(sys.argv[0]).with_name("begun").touch()
time.sleep(100000)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_step_ends_with_its_command_or_keeps_the_lock(tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "waits.py").write_text(WAITS, encoding="utf-8")
    (tmp_path / "recipes.toml").write_text('[[toy.steps]]\nrun = ["waits"]\n', encoding="utf-8")
    program = (
        "import pathlib, sys; from training.adapters import __main__ as command, recipe; "
        f"recipe.RECIPES = pathlib.Path({str(tmp_path / 'recipes.toml')!r}); "
        f"sys.exit(command.main(['toy', '--work', {str(tmp_path)!r}, '--out', {str(tmp_path / 'out')!r}]))"
    )
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", program], cwd=command.REPOSITORY, env=environment) as process:
        wait_for((tmp_path / "begun").exists)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        (child,) = map(int, children.read_text(encoding="ascii").split())
        process.send_signal(number)
    if number == signal.SIGTERM:
        assert process.returncode == 143
        assert not Path(f"/proc/{child}").exists()
        return
    try:
        with pytest.raises(FolderInUseError), written_alone(tmp_path):
            pass
    finally:
        os.kill(child, signal.SIGKILL)


def wait_for(condition: Callable[[], bool]) -> None:
    while not condition():
        time.sleep(0.01)
