"""The empty world: a home, a cache, a forgotten file or the hub of this machine hide nothing."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from crag.submission.preflight.subject import Level
from crag.submission.preflight.world import empty_world, refused
from crag.weights.manifest import load_manifest
from tests.submission.preflight.conftest import Checked, commit, replace

CACHES = ("HF_HOME", "HF_HUB_CACHE", "TRANSFORMERS_CACHE", "XDG_CACHE_HOME", "CRAG_MODELS_DIR", "TORCH_HOME")
BASE = "all-minilm-l6-v2"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A developer's machine: a home and caches with a model that was never committed."""
    home = tmp_path / "developer"
    for name in CACHES:
        monkeypatch.setenv(name, str(home / name))
    monkeypatch.setenv("HOME", str(home))
    folder = home / "CRAG_MODELS_DIR" / BASE
    for path, size in load_manifest().model(BASE).expected.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        with (folder / path).open("wb") as file:
            file.truncate(size or 0)
    return folder.parent


@pytest.fixture
def routed(tree: Path) -> Path:
    """A submission that routes with a classifier, whose base it does not hold."""
    router = '\n[router]\nengine = "encoder"\nclassifiers = ["cpu"]\n'
    scripted = (tree / "crag" / "presets" / "scripted.toml").read_text()
    (tree / "crag" / "presets" / "routed.toml").write_text(scripted + router)
    (tree / "agents" / "active.toml").write_text('preset = "routed"\n')
    commit(tree)
    return tree


def test_a_model_in_the_cache_does_not_hide_that_the_submission_lacks_it(
    routed: Path, cache: Path, checked: Checked
) -> None:
    (finding,) = checked("weights", routed).of(Level.ERROR)
    assert "field router.classifiers.cpu, base model" in finding.place
    assert f"on this machine it is in {cache / BASE}" in finding.remedy
    (failed,) = checked("agent", routed).of(Level.ERROR)
    assert f"preset routed: weights of {BASE}" in failed.problem


def test_a_module_that_was_never_committed_is_missing(tree: Path, checked: Checked) -> None:
    line = "from crag.pipeline.user_agent"
    replace(tree / "agents" / "user_config.py", line, f"import agents.x\n{line}")
    commit(tree)
    (tree / "agents" / "x.py").touch()
    assert any("No module named 'agents.x'" in one.problem for one in checked("agent", tree).of(Level.ERROR))
    commit(tree)
    report = checked("agent", tree)
    assert report.of(Level.ERROR) == []
    assert "in a copy of the " in report.of(Level.NOTE)[0].problem


def in_the_world(tmp_path: Path, code: str, server: str | None = None) -> "subprocess.CompletedProcess[str]":
    environment = empty_world(tmp_path / "world", hidden=tmp_path, server=server)
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)


def test_nothing_of_the_developers_environment_is_there(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HF_TOKEN", "HTTPS_PROXY", "CRAG_SETTINGS", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, "of the developer")
    code = "import json, os, pathlib; print(json.dumps([dict(os.environ), os.listdir(pathlib.Path.home())]))"
    environment, at_home = json.loads(in_the_world(tmp_path, code).stdout)
    assert at_home == []
    assert not {*CACHES, "HF_TOKEN", "HTTPS_PROXY", "CRAG_SETTINGS", "OPENAI_API_KEY"} & environment.keys()
    assert not [name for name, value in environment.items() if str(cache.parent) in value or "of the dev" in value]


ASK = "import socket; socket.create_connection(('192.0.2.1', 80), timeout=5)"


@pytest.mark.parametrize(
    "code",
    [
        ASK,
        f"import multiprocessing as m; p = m.get_context('spawn').Process(target=exec, args=({ASK!r},)); p.start()",
    ],
    ids=["the process", "a worker"],
)
def test_no_process_reaches_the_network_and_each_attempt_is_noted(code: str, tmp_path: Path) -> None:
    done = in_the_world(tmp_path, code)
    assert "the evaluator has no network: 192.0.2.1" in done.stderr
    assert refused(tmp_path / "world") == ["192.0.2.1"]


def test_this_machine_and_the_graph_may_be_asked(tmp_path: Path) -> None:
    code = "import socket; s = socket.create_server(('127.0.0.1', 0)); socket.create_connection(s.getsockname())"
    assert in_the_world(tmp_path, code).returncode == 0
    assert "no network: 192.0.2.1" in in_the_world(tmp_path, ASK, server="192.0.2.2").stderr
    assert "no network" not in in_the_world(tmp_path, ASK, server="192.0.2.1").stderr
    assert refused(tmp_path / "world") == ["192.0.2.1"]
    assert refused(tmp_path / "no-log") is None, "without a guard nothing is claimed"
