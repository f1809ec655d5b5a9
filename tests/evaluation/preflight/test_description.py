from pathlib import Path

import pytest

from evaluation.preflight.challenges import CHALLENGES
from evaluation.preflight.findings import CheckReport, Level
from tests.evaluation.preflight.conftest import ROOT, Checked, replace

PRESETS = sorted(path.stem for path in (ROOT / "agents" / "presets").glob("*.toml") if path.stem != "active")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The two files that decide, and the presets."""
    root = tmp_path / "submission"
    (root / "agents" / "presets").mkdir(parents=True)
    for name in ("aicrowd.json", *(f"agents/presets/{path}.toml" for path in (*PRESETS, "active"))):
        (root / name).write_bytes((ROOT / name).read_bytes())
    return root


def problems(report: CheckReport, level: Level = Level.ERROR) -> str:
    return "\n".join(finding.problem for finding in report.findings if finding.level is level)


@pytest.mark.parametrize("preset", PRESETS)
def test_the_shipped_presets_have_no_error_of_their_own(preset: str, tree: Path, checked: Checked) -> None:
    task = "task2" if "task23" in preset else "task1"
    replace(tree / "aicrowd.json", "meta-kdd-cup-24-crag-retrieval-summarization", CHALLENGES[task])
    for name in ("preset", "challenge", "gpu", "engine", "graph-variable"):
        assert problems(checked(name, tree, preset=preset)) == "", name


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('distributed_executor = "ray" ', 'distributed_executor = "mp" ', "is 'mp': vLLM's own processes"),
        ('distributed_executor = "ray" ', "", "is None: vLLM's own processes"),
    ],
)
def test_what_disturbs_the_evaluator(old: str, new: str, problem: str, tree: Path, checked: Checked) -> None:
    preset = tree / "agents" / "presets" / "submission.toml"
    text = preset.read_text()
    line = next(line for line in text.splitlines() if line.startswith(old))
    preset.write_text(text.replace(line, new))
    assert problem in problems(checked("engine", tree))


def test_a_t4_has_no_bfloat16(tree: Path, checked: Checked) -> None:
    replace(tree / "agents" / "presets" / "db3_task1.toml", 'dtype = "float16"\ndevice = "auto"', 'dtype = "bfloat16"')
    assert "bfloat16" in problems(checked("engine", tree, preset="db3_task1"))


def test_more_gpus_than_asked_for(tree: Path, checked: Checked) -> None:
    replace(tree / "aicrowd.json", '"gpu_count": 4', '"gpu_count": 2')
    assert "the preset submission uses 4 GPUs" in problems(checked("gpu", tree))


def test_another_variable_than_the_evaluators(tree: Path, checked: Checked) -> None:
    preset = tree / "agents" / "presets" / "cpu.toml"
    preset.write_text(preset.read_text() + '\n[knowledge_graph.client]\nurl_variable = "CRAG_SERVER"\n')
    assert "'CRAG_SERVER', which the evaluator does not set" in problems(
        checked("graph-variable", tree, task="task2", preset="cpu")
    )
    assert "has no CRAG_MOCK_API_URL" in (checked("graph-variable", tree, preset="cpu").skipped or "")


def test_a_graph_that_is_never_asked(tree: Path, checked: Checked) -> None:
    report = checked("graph-variable", tree, task="task3", preset="db3_task1")
    assert "never asked" in problems(report, Level.WARNING)


def test_the_task_asked_for_is_not_that_of_the_file(tree: Path, checked: Checked) -> None:
    assert "names task1, not task3" in problems(checked("challenge", tree, task="task3"))


def test_a_debug_submission_does_not_count(tree: Path, checked: Checked) -> None:
    replace(tree / "aicrowd.json", '"gpu": true', '"gpu": true, "debug": true')
    assert "does not count" in problems(checked("aicrowd-json", tree), Level.WARNING)


@pytest.mark.parametrize(
    ("old", "new", "problem", "remedy"),
    [
        ("gpu_memory_utilization = 0.8", "gpu_memory_utilization = 0.95", "", "lower it to 0.8"),
        ('device = "cuda:1"', 'device = "cuda:4"', "GPU 4, and there are 4", ""),
    ],
)
def test_models_that_do_not_fit(old: str, new: str, problem: str, remedy: str, tree: Path, checked: Checked) -> None:
    (tree / "models").mkdir()
    (tree / "models" / "manifest.toml").write_bytes((ROOT / "models" / "manifest.toml").read_bytes())
    assert checked("memory", tree, preset="weknow").findings == []
    replace(tree / "agents/presets/weknow.toml", old, new)
    found = checked("memory", tree, preset="weknow")
    assert problem in problems(found)
    assert any(remedy in finding.remedy for finding in found.findings)


def test_a_preset_without_gpus_needs_no_memory_of_one(tree: Path, checked: Checked) -> None:
    assert "processor" in str(checked("memory", tree, preset="cpu").skipped)
