"""Weights that the evaluator would not get, or would get broken."""

import hashlib
import shutil
from pathlib import Path

import pytest

from crag.commands.preflight import main
from crag.submission.preflight.checks import CHECKS
from crag.submission.preflight.subject import Level
from tests.submission.preflight.conftest import Checked, commit, git, replace

CONTENT = b"weights of a tiny model"


@pytest.fixture
def tiny(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The tree with a preset whose only model has one small file, in the tree and committed; an empty cache."""
    monkeypatch.setenv("CRAG_MODELS_DIR", str(tmp_path / "cache"))
    digest = hashlib.sha256(CONTENT).hexdigest()
    (tree / "crag" / "weights" / "manifest.toml").write_text(
        '[groups]\n[models.tiny]\nrole = "test"\nlicence = "none"\nhub = { repository = "a/b", revision = "main" }\n'
        f'files = [{{ path = "model.safetensors", size = {len(CONTENT)}, sha256 = "{digest}" }}]\n'
    )
    scripted = (tree / "crag" / "presets" / "scripted.toml").read_text()
    preset = scripted.replace('engine = "scripted"', 'engine = "transformers"\nmodel = "tiny"')
    (tree / "crag" / "presets" / "tiny.toml").write_text(preset)
    (tree / "agents" / "active.toml").write_text('preset = "tiny"\n')
    (tree / "models" / "weights" / "tiny").mkdir(parents=True)
    model_file(tree).write_bytes(CONTENT)
    commit(tree)
    return tree


def model_file(tree: Path) -> Path:
    return tree / "models" / "weights" / "tiny" / "model.safetensors"


def said(checked: Checked, tree: Path) -> list[str]:
    return [f"{finding.level}: {finding.problem}" for finding in checked("weights", tree).findings[:-1]]


def test_the_right_weights_are_right_and_missing_ones_are_named_with_the_command_that_gets_them(
    tiny: Path, checked: Checked, tmp_path: Path
) -> None:
    assert [finding.problem for finding in checked("weights", tiny).findings] == [
        "1 model(s); untuned: the base model answers without adapters"
    ]

    shutil.copytree(model_file(tiny).parent, tmp_path / "cache" / "tiny")
    shutil.rmtree(model_file(tiny).parent)
    (finding,) = checked("weights", tiny).of(Level.ERROR)
    assert finding.place.endswith("field language_model.model")
    assert "crag models fetch tiny --to models/weights" in finding.remedy
    assert f"on this machine it is in {tmp_path / 'cache' / 'tiny'}" in finding.remedy

    (tiny / "agents" / "active.toml").write_text('preset = "scripted"\n')
    (finding, _) = checked("weights", tiny, preset="tiny").findings
    assert finding.level is Level.WARNING, "a rehearsal may use the cache"


def test_a_rehearsal_whose_weights_are_not_committed_is_not_called_free_of_errors(
    tiny: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    others = ["--skip", *(name for name in CHECKS if name != "weights")]
    assert main(["--root", str(tiny), "--preset", "tiny", *others]) == 0
    assert capsys.readouterr().out.endswith("check(s) skipped: no errors found\n")
    shutil.rmtree(model_file(tiny).parent)
    (tiny / "agents" / "active.toml").write_text('preset = "scripted"\n')
    commit(tiny)
    assert main(["--root", str(tiny), "--preset", "tiny", *others]) == 0
    assert capsys.readouterr().out.endswith(
        "no other errors, but weights of preset tiny are not committed: "
        "commit them before you make it the active one (now scripted)\n"
    )


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (CONTENT.upper(), "does not have sha256"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 23\n", "git lfs pull"),
    ],
)
def test_other_bytes_are_found_and_a_pointer_is_not_asked(
    content: bytes, problem: str, tiny: Path, checked: Checked
) -> None:
    model_file(tiny).write_bytes(content)
    assert any(problem in one for one in said(checked, tiny))
    assert checked("agent", tiny).of(Level.ERROR)


def test_a_half_committed_model_and_adapter_are_named_by_file(tiny: Path, checked: Checked) -> None:
    digest = hashlib.sha256(b"{}").hexdigest()
    first = f'files = [{{ path = "c.json", size = 2, sha256 = "{digest}" }}, '
    replace(tiny / "crag" / "weights" / "manifest.toml", "files = [", first)
    config = model_file(tiny).with_name("c.json")
    config.write_text("{}")
    folder = tiny / "models" / "adapters" / "own"
    folder.mkdir()
    (folder / "adapter_config.json").write_text("{}")
    (folder / "adapter_model.safetensors").write_bytes(CONTENT)
    preset = tiny / "crag" / "presets" / "tiny.toml"
    replace(preset, 'model = "tiny"', 'model = "tiny"\nadapters = { own = "models/adapters/own" }')
    commit(tiny)

    assert said(checked, tiny) == []
    assert checked("weights", tiny).findings[-1].problem == "2 model(s); tuned: own"

    git(tiny, "rm", "--quiet", "--cached", str(config), str(folder / "adapter_config.json"))
    model, adapter = checked("weights", tiny).of(Level.ERROR)
    assert "models/weights/tiny/c.json is missing" in model.problem
    assert adapter.problem.endswith("adapter_config.json is missing."), "the remedy stands in its own line"
    assert "or write tuned = false as the first line of the preset" in adapter.remedy
    assert "adapters missing: own; tuned = false pushes the base" in checked("weights", tiny).findings[-1].problem
    assert f"on this machine it is in {folder}" in adapter.remedy
