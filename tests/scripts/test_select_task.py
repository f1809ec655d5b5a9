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


def test_a_task_sets_its_challenge_and_the_preset_and_nothing_else(checkout: Path) -> None:
    before, shipped = contents(checkout), chosen(checkout)
    assert main(["task1"], root=checkout) == 0
    assert chosen(checkout) == (CHALLENGES["task1"], "submission")
    assert main(["task2", "--preset", "db3_task23"], root=checkout) == 0
    assert chosen(checkout) == (CHALLENGES["task2"], "db3_task23")
    after = contents(checkout)
    changed = {path for path in before | after if before.get(path) != after.get(path)}
    assert changed <= {"aicrowd.json", "agents/presets/active.toml"}
    old, new = json.loads(before["aicrowd.json"]), json.loads(after["aicrowd.json"])
    assert {key for key in new if new[key] != old[key]} <= {"challenge_id"}
    select_task(checkout, next(name for name, known in CHALLENGES.items() if known == shipped[0]), shipped[1])
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
