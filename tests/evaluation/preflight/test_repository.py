from collections.abc import Callable
from pathlib import Path

import pytest

from evaluation.preflight import repository
from evaluation.preflight.findings import Level
from tests.evaluation.preflight.conftest import Checked, commit, git


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one commit and an annotated tag; files are large from 1,000 bytes on, refused from 5,000."""
    monkeypatch.setattr(repository, "LARGE", 1_000)
    monkeypatch.setattr(repository, "REFUSED", 5_000)
    root = tmp_path / "submission"
    root.mkdir()
    git(root, "init", "--quiet")
    written("code.py", 5)(root)
    (root / ".gitattributes").write_text("models/weights/**/*.safetensors filter=lfs diff=lfs merge=lfs -text\n")
    commit(root)
    git(root, "tag", "--annotate", "submission-v1", "--message", "v1")
    return root


def written(name: str, size: int, *, committed: bool = True, deleted: bool = False) -> Callable[[Path], None]:
    def plant(root: Path) -> None:
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_bytes(bytes(size))
        if committed:
            commit(root)
        if deleted:
            (root / name).unlink()
            commit(root)

    return plant


def test_all_is_well(tree: Path, checked: Checked) -> None:
    for name in ("clean-tree", "tag", "lfs", "history-size"):
        report = checked(name, tree)
        assert report.findings == [], name
        assert report.skipped is None
    assert checked("tag", tree).note == "submission-v1"


@pytest.mark.parametrize(
    ("check", "plant", "level", "file", "said"),
    [
        ("tag", written("code.py", 6), Level.WARNING, "HEAD", "git tag -a submission-NAME"),
        ("clean-tree", written("notes.txt", 1, committed=False), Level.WARNING, "notes.txt", "not known to git"),
        ("lfs", written("models/größe.bin", 1_001), Level.ERROR, "models/größe.bin", "not in Git LFS"),
        ("history-size", written("picture.png", 1_001), Level.WARNING, "picture.png", "in plain git"),
        ("history-size", written("old.dat", 6_000, deleted=True), Level.ERROR, "old.dat", "still in the history"),
        ("history-size", written("old.dat", 6_000, deleted=True), Level.ERROR, "old.dat", "git lfs migrate import"),
    ],
)
def test_what_git_would_push(
    check: str, plant: Callable[[Path], None], level: Level, file: str, said: str, tree: Path, checked: Checked
) -> None:
    plant(tree)
    (finding,) = checked(check, tree).findings
    assert (finding.level, finding.file) == (level, file)
    assert said in f"{finding.problem} {finding.remedy}"


def test_trees_that_git_cannot_be_asked_about(
    tree: Path, tmp_path: Path, checked: Checked, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tree / "inner").mkdir()
    assert "the repository's root is" in (checked("tag", tree / "inner").skipped or "")
    git(tmp_path, "init", "--quiet")
    assert "no commit yet" in checked("tag", tmp_path).findings[0].problem
    assert checked("history-size", tmp_path).errors == 0
    monkeypatch.setenv("PATH", "/nowhere")
    assert "git cannot be run" in (checked("tag", tree).skipped or "")
