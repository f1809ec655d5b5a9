"""Checks of what git will push: tag, clean tree, Git LFS, sizes."""

import shutil
from pathlib import Path
from typing import NamedTuple

from evaluation.preflight.findings import Findings, Outcome, one_line, skipped, some
from evaluation.preflight.subject import GitError, Subject

TAG_PREFIX = "submission-"
HOST = "gitlab.aicrowd.com"
POINTER = b"version https://git-lfs"
POINTER_SIZE = 1024
"""A pointer of Git LFS has about 130 bytes; its specification allows less than this."""
LARGE = 5_000_000
"""Bytes that plain git carries in this project; larger files belong to Git LFS."""
REFUSED = 50_000_000
"""Bytes of one file at which a push has to be expected to fail: the limit of the server's pack is not published."""
LARGE_PACK = 500_000_000
WEIGHT_SUFFIXES = (".safetensors", ".bin", ".gguf", ".onnx", ".pt", ".pth", ".ckpt")


class Blob(NamedTuple):
    """A file's content as git keeps it: its size in bytes, and a path that it has or had."""

    size: int
    path: str


def clean_tree(subject: Subject) -> Outcome:
    """Nothing is changed or forgotten: only what is committed is pushed."""
    if subject.no_git:
        return skipped(subject.no_git)
    found = Findings()
    lines = [line for line in subject.git("status", "--porcelain").splitlines() if line]
    changed = [line[3:] for line in lines if not line.startswith("??")]
    unknown = [line[3:] for line in lines if line.startswith("??")]
    if changed:
        problem = f"{len(changed)} changed file(s) are not committed: {some(changed)}"
        found.error(changed[0], problem, "git commit them, or undo the changes; only commits are pushed")
    if unknown:
        problem = f"{len(unknown)} file(s) are not known to git: {some(unknown)}"
        found.warning(unknown[0], problem, "git add and commit what the submission needs, put the rest into .gitignore")
    return found.outcome()


def tag(subject: Subject) -> Outcome:
    """HEAD has an annotated tag submission-*: without one nothing is evaluated."""
    if subject.no_git:
        return skipped(subject.no_git)
    found = Findings()
    form = "--format=%(refname:short) %(objecttype)"
    try:
        here = subject.git("for-each-ref", "--points-at", "HEAD", form, f"refs/tags/{TAG_PREFIX}*").splitlines()
    except GitError as error:
        found.error(".git", f"there is no commit yet: {one_line(error)}", "git add and commit")
        return found.outcome()
    annotated = [line.split()[0] for line in here if line.endswith(" tag")]
    for line in here:
        name, kind = line.split()
        if kind != "tag":
            remedy = f"git tag -d {name} && git tag -a {name} -m '{name}'"
            found.error(f"tag {name}", "is a lightweight tag, which starts no evaluation", remedy)
    if not here:
        remedy = f"when all else is well: git tag -a {TAG_PREFIX}NAME -m NAME && git push origin {TAG_PREFIX}NAME"
        found.warning("HEAD", f"has no tag {TAG_PREFIX}*, and only a tag starts an evaluation", remedy)
    _check_remote(subject, found)
    return found.outcome(note="; ".join([*annotated, _pushed(subject)]))


def _check_remote(subject: Subject, found: Findings) -> None:
    remotes = subject.git("remote", "-v")
    if HOST not in remotes:
        what = "no remote" if not remotes else "no remote at " + HOST
        remedy = f"git remote add aicrowd git@{HOST}:YOU/REPOSITORY.git"
        found.warning(".git/config", f"{what}: there is nowhere to submit to", remedy)


def _pushed(subject: Subject) -> str:
    """What the last exchange with remotes tells, offline."""
    branches = subject.git("for-each-ref", "--contains", "HEAD", "--format=%(refname:short)", "refs/remotes").split()
    return f"pushed to {some(branches)}, as far as is known here" if branches else "not known to be pushed"


