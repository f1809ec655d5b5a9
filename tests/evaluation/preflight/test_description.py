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
        on_server = name == "preset" and preset == "endpoint"
        expected = "uses a server, but the evaluator has no network" if on_server else ""
        assert problems(checked(name, tree, preset=preset)) == expected, name


VLLM = 'distributed_executor = "ray" '


@pytest.mark.parametrize(
    ("check", "file", "old", "new", "asked", "problem"),
    [
        ("engine", "submission", VLLM, 'distributed_executor = "mp" ', {}, "is 'mp': vLLM's own processes"),
        ("engine", "submission", VLLM, "# ", {}, "is None: vLLM's own processes"),
        ("engine", "db3_task1", 'dtype = "float16"\ndevice = "auto"', 'dtype = "bfloat16"', {}, "bfloat16"),
        ("gpu", "aicrowd.json", '"gpu_count": 4', '"gpu_count": 2', {"preset": "submission"}, "submission uses 4 GPUs"),
        ("challenge", "submission", "", "", {"task": "task3"}, "names task1, not task3"),
        ("aicrowd-json", "aicrowd.json", '"gpu": true', '"gpu": true, "debug": true', {}, "does not count"),
        ("graph-variable", "db3_task1", "", "", {"task": "task3"}, "is not used"),
        (
            *("graph-variable", "cpu", "[web]", '[knowledge_graph.client]\nurl_variable = "CRAG_SERVER"\n\n[web]'),
            *({"task": "task2"}, "'CRAG_SERVER', which the evaluator does not set"),
        ),
    ],
)
def test_what_disturbs_the_evaluator_or_goes_unused(
    check: str, file: str, old: str, new: str, asked: dict[str, str], problem: str, tree: Path, checked: Checked
) -> None:
    preset = file if file in PRESETS else "submission"
    replace(tree / (f"agents/presets/{file}.toml" if file in PRESETS else file), old, new)
    report = checked(check, tree, **{"preset": preset, **asked})
    assert problem in "\n".join(finding.problem for finding in report.findings)


def test_checks_that_do_not_apply(tree: Path, checked: Checked) -> None:
    assert "has no CRAG_MOCK_API_URL" in (checked("graph-variable", tree, preset="cpu").skipped or "")
    assert "runs on a CPU" in str(checked("memory", tree, preset="cpu").skipped)


@pytest.mark.parametrize(
    ("old", "new", "problem", "remedy"),
    [
        ("gpu_memory_utilization = 0.8", "gpu_memory_utilization = 0.95", "", "lower it to 0.8"),
        ('device = "cuda:1"', 'device = "cuda:4"', "GPU 4, but there are only 4", ""),
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
