"""The evaluator's interface, as the evaluator uses it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agents.llm import EngineUnavailableError
from agents.settings import PRESET_VARIABLE
from agents.user_config import UserAgent
from models.manifest import WeightsMissingError
from models.user_config import UserModel
from tests.agents.asking import batch_of

REPOSITORY = Path(__file__).parents[2]


def test_both_names_of_the_evaluators_are_one_class() -> None:
    assert UserModel is UserAgent


def test_the_evaluators_way_through_the_interface(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PRESET_VARIABLE, "scripted")
    agent = UserAgent(search_pipeline=object())
    assert agent.get_batch_size() in range(1, 17)
    answers = agent.batch_generate_answer(batch_of(["who?", None], []))
    agent.close()
    assert answers == ["i don't know", "i don't know"]
    assert len(agent.last_traces) == 2


def test_the_submission_never_falls_back_to_small_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(PRESET_VARIABLE, raising=False)
    monkeypatch.setenv("CRAG_MODELS_DIR", str(tmp_path))
    with pytest.raises((WeightsMissingError, EngineUnavailableError)):
        UserAgent()
    with pytest.raises(WeightsMissingError, match="llama-3-8b-instruct"):
        UserAgent(preset="db3_task1")


def test_import_is_quick_and_quiet_and_needs_no_network() -> None:
    """The evaluator imports the module in a clean process without a network; heavy libraries wait for construction."""
    program = (
        "import socket, sys\n"
        "def refuse(*a, **k): raise OSError('no network')\n"
        "socket.socket.connect = refuse\n"
        "import agents.user_config\n"
        "heavy = {'torch', 'transformers', 'vllm', 'sentence_transformers'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, "-c", program]
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, timeout=120, cwd=REPOSITORY, env=environment
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
