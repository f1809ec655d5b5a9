"""`crag completion`: what a shell offers after the first letters."""

import shutil
import subprocess
from pathlib import Path

import pytest

from crag.__main__ import main


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The script for bash."""
    with pytest.MonkeyPatch.context() as patched:
        folder = tmp_path_factory.mktemp("shell")
        with (folder / "crag.bash").open("w", encoding="utf-8") as file:
            patched.setattr("sys.stdout", file)
            assert main(["completion", "bash"]) == 0
        (folder / "reports").mkdir()
    return folder / "crag.bash"


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("crag as", ["ask"]),
        ("crag inspect p", ["pages"]),
        ("crag ask --thr", ["--threshold"]),
        ("crag ask --pages rep", ["reports"]),
        ("crag judge --judge l", ["llm"]),
    ],
)
def test_bash_offers_commands_options_and_files(script: Path, typed: str, offered: list[str]) -> None:
    words = typed.split()
    state = f"COMP_WORDS=({typed}); COMP_CWORD={len(words) - 1}"
    complete = f'source {script.name}; {state}; _shtab_crag; echo "${{COMPREPLY[@]}}"'
    done = subprocess.run(
        ["bash", "-c", complete], cwd=script.parent, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split() == offered