def lfs(subject: Subject) -> Outcome:
    """Weights are in Git LFS: by rule, as committed, and as they lie in the tree."""
    if subject.no_git:
        return skipped(subject.no_git)
    tracked = subject.tracked or []
    weights = [path for path in tracked if path.startswith("models/") and path.endswith(WEIGHT_SUFFIXES)]
    found = Findings()
    by_rule = _lfs_paths(subject, tracked)
    committed = _committed_sizes(subject)
    for path in weights:
        if path not in by_rule and committed.get(path, 0) > LARGE:
            problem = f"has {committed[path]:,} bytes and is not in Git LFS"
            found.error(path, problem, _migrate(path))
    probe = "models/weights/any/model.safetensors"
    if probe not in _lfs_paths(subject, [probe]):
        rule = "models/weights/**/*.safetensors filter=lfs diff=lfs merge=lfs -text"
        found.error(".gitattributes", "does not send weights to Git LFS", f"add the line: {rule}")
    for path in sorted(by_rule.union(weights)):
        if path in by_rule and committed.get(path, 0) > POINTER_SIZE:
            problem = f"was committed with its {committed[path]:,} bytes, not as a pointer: git-lfs did not run"
            found.error(path, problem, _migrate(path))
        elif is_pointer(subject.root / path):
            problem = "is a Git LFS pointer: the contents are not here"
            found.error(path, problem, "git lfs install && git lfs pull")
    if by_rule and shutil.which("git-lfs") is None:
        problem = f"git-lfs is not installed, and {len(by_rule)} file(s) need it: the push would send pointers alone"
        found.error(".gitattributes", problem, "install git-lfs (apt install git-lfs), then git lfs install")
    return found.outcome(note=f"{len(by_rule)} file(s) in Git LFS")


def _migrate(path: str) -> str:
    return f"git lfs install && git lfs migrate import --include='{path}' --everything; it rewrites history, as it must"


def is_pointer(path: Path) -> bool:
    """Whether a file holds a pointer of Git LFS instead of its contents."""
    return path.is_file() and path.stat().st_size < POINTER_SIZE and path.read_bytes().startswith(POINTER)


def _lfs_paths(subject: Subject, paths: list[str]) -> set[str]:
    if not paths:
        return set()
    said = subject.git("check-attr", "-z", "--stdin", "filter", stdin="\0".join(paths) + "\0").split("\0")
    return {path for path, value in zip(said[0::3], said[2::3], strict=False) if value == "lfs"}


def _committed_sizes(subject: Subject) -> dict[str, int]:
    """Path -> bytes as git has them in its index."""
    lines = [line for line in subject.git("ls-files", "-s", "-z").split("\0") if line]
    names = [(line.split("\t", 1)[1], line.split()[1]) for line in lines]
    sizes = subject.git("cat-file", "--batch-check=%(objectsize)", stdin="\n".join(blob for _, blob in names) + "\n")
    return {
        path: int(size) for (path, _), size in zip(names, sizes.splitlines(), strict=False) if size.strip().isdecimal()
    }


def history_size(subject: Subject) -> Outcome:
    """No large file lies in the history: what was deleted is still pushed ("pack exceeds maximum allowed size")."""
    if subject.no_git:
        return skipped(subject.no_git)
    found = Findings()
    for blob in sorted(_blobs_of_history(subject), reverse=True):
        if blob.size < LARGE:
            break
        gone = "" if (subject.root / blob.path).is_file() else "; it is deleted, but the history still has it"
        problem = f"{blob.size:,} bytes in plain git{gone}"
        if blob.size >= REFUSED:
            found.error(blob.path, problem, _migrate(blob.path))
        else:
            found.warning(blob.path, problem, _migrate(blob.path))
    counts = dict(line.split(": ") for line in subject.git("count-objects", "-v").splitlines() if ": " in line)
    kilobytes = int(counts.get("size-pack", 0)) + int(counts.get("size", 0))
    if kilobytes * 1024 > LARGE_PACK:
        problem = f"the repository has {kilobytes / 1024:,.0f} MiB without Git LFS"
        found.warning(".git", problem, "git gc --prune=now; what is large: git lfs migrate info --everything")
    return found.outcome(note=f"{kilobytes / 1024:.0f} MiB without Git LFS")


def _blobs_of_history(subject: Subject) -> list[Blob]:
    """Every file content that HEAD's history has, with one of its paths."""
    try:
        objects = subject.git("rev-list", "--objects", "HEAD")
    except GitError:
        return []  # no commit yet: the check of the tag says so
    lines = subject.git("cat-file", "--batch-check=%(objecttype) %(objectsize) %(rest)", stdin=objects).splitlines()
    parts = [line.split(" ", 2) for line in lines if line.startswith("blob ")]
    return [Blob(int(size), path) for _, size, path in parts]
