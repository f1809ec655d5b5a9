import json
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from crag.submission.preflight import CHALLENGES
from crag.submission.select_task import main

ROOT = Path(__file__).parents[2]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the files that the script reads and writes."""
    shutil.copytree(ROOT / "crag" / "presets", tmp_path / "crag" / "presets")
    (tmp_path / "agents").mkdir()
    shutil.copy(ROOT / "agents" / "active.toml", tmp_path / "agents")
    shutil.copy(ROOT / "aicrowd.json", tmp_path)
    return tmp_path


def contents(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_a_task_sets_its_challenge_and_the_preset_and_nothing_else(checkout: Path) -> None:
    before = contents(checkout)
    assert main(["task2", "--preset", "db3_task23"], root=checkout) == 0
    after = contents(checkout)
    assert {path for path in before | after if before.get(path) != after.get(path)} == {
        "aicrowd.json", "agents/active.toml",
    }  # fmt: skip
    old, new = json.loads(before["aicrowd.json"]), json.loads(after["aicrowd.json"])
    assert new == old | {"challenge_id": CHALLENGES["task2"]}
    assert tomllib.loads(after["agents/active.toml"].decode()) == {"preset": "db3_task23"}
    assert main(["task1"], root=checkout) == 0
    assert contents(checkout) == before, "the shipped files have the format that the script writes"


@pytest.mark.parametrize(
    ("path", "broken"),
    [
        ("aicrowd.json", "{"),
        ("agents/active.toml", 'preset = "cpu"\npreset = "nec"\n'),
    ],
)
def test_a_broken_file_stops_it_before_anything_is_written(
    checkout: Path, path: str, broken: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (checkout / path).write_text(broken)
    before = contents(checkout)
    assert main(["task2", "--preset", "nec"], root=checkout) == 1
    assert capsys.readouterr().err.startswith(f"error: {path}")
    assert contents(checkout) == before


def test_a_preset_of_ones_own_is_named_by_its_path_in_the_repository(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (checkout / "mine").mkdir()
    own = checkout / "mine" / "own.toml"
    own.write_text('extends = "cpu"\n')
    assert main(["task1", "--preset", "mine/own.toml"], root=checkout) == 0
    assert tomllib.loads((checkout / "agents" / "active.toml").read_text()) == {"preset": "mine/own.toml"}
    for wrong in ("mine/typo.toml", str(own)):  # the evaluator has the repository only
        with pytest.raises(SystemExit):
            main(["task1", "--preset", wrong], root=checkout)
        assert f"there is no preset '{wrong}'; known: cpu, " in capsys.readouterr().err


def test_an_unknown_preset_is_refused_and_the_known_ones_listed_before_anything_is_installed() -> None:
    command = [
        sys.executable,
        "-S",
        "-m",
        "crag.submission.select_task",
        "task1",
        "--preset",
        "typo",
    ]  # -S: no site-packages
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)

    assert done.returncode == 2
    assert "db3_task1" in done.stderr
    assert "'active'" not in done.stderr
