"""Where a run comes from."""

import re
import subprocess
from pathlib import Path

import pytest

from evaluation.origin import origin_of


def test_date_machine_and_command() -> None:
    origin = origin_of(["--preset", "cpu", "--kg-url", "http://me:secret@graph:8000", "--set", "a b=1"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", origin["date"])
    assert re.search(r"\d+ cores, .+, \d+ GiB", origin["machine"])
    assert origin["command"] == "python local_evaluation.py --preset cpu --kg-url http://graph:8000 --set 'a b=1'"


def test_the_commit_and_whether_files_are_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "commit" not in origin_of([])
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b.example"]
    file = tmp_path / "file"
    file.write_text("one", encoding="utf-8")
    for words in (["init", "-q"], ["add", "file"], ["commit", "-q", "-m", "first"]):
        subprocess.run([*git, *words], check=True)
    clean = origin_of([])["commit"]
    assert re.fullmatch(r"[0-9a-f]{12}", clean)
    file.write_text("two", encoding="utf-8")
    assert origin_of([])["commit"] == f"{clean} with changes"
