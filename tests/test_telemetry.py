"""Libraries that report to their makers are told not to, whichever way this package is entered."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.engines.llm.conftest import NO_VLLM

ROOT = Path(__file__).parents[1]
ENTRIES = ["crag", "agents.user_config", "models.user_config", "crag.commands.evaluate", "crag.engines.llm.vllm_worker"]
SWITCHES = {
    "VLLM_NO_USAGE_STATS": "1",
    "RAY_USAGE_STATS_ENABLED": "0",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "ORT_DISABLE_TELEMETRY": "1",
}


def run(code: str) -> str:
    """What this code prints, in an environment without any of these variables and without a home."""
    environment = {name: value for name, value in os.environ.items() if name not in {*SWITCHES, "HOME", "DO_NOT_TRACK"}}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip().splitlines()[-1]


@pytest.mark.parametrize("entry", ENTRIES)
def test_every_entry_turns_it_off(entry: str) -> None:
    code = f"import json, os, sys, {entry}; print(json.dumps([dict(os.environ), 'openvino_telemetry' in sys.modules]))"
    environment, openvino_is_silent = json.loads(run(code))
    assert environment.items() >= SWITCHES.items()
    assert openvino_is_silent


@pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed: pip install -r requirements/ray.txt")
def test_ray_says_that_it_is_off() -> None:
    ask = "from ray._common.usage.usage_lib import usage_stats_enabled as enabled; print(enabled())"
    assert run(ask) == "True", "Ray's own default"
    assert run(f"import crag; {ask}") == "False"


@pytest.mark.vllm
@pytest.mark.skipif(find_spec("vllm") is None, reason=NO_VLLM)
def test_vllm_says_that_it_is_off() -> None:
    ask = "from vllm.usage.usage_lib import is_usage_stats_enabled as enabled; print(enabled())"
    assert run(ask) == "True", "vLLM's own default"
    assert run(f"import crag; {ask}") == "False"
