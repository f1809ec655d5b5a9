"""`make install` with an interpreter that only says how it was started: what a user has set elsewhere does no harm."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
INTERPRETER = """#!/bin/sh
echo "$0 $*" >> "{log}"
env >> "{log}"
for folder; do :; done  # the last argument
case " $* " in *" -m venv "*)
    rm -rf "$folder"
    mkdir -p "$folder/bin"
    cp "$0" "$folder/bin/python"
    touch "$folder/pyvenv.cfg" ;;
esac
"""


class Checkout:
    """A folder, with a blank in its name, in which make finds what `make install` needs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.log = folder / "log"
        self.environment = folder / ".venv"
        (folder / "locks").mkdir(parents=True)
        (folder / "locks" / "cpu.txt").touch()
        shutil.copy(ROOT / "Makefile", folder)
        self._interpreter = folder.parent / "python"
        self._interpreter.write_text(INTERPRETER.format(log=self.log))
        self._interpreter.chmod(0o755)

    def make(self, *words: str, **variables: str) -> str:
        """What the interpreter said while make ran; without output of make itself."""
        self.log.write_text("")
        subprocess.run(
            ["make", f"PYTHON={self._interpreter}", *words],
            cwd=self.folder,
            env={**os.environ, **variables},
            check=True,
            capture_output=True,
        )
        return self.log.read_text()


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    if shutil.which("make") is None:
        pytest.skip("no make")
    return Checkout(tmp_path / "a b")


def test_what_pip_does_for_other_projects_does_not_reach_an_install(checkout: Checkout) -> None:
    others = ["PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_PYTHON", "PIP_CONSTRAINT", "PYTHONHOME"]
    said = checkout.make("install", PIP_USER="1", PIP_INDEX_URL="http://mirror", **dict.fromkeys(others, "/elsewhere"))
    assert "pip install" in said
    assert "/elsewhere" not in said
    assert "PIP_USER=1" not in said
    assert "PIP_INDEX_URL=http://mirror" in said


def test_an_environment_whose_python_has_gone_is_made_anew(checkout: Checkout) -> None:
    checkout.make("install")
    assert "pip install" not in checkout.make("install")
    python = checkout.environment / "bin" / "python"
    python.unlink()
    python.symlink_to("/nowhere/python3.9")
    said = checkout.make("install")
    assert "-m venv --clear .venv" in said
    assert "pip install" in said


def test_clean_leaves_an_environment_that_a_variable_names(checkout: Checkout, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    checkout.make("install", VENV=str(other))
    checkout.make("clean", VENV=str(other))
    assert other.is_dir()
    assert not checkout.environment.exists()
