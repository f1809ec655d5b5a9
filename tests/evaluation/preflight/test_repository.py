from pathlib import Path

import pytest

from evaluation.preflight import repository
from evaluation.preflight.findings import Level
from tests.evaluation.preflight.conftest import Checked, commit, git


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A repository with one commit, an annotated tag and a place to submit to."""
    root = tmp_path / "submission"
    root.mkdir()
    git(root, "init", "--quiet")
    (root / "code.py").write_text("pass\n")
    (root / ".gitattributes").write_text("models/weights/**/*.safetensors filter=lfs diff=lfs merge=lfs -text\n")
    commit(root)
    git(root, "tag", "--annotate", "submission-v1", "--message", "v1")
    git(root, "remote", "add", "aicrowd", "git@gitlab.aicrowd.com:ada/crag.git")
    return root


def test_all_is_well(tree: Path, checked: Checked) -> None:
    for name in ("clean-tree", "tag", "lfs", "history-size"):
        report = checked(name, tree)
        assert report.findings == [], name
        assert report.skipped is None
    assert checked("tag", tree).note == "submission-v1"


def test_a_tag_of_an_older_commit_starts_nothing_for_head(tree: Path, checked: Checked) -> None:
    (tree / "code.py").write_text("pass  # more\n")
    commit(tree)
    (finding,) = checked("tag", tree).findings
    assert finding.level is Level.WARNING
    assert "git tag -a submission-NAME" in finding.remedy


def test_a_repository_without_commits(tmp_path: Path, checked: Checked) -> None:
    git(tmp_path, "init", "--quiet")
    assert "no commit yet" in checked("tag", tmp_path).findings[0].problem
    assert checked("history-size", tmp_path).errors == 0


def test_new_files_are_a_warning(tree: Path, checked: Checked) -> None:
    (tree / "notes.txt").write_text("x")
    (finding,) = checked("clean-tree", tree).findings
    assert finding.level is Level.WARNING
    assert finding.place.file == "notes.txt"


def test_a_name_with_an_accent_is_read_as_it_is(tree: Path, checked: Checked) -> None:
    (tree / "models").mkdir()
    (tree / "models" / "größe.bin").write_bytes(bytes(repository.LARGE + 1))
    commit(tree)
    assert checked("lfs", tree).findings[0].place.file == "models/größe.bin"


def test_sizes_between_the_limits_are_a_warning(tree: Path, checked: Checked) -> None:
    (tree / "picture.png").write_bytes(bytes(repository.LARGE + 1))
    commit(tree)
    (finding,) = checked("history-size", tree).findings
    assert finding.level is Level.WARNING


def test_a_large_file_that_was_deleted_is_still_pushed(
    tree: Path, checked: Checked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repository, "LARGE", 1_000)
    monkeypatch.setattr(repository, "REFUSED", 5_000)
    (tree / "old.dat").write_bytes(bytes(6_000))
    commit(tree)
    (tree / "old.dat").unlink()
    commit(tree)
    (finding,) = checked("history-size", tree).findings
    assert finding.level is Level.ERROR
    assert "it is deleted, but the history still has it" in finding.problem
    assert "git lfs migrate import" in finding.remedy


def test_a_tree_inside_another_repository_is_not_judged_by_it(tree: Path, checked: Checked) -> None:
    (tree / "inner").mkdir()
    assert "the repository's root is" in (checked("tag", tree / "inner").skipped or "")


def test_without_git_installed(tree: Path, checked: Checked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert "git cannot be run" in (checked("tag", tree).skipped or "")
