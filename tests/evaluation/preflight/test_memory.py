from pathlib import Path

import pytest

from evaluation.preflight.checks import named, run_check
from evaluation.preflight.findings import Report
from evaluation.preflight.subject import Subject
from tests.evaluation.preflight.conftest import ROOT, replace


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("aicrowd.json", "models/manifest.toml", "agents/presets/weknow.toml", "agents/presets/cpu.toml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    return tmp_path


def checked(tree: Path, preset: str = "weknow") -> Report:
    return run_check(named("memory"), Subject(tree, None, preset))


def test_a_plan_that_fits(tree: Path) -> None:
    report = checked(tree)
    assert report.outcome.findings == ()
    assert "GiB" in str(report.outcome.note)


def test_a_plan_that_does_not_fit_is_an_error_with_the_key_that_mends_it(tree: Path) -> None:
    replace(tree / "agents/presets/weknow.toml", "gpu_memory_utilization = 0.8", "gpu_memory_utilization = 0.9")
    report = checked(tree)
    assert report.errors == 2
    assert {finding.place.field for finding in report.outcome.findings} == {"language_model.gpu_memory_utilization"}
    assert "lower it to 0.8" in report.outcome.findings[1].remedy


def test_a_device_beyond_gpu_count(tree: Path) -> None:
    replace(tree / "agents/presets/weknow.toml", 'device = "cuda:1"', 'device = "cuda:4"')
    assert "GPU 4, and there are 4" in checked(tree).outcome.findings[0].problem


def test_a_preset_without_gpus_is_skipped(tree: Path) -> None:
    assert "processor" in str(checked(tree, "cpu").outcome.skipped)
