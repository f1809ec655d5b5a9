"""A clean submission to plant faults in: the project's own files in a git repository, its preset without weights."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from crag.submission.preflight.checks import CheckReport, run_check
from crag.submission.preflight.subject import Subject

ROOT = Path(__file__).parents[3]
FOLDERS = ("agents", "models", "crag", "data/sample", "requirements")
FILES = (
    "aicrowd.json", "apt.txt", "requirements.txt", "locks/gpu.txt", ".gitattributes", ".gitignore", "docker_run.sh",
    "local_evaluation.py", "pyproject.toml",
)  # fmt: skip

Checked = Callable[..., CheckReport]


def git(root: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=Tester", "-c", "user.email=tester@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *identity, *arguments], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout


def commit(root: Path, message: str = "change") -> None:
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", message)


def linked(source: str, target: str) -> None:
    """Large files, which no test writes into, share their bytes with the original."""
    if Path(source).stat().st_size > 100_000:
        os.link(source, target)
    else:
        shutil.copy2(source, target)


def replace(file: Path, old: str, new: str) -> None:
    text = file.read_text()
    assert old in text, f"{file} no longer holds {old!r}"
    file.write_text(text.replace(old, new))


def _without_downloads(folder: str, names: list[str]) -> set[str]:
    downloads = {"weights"} if Path(folder) == ROOT / "models" else set()
    return downloads | {name for name in names if name == "__pycache__" or name.endswith(".part")}


@pytest.fixture(scope="session")
def clean_tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Never changed by a test; `tree` is a copy that may be."""
    root = tmp_path_factory.mktemp("clean") / "submission"
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, root / folder, ignore=_without_downloads)

    for large in (root / "models" / "adapters").rglob("*.safetensors"):
        large.write_bytes(b"the contents do not matter here")  # megabytes that git would compress

    for name in FILES:
        (root / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, root / name)

    replace(root / "aicrowd.json", "your-aicrowd-username", "ada")
    (root / "agents" / "active.toml").write_text('preset = "scripted"\n')
    git(root, "init", "--quiet")
    commit(root, "submission")
    git(root, "repack", "-a", "-d", "--quiet")  # one file instead of hundreds to copy
    return root


@pytest.fixture
def tree(clean_tree: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(clean_tree, tmp_path / "submission", symlinks=True, copy_function=linked))


@pytest.fixture
def checked() -> Checked:
    """Run one check over a tree."""

    def run(name: str, root: Path, **asked: str) -> CheckReport:
        return run_check(name, Subject(root, asked.get("task"), asked.get("preset")))

    return run
