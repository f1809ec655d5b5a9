"""docs/extending.md is run as it stands: its commands, its code, and what each example adds."""

import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from crag.commands.evaluate import main
from crag.core.contracts import I_DONT_KNOW, Answer, Trace
from crag.pipeline.agent import CragAgent
from crag.pipeline.user_agent import UserAgent
from crag.settings import Settings, load_settings
from tests.pipeline.asking import ask, page
from tests.toml_text import toml_table

REPOSITORY = Path(__file__).parents[1]
PAGE = (REPOSITORY / "docs" / "extending.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^crag evaluate (--agent .*)$", PAGE, re.MULTILINE)
QUESTION = "what is the capital of kenya?"


def loaded(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def built(file: str, agent: str, settings: Settings) -> CragAgent:
    """What the class of an example builds, without the evaluator around it."""
    own: type[UserAgent] = getattr(loaded(REPOSITORY / "examples" / file), agent)
    return own.build_agent(object.__new__(own), settings)


def settings(replies: Mapping[str, str], *changes: str) -> Settings:
    lines = [f"language_model.replies = {toml_table(replies)}", "web.extract.workers = 0", *changes]
    return load_settings("scripted", lines)


def asked(agent: CragAgent, *texts: str) -> tuple[Answer, Trace]:
    pages = [page(f"<p>{text}</p>", number, name="") for number, text in enumerate(texts)]
    agent.warm_up()
    try:
        return ask(agent, QUESTION, *pages)
    finally:
        agent.close()


def test_the_page_has_a_command_for_each_example() -> None:
    named = [shlex.split(command)[1].partition(":")[0] for command in COMMANDS]
    assert named == ["examples/own_reranker.py", "examples/own_check.py", "examples/own_source.py"]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_page_runs(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(REPOSITORY)
    options = shlex.split(command)
    folder = tmp_path / "run"
    options[options.index("--output") + 1] = str(folder)
    assert main([*options, "--quiet"]) == 0
    results: dict[str, Any] = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    signature = results["signature"]
    assert (results["n"], results["errors"], results["last_error"]) == (4, 0, None)
    assert signature["preset"].startswith("scripted@")
    assert signature["prompts"] is not None
    assert re.fullmatch("[0-9a-f]{12}", signature["code"])


def test_the_code_of_the_page_is_an_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    file = tmp_path / "mine.py"
    file.write_text(code, encoding="utf-8")
    monkeypatch.setenv("CRAG_PRESET", "scripted")
    options = ["--agent", f"{file}:MyAgent", "--limit", "2", "--output", str(tmp_path / "run"), "--quiet"]
    assert main(options) == 0
    signature = json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))["signature"]
    assert signature["preset"].startswith("scripted@"), "without --preset the active one"
    # Another version of the file is another run
    file.write_text(f"{code}\nCHANGED = True\n", encoding="utf-8")
    assert main([*options, "--resume"]) == 2
    assert "; --output names another folder, --overwrite replaces the run" in capsys.readouterr().err


def test_the_line_that_submits_an_agent_gives_it_to_the_evaluator_too(tmp_path: Path) -> None:
    (line,) = re.findall(r"`(from agents\.own_check import .*?)`", PAGE)
    for folder in ("agents", "models"):
        (tmp_path / folder).mkdir()
        for name in ("__init__.py", "user_config.py"):
            shutil.copy(REPOSITORY / folder / name, tmp_path / folder)
    shutil.copy(REPOSITORY / "examples" / "own_check.py", tmp_path / "agents")
    (tmp_path / "agents" / "user_config.py").write_text(f"{line}\n", encoding="utf-8")
    code = "from models.user_config import UserModel; print(UserModel.__name__)"
    environment = os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{REPOSITORY}"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "ShortAnswersAgent\n"


def test_the_reranker_ranks_and_needs_no_weights() -> None:
    own = settings({}, "cross_encoder = {model='own'}", "web.rerank = {top_k=2}")
    agent = built("own_reranker.py", "SharedWordsAgent", own)
    _, trace = asked(agent, "The capital of a bank is its money.", "What is the capital of peru?")
    assert [passage.scores["cross_encoder"] for passage in trace.passages] == [5.0, 4.0]


def test_the_check_withholds_long_answers() -> None:
    long = "it is the large and green city of Nairobi"
    answer, trace = asked(built("own_check.py", "ShortAnswersAgent", settings({QUESTION: long})), "Nairobi is large.")
    assert answer.text == I_DONT_KNOW
    assert [(firing.name, firing.withheld) for firing in trace.gates] == [("short answers", long)]
    short = built("own_check.py", "ShortAnswersAgent", settings({QUESTION: "Nairobi"}))
    assert asked(short, "Nairobi is large.")[0].text == "Nairobi"


def test_the_source_adds_its_facts() -> None:
    _, trace = asked(built("own_source.py", "CapitalsAgent", settings({})), "Kenya is a country.")
    assert '<doc source="table of capitals">The capital of kenya is Nairobi.</doc>' in trace.context
    assert "Kenya is a country." in trace.context
