"""Checks of what git will push: tag, clean tree, Git LFS, sizes."""

import shutil
from pathlib import Path

from evaluation.preflight.findings import CheckReport, NotApplicableError, one_line, some
from evaluation.preflight.subject import GitError, Subject

TAG_PREFIX = "submission-"
POINTER = b"version https://git-lfs"
POINTER_SIZE = 1024
"""A Git LFS pointer has about 130 bytes; the specification's limit is this."""
LARGE = 5_000_000
"""Maximum bytes of a file in plain git in this project; larger files belong to Git LFS."""
REFUSED = 50_000_000
"""Bytes of one file at which a push will probably fail; the server does not publish its limit."""
WEIGHT_SUFFIXES = (".safetensors", ".bin", ".gguf", ".onnx", ".pt", ".pth", ".ckpt")


def _need_git(subject: Subject) -> None:
    if subject.no_git:
        raise NotApplicableError(subject.no_git)


def clean_tree(subject: Subject, found: CheckReport) -> None:
    """All changes are committed: only commits are pushed."""
    _need_git(subject)
    changed, unknown = subject.uncommitted
    if changed:
        problem = f"{len(changed)} changed file(s) are not committed: {some(changed)}"
        found.error(changed[0], problem, "git commit them, or undo the changes; only commits are pushed")
    if unknown:
        problem = f"{len(unknown)} file(s) are not known to git: {some(unknown)}"
        found.warning(unknown[0], problem, "git add and commit what the submission needs, put the rest into .gitignore")


def tag(subject: Subject, found: CheckReport) -> None:
    """HEAD has an annotated tag submission-*, which starts the evaluation."""
    _need_git(subject)
    form = "--format=%(refname:short) %(objecttype)"
    try:
        tags = subject.git("for-each-ref", "--points-at", "HEAD", form, f"refs/tags/{TAG_PREFIX}*").splitlines()
    except GitError as error:
        found.error(".git", f"there is no commit yet: {one_line(error)}", "git add and commit")
        return
    for name, kind in (line.split() for line in tags):
        if kind != "tag":
            remedy = f"git tag -d {name} && git tag -a {name} -m '{name}'"
            found.error(f"tag {name}", "is a lightweight tag, which does not start an evaluation", remedy)
    if not tags:
        remedy = f"when all other checks pass: git tag -a {TAG_PREFIX}NAME -m NAME && git push origin {TAG_PREFIX}NAME"
        found.warning("HEAD", f"has no tag {TAG_PREFIX}*, and only a tag starts an evaluation", remedy)
    found.note = "; ".join(line.split()[0] for line in tags)


def lfs(subject: Subject, found: CheckReport) -> None:
    """Weights and other large files are in Git LFS: by rule, in commits, and in the tree."""
    _need_git(subject)
    tracked = subject.tracked or []
    weights = {path for path in tracked if path.startswith("models/") and path.endswith(WEIGHT_SUFFIXES)}
    by_rule = _lfs_paths(subject, tracked)
    committed = _committed_sizes(subject)
    if not _lfs_paths(subject, ["models/weights/any/model.safetensors"]):
        rule = "models/weights/**/*.safetensors filter=lfs diff=lfs merge=lfs -text"
        found.error(".gitattributes", "does not send weights to Git LFS", f"add the line: {rule}")
    for path in sorted(by_rule | weights | {path for path in tracked if committed.get(path, 0) > LARGE}):
        size = committed.get(path, 0)
        if path not in by_rule and size > LARGE:
            found.error(path, f"has {size:,} bytes and is not in Git LFS", _migrate(path))
        elif path in by_rule and size > POINTER_SIZE:
            problem = f"was committed with its {size:,} bytes, not as a pointer: git-lfs did not run"
            found.error(path, problem, _migrate(path))
        elif is_pointer(subject.root / path):
            problem = "is a Git LFS pointer: the contents are not here"
            found.error(path, problem, "git lfs install && git lfs pull")
    if by_rule and shutil.which("git-lfs") is None:
        problem = f"git-lfs is not installed, and {len(by_rule)} file(s) need it: the push would send only pointers"
        found.error(".gitattributes", problem, "install git-lfs (apt install git-lfs), then git lfs install")
    found.note = f"{len(by_rule)} file(s) in Git LFS"


def _migrate(path: str) -> str:
    return f"git lfs install && git lfs migrate import --include='{path}' --everything; this rewrites history"


def is_pointer(path: Path) -> bool:
    """Whether a file is a Git LFS pointer."""
    return path.is_file() and path.stat().st_size < POINTER_SIZE and path.read_bytes().startswith(POINTER)


def _lfs_paths(subject: Subject, paths: list[str]) -> set[str]:
    if not paths:
        return set()
    said = subject.git("check-attr", "-z", "--stdin", "filter", stdin="\0".join(paths) + "\0").split("\0")
    return {path for path, value in zip(said[0::3], said[2::3], strict=False) if value == "lfs"}


def _committed_sizes(subject: Subject) -> dict[str, int]:
    lines = [line for line in subject.git("ls-files", "-s", "-z").split("\0") if line]
    blobs = "\n".join(line.split()[1] for line in lines) + "\n"
    sizes = subject.git("cat-file", "--batch-check=%(objectsize)", stdin=blobs).splitlines()
    pairs = zip(lines, sizes, strict=False)
    return {line.split("\t", 1)[1]: int(size) for line, size in pairs if size.strip().isdecimal()}


def history_size(subject: Subject, found: CheckReport) -> None:
    """The history has no large files: deleted files are still pushed ("pack exceeds maximum allowed size")."""
    _need_git(subject)
    try:
        objects = subject.git("rev-list", "--objects", "HEAD")
    except GitError:
        return  # no commit yet: the tag check reports it
    lines = subject.git("cat-file", "--batch-check=%(objecttype) %(objectsize) %(rest)", stdin=objects).splitlines()
    blobs = [line.split(" ", 2) for line in lines if line.startswith("blob ")]
    sizes = sorted(((int(size), path) for _, size, path in blobs), reverse=True)
    for size, path in sizes:
        if size < LARGE:
            break
        gone = "" if (subject.root / path).is_file() else "; deleted, but still in the history"
        add = found.error if size >= REFUSED else found.warning
        add(path, f"{size:,} bytes in plain git{gone}", _migrate(path))
