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
        assert report.outcome.findings == (), name
        assert report.outcome.skipped is None
    assert checked("tag", tree).outcome.note == "submission-v1; not known to be pushed"


def test_a_tag_of_an_older_commit_starts_nothing_for_head(tree: Path, checked: Checked) -> None:
    (tree / "code.py").write_text("pass  # more\n")
    commit(tree)
    (finding,) = checked("tag", tree).outcome.findings
    assert finding.level is Level.WARNING
    assert "git tag -a submission-NAME" in finding.remedy


def test_what_is_known_of_the_push(tree: Path, tmp_path: Path, checked: Checked) -> None:
    git(tmp_path, "init", "--quiet", "--bare", "there")
    git(tree, "remote", "set-url", "--push", "aicrowd", str(tmp_path / "there"))
    git(tree, "push", "--quiet", "aicrowd", "HEAD:refs/heads/main")
    git(tree, "update-ref", "refs/remotes/aicrowd/main", "HEAD")
    assert "pushed to aicrowd/main" in checked("tag", tree).outcome.note


def test_a_repository_without_commits(tmp_path: Path, checked: Checked) -> None:
    git(tmp_path, "init", "--quiet")
    assert "no commit yet" in checked("tag", tmp_path).outcome.findings[0].problem
    assert checked("history-size", tmp_path).errors == 0


def test_new_files_are_a_warning(tree: Path, checked: Checked) -> None:
    (tree / "notes.txt").write_text("x")
    (finding,) = checked("clean-tree", tree).outcome.findings
    assert finding.level is Level.WARNING
    assert finding.place.file == "notes.txt"


def test_a_name_with_an_accent_is_read_as_it_is(tree: Path, checked: Checked) -> None:
    (tree / "models").mkdir()
    (tree / "models" / "größe.bin").write_bytes(bytes(repository.LARGE + 1))
    commit(tree)
    assert checked("lfs", tree).outcome.findings[0].place.file == "models/größe.bin"


def test_sizes_between_the_limits_are_a_warning(tree: Path, checked: Checked) -> None:
    (tree / "picture.png").write_bytes(bytes(repository.LARGE + 1))
    commit(tree)
    (finding,) = checked("history-size", tree).outcome.findings
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
    (finding,) = checked("history-size", tree).outcome.findings
    assert finding.level is Level.ERROR
    assert "it is deleted, but the history still has it" in finding.problem
    assert "git lfs migrate import" in finding.remedy


def test_a_tree_inside_another_repository_is_not_judged_by_it(tree: Path, checked: Checked) -> None:
    (tree / "inner").mkdir()
    assert "the repository's root is" in (checked("tag", tree / "inner").outcome.skipped or "")


def test_without_git_installed(tree: Path, checked: Checked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert "git cannot be run" in (checked("tag", tree).outcome.skipped or "")
