"""One command from nothing to an adapter: steps in order, done ones left out, a failed one gone on with."""

from pathlib import Path

import pytest

from training.adapters import __main__ as command

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
    monkeypatch.setattr(command, "RECIPES", tmp_path / "recipes.toml")
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


@pytest.mark.parametrize("name", command.recipes())
def test_each_shipped_adapter_ends_with_a_training_that_can_hold_a_fold_out(name: str, tmp_path: Path) -> None:
    steps = command.steps(name, tmp_path / "work", tmp_path / "out", "0/5")
    module, *arguments = steps[-1].command
    assert module == "training.lora"
    assert arguments[-2:] == ["--hold-out", "0/5"]
    assert arguments[arguments.index("--out") + 1] == str(tmp_path / "out")
    assert arguments[arguments.index("--config") + 1] == name
    assert all("--hold-out" not in step.command for step in steps[:-1])
    assert not any("{" in part and "work" in part for step in steps for part in step.command)
