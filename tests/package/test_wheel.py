"""A built wheel has all that the commands need; installed, it answers in a folder that has nothing."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]


def tracked() -> list[str]:
    listed = subprocess.run(["git", "ls-files"], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    return [
        name for name in listed.stdout.splitlines() if (REPOSITORY / name).is_file() and not name.endswith(".gitkeep")
    ]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    source, built = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("built")
    for name in tracked():
        target = source / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(REPOSITORY / name, target)
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--quiet", "-w", str(built)]
    subprocess.run([*command, str(source)], check=True, timeout=300)
    return next(built.glob("*.whl"))


def test_it_holds_every_file_of_the_package_and_installs_no_other_package(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert {name for name in tracked() if name.startswith("crag/")} <= names
    assert not [name for name in names if "/__pycache__/" in name]
    packages = {name.partition("/")[0] for name in names if name.endswith(".py")}
    assert packages == {"crag"}, "a wheel that installs `agents` or `models` breaks other packages of these names"
    assert [name for name in names if name.endswith("share/crag/sample/questions.jsonl")]


def test_installed_it_answers_from_an_empty_folder(wheel: Path, tmp_path: Path) -> None:
    place, empty = tmp_path / "installed", tmp_path / "empty"
    empty.mkdir()
    pip = [sys.executable, "-m", "pip", "install", "--no-deps", "--quiet", "--target", str(place)]
    subprocess.run([*pip, str(wheel)], check=True, timeout=300)
    script = place / "bin" / "crag"
    assert script.is_file()
    environment = {**os.environ, "PYTHONPATH": str(place), "CRAG_MOCK_API_URL": ""}
    says = 'language_model.replies={"Calls:" = \'get_movie("titanic")["revenue"]\'}'

    def typed(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(script), *words]
        return subprocess.run(
            command, cwd=empty, env=environment, capture_output=True, text=True, timeout=300, check=False
        )

    done = typed("ask", "what did titanic earn?", "--why", "--preset", "scripted", "--set", says)
    assert done.returncode == 0, done.stderr
    assert "graph      queried, facts found" in done.stdout
    environment["CRAG_MODELS_DIR"] = str(empty / "none")
    messages = typed("ask", "who?", "--preset", "cpu").stderr + typed("models", "fetch", "nec", "--verify").stderr
    assert "Get them with: crag models fetch cpu" in messages
    assert "crag train router --config" in messages
    assert "python -m" not in messages


def test_it_lives_beside_a_package_named_agents(wheel: Path, tmp_path: Path) -> None:
    """`openai-agents` installs a package `agents`, many projects have one named `models`: both stay theirs."""
    for name in ("agents", "models"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("OWNER = 'somebody else'\n", encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "install", "--no-deps", "--quiet", "--target", str(tmp_path)]
    subprocess.run([*pip, str(wheel)], check=True, timeout=300)
    code = (
        "import agents, models\nfrom crag import Asker\nfrom crag.settings import active_preset\n"
        "print(agents.OWNER, models.OWNER, Asker.__module__, active_preset())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.stdout == "somebody else somebody else crag.asking.asker cpu\n", done.stderr
