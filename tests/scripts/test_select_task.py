import json
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from evaluation.preflight.challenges import CHALLENGES
from scripts.select_task import SelectionError, main, select_task

ROOT = Path(__file__).parents[2]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the files that the script reads and writes."""
    shutil.copytree(ROOT / "agents" / "presets", tmp_path / "agents" / "presets")
    shutil.copy(ROOT / "aicrowd.json", tmp_path)
    return tmp_path


def chosen(root: Path) -> tuple[str, str]:
    active = tomllib.loads((root / "agents" / "presets" / "active.toml").read_text())
    return json.loads((root / "aicrowd.json").read_text())["challenge_id"], active["preset"]


def contents(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("arguments", "preset"), [(["task1"], "submission"), (["task2", "--preset", "db3_task23"], "db3_task23")]
)
def test_a_task_sets_its_challenge_and_the_preset(checkout: Path, arguments: list[str], preset: str) -> None:
    assert main(arguments, root=checkout) == 0
    assert chosen(checkout) == (CHALLENGES[arguments[0]], preset)


def test_nothing_else_changes(checkout: Path) -> None:
    before = contents(checkout)
    select_task(checkout, "task3", "nec")
    after = contents(checkout)
    changed = {path for path in before | after if before.get(path) != after.get(path)}
    assert changed == {"aicrowd.json", "agents/presets/active.toml"}
    old, new = json.loads(before["aicrowd.json"]), json.loads(after["aicrowd.json"])
    assert list(new) == list(old)
    assert {key for key in new if new[key] != old[key]} <= {"challenge_id"}


def test_there_and_back_gives_the_shipped_bytes(checkout: Path) -> None:
    challenge, preset = chosen(checkout)
    before = contents(checkout)
    task = next(name for name, known in CHALLENGES.items() if known == challenge)
    select_task(checkout, "task2", "weknow")
    select_task(checkout, task, preset)
    assert contents(checkout) == before, "the shipped files have the format that the script writes"


@pytest.mark.parametrize(
    ("path", "broken"),
    [
        ("aicrowd.json", "{"),
        ("aicrowd.json", "[]"),
        ("agents/presets/active.toml", "# no preset\n"),
        ("agents/presets/active.toml", 'preset = "cpu"\npreset = "nec"\n'),
    ],
)
def test_a_broken_file_stops_it_before_anything_is_written(checkout: Path, path: str, broken: str) -> None:
    (checkout / path).write_text(broken)
    before = contents(checkout)
    with pytest.raises(SelectionError):
        select_task(checkout, "task2", "nec")
    assert contents(checkout) == before


def test_an_unknown_preset_is_refused_and_the_known_ones_listed(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = contents(checkout)
    assert main(["task1", "--preset", "typo"], root=checkout) == 1
    message = capsys.readouterr().err
    assert "no preset 'typo'; known: cpu, db3_task1" in message
    assert "active" not in message.split("known:")[1]
    assert contents(checkout) == before


def test_it_runs_before_anything_is_installed() -> None:
    command = [sys.executable, "-S", "-m", "scripts.select_task", "--help"]  # -S: without site-packages
    done = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=30, check=False)
    assert done.returncode == 0
