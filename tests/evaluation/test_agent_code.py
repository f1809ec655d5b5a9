"""The code of an own agent in the signature: what it changes with, and when the preset counts."""

from pathlib import Path

import pytest

from crag.evaluation.agent_code import code_signature, reads_preset

AGENT = "import helper\n\nclass Mine:\n    pass\n"


def written(folder: Path, **files: str) -> str:
    for name, code in files.items():
        (folder / f"{name}.py").write_text(code, encoding="utf-8")
    return f"{folder / 'agent.py'}:Mine"


def test_the_hash_changes_with_the_file_and_what_it_imports_beside_it(tmp_path: Path) -> None:
    agent = written(tmp_path, agent=AGENT, helper="import deeper\n", deeper="A = 1\n", unused="A = 1\n")
    before = code_signature(agent)
    assert before is not None
    written(tmp_path, unused="A = 2\n")
    assert code_signature(agent) == before
    hashes: set[str | None] = {before}
    for name, code in {"deeper": "A = 2\n", "helper": "import deeper as d\n", "agent": f"{AGENT}A = 1\n"}.items():
        written(tmp_path, **{name: code})
        hashes.add(code_signature(agent))
    assert len(hashes) == 4


def test_packages_relative_imports_and_folders_of_the_same_name(tmp_path: Path) -> None:
    """A folder `data` beside the agent is not a package, and the module of the same name is elsewhere."""
    (tmp_path / "data").mkdir()
    package = tmp_path / "parts"
    package.mkdir()
    written(package, __init__="", ranker="from . import words\nfrom .more import X\n", words="A = 1\n", more="X = 1\n")
    agent = written(tmp_path, agent="import data, numpy.linalg\nfrom parts import ranker\nclass Mine: ...\n")
    hashes = {code_signature(agent)}
    for name in ("words", "more", "ranker", "__init__"):
        written(package, **{name: "X = 2\nfrom . import words\nfrom .more import X\n"})
        hashes.add(code_signature(agent))
    assert len(hashes) == 5


def test_nothing_of_the_agent_is_run(tmp_path: Path) -> None:
    agent = written(tmp_path, agent="import os\nos._exit(9)\nclass Mine: ...\n")
    assert code_signature(agent) is not None


def test_a_file_with_a_fault_is_known_by_itself_and_a_missing_one_not(tmp_path: Path) -> None:
    assert code_signature(written(tmp_path, agent="class Mine(:\n")) is not None
    assert code_signature(written(tmp_path, agent="x = '\0'\n")) is not None
    assert code_signature(f"{tmp_path / 'none.py'}:Mine") is None
    assert code_signature("no_such_package.agent:Mine") is None


@pytest.mark.parametrize("agent", ["crag:UserAgent", "agents.user_config:UserAgent", "models.user_config:UserModel"])
def test_our_own_agent_is_known_by_the_package(agent: str) -> None:
    assert (code_signature(agent), reads_preset(agent)) == (None, True)


@pytest.mark.parametrize(
    ("code", "reads"),
    [
        ("from crag import UserAgent\nclass Mine(UserAgent): ...\n", True),
        ("from crag.pipeline.user_agent import UserAgent as Base\nclass Mine(Base): ...\n", True),
        ("import crag\nclass Mine(crag.UserAgent): ...\n", True),
        ("import crag.pipeline.user_agent\nclass Mine(crag.pipeline.user_agent.UserAgent): ...\n", True),
        ("from helper import Base\nclass Mine(Base): ...\n", True),
        ("from crag.settings import load_settings, usual_preset\nclass Mine: ...\n", True),
        ("class UserAgent: ...\nclass Mine(UserAgent): ...\n", False),
        ("from other import UserAgent\nclass Mine(UserAgent): ...\n", False),
        ("from crag.core.contracts import I_DONT_KNOW\nclass Mine: ...\n", False),
        ("", False),
    ],
)
def test_the_preset_counts_for_an_agent_built_on_ours(tmp_path: Path, code: str, reads: bool) -> None:
    agent = written(tmp_path, agent=code, helper="from crag import UserAgent\nclass Base(UserAgent): ...\n")
    assert reads_preset(agent) is reads
