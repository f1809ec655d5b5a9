"""The rehearsal of the image fails where the image would, and says why."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agents.settings import load_settings, needed_weights
from evaluation.preflight.dockerfile import parse_dockerfile
from scripts.smoke import SmokeError, Staged, container_environment, lend_weights, main, pushed_files, stage
from tests.evaluation.preflight.conftest import commit, git

ROOT = Path(__file__).parents[2]
DOCKERFILE = """\
FROM base
ENV PATH=/opt/venv/bin:${PATH} VIRTUAL_ENV=/opt/venv HF_HUB_OFFLINE=1
COPY requirements.txt /tmp/requirements/
COPY --chown=1:1 . /home/someone/
USER someone
WORKDIR /home/someone
CMD ["python", "local_evaluation.py", "--help"]
"""
EVALUATION = """\
import json, os, sys
from pathlib import Path
import rooms.kitchen
print("arguments", " ".join(sys.argv[1:]))
print("variables", sorted(os.environ))
print("offline", os.environ["HF_HUB_OFFLINE"])
print("recipe", Path("rooms/recipe.txt").read_text())
"""


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small project whose command imports a module and reads a file."""
    monkeypatch.setenv("SECRET", "of the caller")
    root = tmp_path / "project"
    (root / "rooms").mkdir(parents=True)
    (root / "rooms" / "__init__.py").touch()
    (root / "rooms" / "kitchen.py").touch()
    (root / "rooms" / "recipe.txt").write_text("soup")
    (root / "Dockerfile").write_text(DOCKERFILE)
    (root / ".dockerignore").write_text("# nothing yet\n")
    (root / "requirements.txt").touch()
    (root / "local_evaluation.py").write_text(EVALUATION)
    return root


Smoke = Callable[[int], str]


@pytest.fixture
def smoke(repository: Path, capfd: pytest.CaptureFixture[str]) -> Smoke:
    """Rehearse the project; the exit code that is expected -> what was printed."""

    def run(code: int) -> str:
        assert main([], repository) == code
        return capfd.readouterr().out

    return run


def test_the_command_runs_with_the_images_files_and_variables_alone(smoke: Smoke) -> None:
    shown = smoke(0)
    for wanted in ("offline 1", "recipe soup", "arguments --preset scripted"):
        assert wanted in shown
    assert "SECRET" not in shown
    assert "requirements-cpu.txt replaces requirements.txt" in shown


