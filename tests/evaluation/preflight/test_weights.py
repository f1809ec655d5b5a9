import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from evaluation.preflight.checks import run_check
from evaluation.preflight.findings import Level
from evaluation.preflight.hashes import HashMemory
from evaluation.preflight.subject import Subject
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


def test_the_right_weights_are_right(tiny: Path, checked: Checked) -> None:
    report = checked("weights", tiny)
    assert report.findings == []
    assert report.note == "1 model(s)"


def test_missing_weights_are_named_with_the_command_that_gets_them(tiny: Path, checked: Checked) -> None:
    model_file(tiny).unlink()
    model_file(tiny).parent.rmdir()
    (finding,) = checked("weights", tiny).findings
    assert finding.level is Level.ERROR
    assert "python -m models.fetch tiny --to models/weights" in finding.remedy
    assert finding.place.field == "language_model.model"


def test_other_bytes_of_the_same_length_are_found(tiny: Path, checked: Checked) -> None:
    model_file(tiny).write_bytes(CONTENT.upper())
    assert any("does not have sha256" in problem for problem in said(checked, tiny))


def test_a_pointer_of_git_lfs_is_told_as_such(tiny: Path, checked: Checked) -> None:
    model_file(tiny).write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 23\n")
    assert any("git lfs pull" in problem for problem in said(checked, tiny))


def test_weights_of_the_cache_are_not_in_the_submission(tiny: Path, tmp_path: Path, checked: Checked) -> None:
    model_file(tiny).parent.rename(tmp_path / "moved")
    (tmp_path / "cache").mkdir(exist_ok=True)
    (tmp_path / "moved").rename(tmp_path / "cache" / "tiny")
    assert any(problem.startswith("error: tiny lies in") for problem in said(checked, tiny))
    (tiny / "agents" / "presets" / "active.toml").write_text('preset = "scripted"\n')
    rehearsal = checked("weights", tiny, preset="tiny").findings
    assert [finding.level for finding in rehearsal] == [Level.WARNING], "a rehearsal may use the cache"


def test_weights_that_are_not_committed(tree: Path, tiny: Path, checked: Checked) -> None:
    model_file(tiny).rename(tiny / "elsewhere")
    commit(tiny)
    (tiny / "elsewhere").rename(model_file(tiny))
    assert any("not committed" in problem for problem in said(checked, tiny))


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
    assert unusable(Subject(tiny)) is None, "it can be asked here all the same"


def test_an_adapter_without_its_description(tiny: Path, checked: Checked) -> None:
    (adapter(tiny) / "adapter_config.json").unlink()
    (finding,) = checked("weights", tiny).findings
    assert "adapter_config.json is missing" in finding.problem
    assert "or write tuned = false into the preset" in finding.remedy
    assert "adapter_config.json" in (unusable(Subject(tiny)) or "")


def test_weights_are_hashed_once_for_all_checks_even_where_nothing_can_be_kept(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashed: list[Path] = []

    def counted(path: Path, advance: Callable[[int], object]) -> str:
        hashed.append(path)
        return sha256_of(path, advance)

    monkeypatch.setattr("evaluation.preflight.hashes.sha256_of", counted)
    (tmp_path / "cache").write_text("a file where the folder should be")
    subject = Subject(tiny)
    assert run_check("weights", subject).findings == []
    assert unusable(subject) is None
    assert len(hashed) == 1


def test_a_broken_model_is_not_asked(tiny: Path, checked: Checked) -> None:
    model_file(tiny).write_bytes(b"x")
    assert "see the check of the weights" in (checked("batch", tiny).skipped or "")


def test_the_base_of_a_router_belongs_to_the_submission(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, checked: Checked
) -> None:
    """The router's own folder was all that was looked at: the pushed agent then missed its encoder."""
    monkeypatch.setenv("CRAG_MODELS_DIR", str(tmp_path / "cache"))
    (tree / "agents" / "presets" / "active.toml").write_text('preset = "submission"\n')
    commit(tree)
    findings = {finding.place.field: finding for finding in checked("weights", tree).findings}
    base = findings["router.classifiers.cpu, base model"]
    assert base.level is Level.ERROR
    assert base.problem.startswith("models/weights/all-minilm-l6-v2 is not in the tree")
    assert base.remedy.startswith("python -m models.fetch submission --to models/weights")
    assert "the cut to 75 tokens" in findings, "on the evaluator nothing can be fetched later"


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


def test_a_file_is_hashed_again_only_when_it_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hashed: list[Path] = []

    def counted(path: Path, advance: Callable[[int], object]) -> str:
        hashed.append(path)
        return sha256_of(path, advance)

    monkeypatch.setattr("evaluation.preflight.hashes.sha256_of", counted)
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
