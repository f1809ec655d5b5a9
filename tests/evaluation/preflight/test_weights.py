import hashlib
import shutil
from pathlib import Path

import pytest

from evaluation.preflight.__main__ import run_check
from evaluation.preflight.findings import Level
from evaluation.preflight.subject import HashMemory, Subject
from evaluation.preflight.weights import unusable
from models.fetch import sha256_of
from tests.evaluation.preflight.conftest import Checked, commit, git, replace

CONTENT = b"weights of a tiny model"


@pytest.fixture
def tiny(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The tree with a preset whose only model has one small file, in the tree and committed; an empty cache."""
    monkeypatch.setenv("CRAG_MODELS_DIR", str(tmp_path / "cache"))
    digest = hashlib.sha256(CONTENT).hexdigest()
    (tree / "models" / "manifest.toml").write_text(
        '[groups]\n[models.tiny]\nrole = "test"\nlicence = "none"\nhub = { repository = "a/b", revision = "main" }\n'
        f'files = [{{ path = "model.safetensors", size = {len(CONTENT)}, sha256 = "{digest}" }}]\n'
    )
    scripted = (tree / "agents" / "presets" / "scripted.toml").read_text()
    preset = scripted.replace('engine = "scripted"', 'engine = "transformers"\nmodel = "tiny"')
    (tree / "agents" / "presets" / "tiny.toml").write_text(preset)
    (tree / "agents" / "presets" / "active.toml").write_text('preset = "tiny"\n')
    (tree / "models" / "weights" / "tiny").mkdir(parents=True)
    model_file(tree).write_bytes(CONTENT)
    commit(tree)
    return tree


def model_file(tree: Path) -> Path:
    return tree / "models" / "weights" / "tiny" / "model.safetensors"


def said(checked: Checked, tree: Path) -> list[str]:
    return [f"{finding.level}: {finding.problem}" for finding in checked("weights", tree).findings]


def test_the_right_weights_are_right_and_missing_ones_are_named_with_the_command_that_gets_them(
    tiny: Path, checked: Checked
) -> None:
    report = checked("weights", tiny)
    assert (report.findings, report.note) == ([], "1 model(s)")
    shutil.rmtree(model_file(tiny).parent)
    (finding,) = checked("weights", tiny).findings
    assert (finding.level, finding.field) == (Level.ERROR, "language_model.model")
    assert "python -m models.fetch tiny --to models/weights" in finding.remedy


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (CONTENT.upper(), "does not have sha256"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 23\n", "git lfs pull"),
    ],
)
def test_other_bytes_are_found_and_a_broken_model_is_not_asked(
    content: bytes, problem: str, tiny: Path, checked: Checked
) -> None:
    model_file(tiny).write_bytes(content)
    assert any(problem in one for one in said(checked, tiny))
    assert "see the weights check" in (checked("batch", tiny).skipped or "")


def test_weights_of_the_cache_are_not_in_the_submission(tiny: Path, tmp_path: Path, checked: Checked) -> None:
    model_file(tiny).parent.rename(tmp_path / "moved")
    (tmp_path / "cache").mkdir(exist_ok=True)
    (tmp_path / "moved").rename(tmp_path / "cache" / "tiny")
    assert any(problem.startswith("error: tiny is in") for problem in said(checked, tiny))
    (tiny / "agents" / "presets" / "active.toml").write_text('preset = "scripted"\n')
    rehearsal = checked("weights", tiny, preset="tiny").findings
    assert [finding.level for finding in rehearsal] == [Level.WARNING], "a rehearsal may use the cache"


def adapter(tree: Path) -> Path:
    """A folder with an adapter, which the preset names, whole and committed."""
    folder = tree / "models" / "adapters" / "own"
    folder.mkdir()
    (folder / "adapter_config.json").write_text("{}")
    (folder / "adapter_model.safetensors").write_bytes(CONTENT)
    preset = tree / "agents" / "presets" / "tiny.toml"
    replace(preset, 'model = "tiny"', 'model = "tiny"\nadapters = { own = "models/adapters/own" }')
    commit(tree)
    return folder


def test_a_half_committed_model_and_adapter_are_named_by_file(tiny: Path, checked: Checked) -> None:
    digest = hashlib.sha256(b"{}").hexdigest()
    replace(
        tiny / "models" / "manifest.toml",
        "files = [",
        f'files = [{{ path = "c.json", size = 2, sha256 = "{digest}" }}, ',
    )
    config = model_file(tiny).with_name("c.json")
    config.write_text("{}")
    folder = adapter(tiny)
    assert said(checked, tiny) == []
    git(tiny, "rm", "--quiet", "--cached", str(config), str(folder / "adapter_config.json"))
    assert said(checked, tiny) == [
        "error: is there, but not committed: c.json",
        "error: is there, but not committed: adapter_config.json",
    ]
    assert unusable(Subject(tiny, asked_preset="tiny")) is not None, "the active preset is asked as it is pushed"


def test_an_adapter_without_its_description(tiny: Path, checked: Checked) -> None:
    (adapter(tiny) / "adapter_config.json").unlink()
    (finding,) = checked("weights", tiny).findings
    assert "adapter_config.json is missing" in finding.problem
    assert "or write tuned = false into the preset" in finding.remedy


def test_an_optional_model_is_a_warning_and_the_agent_is_asked_without_it(tiny: Path, checked: Checked) -> None:
    with (tiny / "models" / "manifest.toml").open("a") as manifest:
        manifest.write(
            '[models.llama-2-tokenizer]\nrole = "r"\nlicence = "l"\nsnapshot = ["*"]\n'
            'hub = { repository = "a/b", revision = "c" }\n'
        )
    commit(tiny)
    (finding,) = checked("weights", tiny).findings
    assert finding.level is Level.WARNING
    assert unusable(Subject(tiny)) is None


def test_a_file_is_hashed_again_only_when_it_changed(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashed: list[Path] = []

    def counted(path: Path) -> str:
        hashed.append(path)
        return sha256_of(path)

    monkeypatch.setattr("evaluation.preflight.subject.sha256_of", counted)
    file, memory_file = tmp_path / "w", tmp_path / "hashes.json"
    file.write_bytes(b"one")
    for _ in range(2):
        memory = HashMemory(memory_file)
        assert memory.sha256(file) == hashlib.sha256(b"one").hexdigest()
        memory.save()
    assert len(hashed) == 1
    file.write_bytes(b"two")
    assert HashMemory(memory_file).sha256(file) == hashlib.sha256(b"two").hexdigest()
    memory_file.write_text("[broken")
    assert HashMemory(memory_file).sha256(file) == hashlib.sha256(b"two").hexdigest()
    hashed.clear()
    (tmp_path / "cache").write_text("a file where the folder should be")
    subject = Subject(tiny)
    assert run_check("weights", subject).findings == []
    assert unusable(subject) is None
    assert len(hashed) == 1, "once for all checks, even where nothing can be kept"