def test_home_caches_and_network_are_taken_away(
    repository: Path, smoke: Smoke, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    own = ("HF_HOME", "CRAG_MODELS_DIR", "XDG_CACHE_HOME", "TORCH_HOME")
    for name in own:
        monkeypatch.setenv(name, str(tmp_path / "of-the-user"))
    asks = """
import os, pathlib, socket
print(sorted(os.environ), list(pathlib.Path.home().iterdir()))
try:
    socket.create_connection(("192.0.2.1", 80), timeout=5)
except OSError:
    pass  # it lives without, and on the evaluator's machine waits for nothing
"""
    (repository / "local_evaluation.py").write_text(asks)
    shown = smoke(1)
    assert "the run used the network, which the evaluator does not have: 192.0.2.1" in shown
    assert not any(name in shown for name in own)


def test_a_file_that_git_does_not_have_is_missed(repository: Path, smoke: Smoke) -> None:
    git(repository, "init", "--quiet")
    commit(repository)
    smoke(0)
    (repository / "rooms" / "cellar.py").touch()
    (repository / "local_evaluation.py").write_text("import rooms.cellar\n")
    shown = smoke(1)
    assert "not committed: local_evaluation.py" in shown
    assert "left out, because they are not in git: rooms/cellar.py" in shown
    assert "No module named 'rooms.cellar'" in shown


@pytest.fixture
def staged(tmp_path: Path) -> Staged:
    return Staged(tmp_path / "image", tmp_path / "image" / "home", {})


def test_weights_are_lent_where_the_evaluators_checkout_has_them_and_what_is_not_in_git_is_said(
    staged: Staged, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CRAG_MODELS_DIR", str(tmp_path / "cache"))
    names = list(needed_weights(load_settings("cpu", [])).models)
    for name in names:
        for place in ("cache", "given"):
            (tmp_path / place / name).mkdir(parents=True)
            (tmp_path / place / name / "config.json").write_text(place)
    lend_weights(staged, ROOT, "cpu", pushed_files(ROOT), None)
    lent = {path.parent.name: path.read_text() for path in staged.folder.glob("models/weights/*/config.json")}
    assert lent == dict.fromkeys(names, "cache")
    assert not (staged.folder / "models" / "routers").exists(), "the image itself has to hold them"
    shown = capfd.readouterr().out
    assert all(f"models/weights/{name}" in shown for name in names)
    assert "python -m models.fetch cpu --to models/weights" in shown
    lend_weights(staged, ROOT, "cpu", None, tmp_path / "given")
    assert {path.read_text() for path in staged.folder.glob("models/weights/*/config.json")} == {"given"}
    assert "not yet in git" not in capfd.readouterr().out


def test_weights_that_are_nowhere_are_reported_with_the_command(
    staged: Staged, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRAG_MODELS_DIR", str(tmp_path / "cache"))
    with pytest.raises(SmokeError, match=r"lacks models/weights/llama-3-8b-.*python -m models.fetch submission"):
        lend_weights(staged, ROOT, "submission", None, None)
    with pytest.raises(SmokeError, match=r"models/routers/nec_domain.*training\.router --config nec_domain"):
        lend_weights(staged, ROOT, "nec", None, None)


@pytest.mark.parametrize("rule", ["rooms/*.py", "**/kitchen.py", "rooms/recipe.txt"])
def test_a_file_that_dockerignore_keeps_out_is_named_with_its_rule(rule: str, repository: Path, smoke: Smoke) -> None:
    (repository / ".dockerignore").write_text(f"# large\n{rule}\n")
    if rule == "rooms/*.py":
        (repository / "local_evaluation.py").write_text("from rooms.kitchen import soup\n")
    shown = smoke(1)
    assert "smoke: FAILED" in shown
    assert f".dockerignore, line 2 ({rule}), excludes it from the image" in shown


@pytest.mark.parametrize(
    ("file", "text", "shown"),
    [
        (
            ".dockerignore",
            "requirements.txt\n",
            "Dockerfile:3: COPY requirements.txt copies nothing: .dockerignore keeps it out (line 1: requirements.txt)",
        ),
        ("local_evaluation.py", "raise SystemExit('the oven is cold')\n", "the oven is cold"),
        ("Dockerfile", "FROM x\nCOPY\n", "smoke: FAILED"),
    ],
)
def test_a_fault_is_shown(file: str, text: str, shown: str, repository: Path, smoke: Smoke) -> None:
    (repository / file).write_text(text)
    assert shown in smoke(1)


def test_a_hidden_file_and_a_folder_by_name_are_copied(repository: Path, tmp_path: Path) -> None:
    image = parse_dockerfile(
        "FROM x\nCOPY .dockerignore ./rooms/recipe.txt /etc/\nCOPY rooms /srv/rooms\nWORKDIR /srv\n"
    )
    staged = stage(repository, image, tmp_path / "image")
    copied = {path.relative_to(staged.root).as_posix() for path in staged.root.rglob("*") if path.is_file()}
    rooms = {"srv/rooms/__init__.py", "srv/rooms/kitchen.py", "srv/rooms/recipe.txt"}
    assert copied == {"etc/.dockerignore", "etc/recipe.txt", *rooms}


def test_the_real_dockerfile(tmp_path: Path) -> None:
    image = parse_dockerfile((ROOT / "Dockerfile").read_text())
    staged = stage(ROOT, image, tmp_path)
    assert staged.folder == tmp_path / "home" / "aicrowd"
    assert (staged.folder / "agents" / "user_config.py").is_file()
    assert (tmp_path / "tmp" / "requirements" / "constraints.txt").is_file()
    assert not {path.name for path in staged.folder.iterdir()} & {".git", "results", ".venv"}
    assert not list(staged.folder.glob("models/weights/*"))
    environment = container_environment(image, tmp_path, Path("/here"))
    assert environment["PATH"].startswith("/here/bin:/usr/local/sbin")
    assert (environment["HF_HUB_OFFLINE"], environment["TOKENIZERS_PARALLELISM"]) == ("1", "false")
    assert environment["HOME"].startswith(str(tmp_path)), "nothing of the user's own settings"
    assert "CRAG_PRESET" not in environment


def test_the_whole_pipeline_runs_as_the_image_would_run_it() -> None:
    command = [sys.executable, "-m", "scripts.smoke"]
    environment = os.environ | {"CRAG_PRESET": "no-such-preset"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "all questions" in done.stdout
