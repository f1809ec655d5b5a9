"""Checks of what git will push: a clean tree, large files in Git LFS, no secrets."""

import re
import shutil
from pathlib import Path

from crag.submission.preflight.subject import (
    Finding,
    Findings,
    Level,
    Subject,
    first_few,
    note,
)

POINTER = b"version https://git-lfs"
POINTER_SIZE = 1024
"""A Git LFS pointer has about 130 bytes; the specification's limit is this."""
LARGE = 20_000_000
"""Maximum bytes of a file in plain git: the adapter that ships has 18.5 MB. Larger files belong to Git LFS."""
WEIGHT_SUFFIXES = (".safetensors", ".bin", ".gguf", ".onnx", ".pt", ".pth", ".ckpt")
LARGEST_TEXT = 2_000_000
"""Bytes of a file that is searched for secrets; larger ones are data and weights."""


def clean_tree(subject: Subject) -> Findings:
    """All changes are committed: only commits are pushed."""
    changed, untracked = subject.uncommitted
    if changed:
        problem = f"{len(changed)} changed file(s) are not committed: {first_few(changed)}"
        yield Finding(
            Level.ERROR,
            changed[0],
            problem,
            "git commit them, or undo the changes",
        )
    if untracked:
        problem = f"{len(untracked)} file(s) are not known to git: {first_few(untracked)}"
        remedy = "git add and commit what the submission needs, put the rest into .gitignore"
        yield Finding(Level.WARNING, untracked[0], problem, remedy)


def lfs(subject: Subject) -> Findings:
    """Weights and other large files are in Git LFS: by rule, in commits, and in the tree."""
    tracked = subject.tracked
    by_rule = _lfs_paths(subject, tracked)
    committed = _committed_sizes(subject)

    # The rule must exist before weights do: an example path shows it
    if not _lfs_paths(subject, ["models/weights/any/model.safetensors"]):
        rule = "models/weights/**/*.safetensors filter=lfs diff=lfs merge=lfs -text"
        yield Finding(Level.ERROR, ".gitattributes", "does not send weights to Git LFS", f"add the line: {rule}")

    for path in tracked:
        finding = _find_lfs_fault(subject, path, committed.get(path, 0), is_in_lfs=path in by_rule)
        if finding is not None:
            yield finding

    if by_rule and shutil.which("git-lfs") is None:
        problem = f"git-lfs is not installed, and {len(by_rule)} file(s) need it: the push would send only pointers"
        yield Finding(Level.ERROR, ".gitattributes", problem, "apt install git-lfs, then git lfs install")
    yield note(f"{len(by_rule)} file(s) in Git LFS")


def _find_lfs_fault(subject: Subject, path: str, size: int, *, is_in_lfs: bool) -> Finding | None:
    """What is wrong with a file of `size` committed bytes: the most serious only, or None."""
    migrate = f"git lfs install && git lfs migrate import --include='{path}' --everything; this rewrites history"
    if not is_in_lfs and size > LARGE:
        return Finding(Level.ERROR, path, f"has {size:,} bytes and is not in Git LFS", migrate)
    if is_in_lfs and size > POINTER_SIZE:
        problem = f"was committed with its {size:,} bytes, not as a pointer: git-lfs did not run"
        return Finding(Level.ERROR, path, problem, migrate)

    may_be_pointer = is_in_lfs or path.endswith(WEIGHT_SUFFIXES)
    if may_be_pointer and is_pointer(subject.root / path):
        problem = "is a Git LFS pointer: the contents are not here"
        return Finding(Level.ERROR, path, problem, "git lfs install && git lfs pull")
    return None


def is_pointer(path: Path) -> bool:
    """Whether a file is a Git LFS pointer."""
    if not path.is_file() or path.stat().st_size >= POINTER_SIZE:
        return False
    return path.read_bytes().startswith(POINTER)


def _lfs_paths(subject: Subject, paths: list[str]) -> set[str]:
    """The paths that .gitattributes sends to Git LFS."""
    listed = "\0".join(paths) + "\0"
    output = subject.git("check-attr", "-z", "--stdin", "filter", stdin=listed)
    fields = output.split("\0")  # path, attribute, value; path, attribute, value; ...
    values = zip(fields[0::3], fields[2::3], strict=False)
    return {path for path, value in values if value == "lfs"}


def _committed_sizes(subject: Subject) -> dict[str, int]:
    """Path -> bytes of its content in git; of a file in Git LFS this is the pointer."""
    # A line of ls-files: mode, blob, stage, a tab, path.
    lines = list(filter(None, subject.git("ls-files", "-s", "-z").split("\0")))
    blobs = "\n".join(line.split()[1] for line in lines) + "\n"
    sizes = subject.git("cat-file", "--batch-check=%(objectsize)", stdin=blobs).splitlines()

    size_by_path: dict[str, int] = {}
    for line, size in zip(lines, sizes, strict=False):
        _, _, path = line.partition("\t")
        if size.strip().isdecimal():  # "missing" for a submodule
            size_by_path[path] = int(size)
    return size_by_path


_TOKENS = {
    "a Hugging Face token": r"\bhf_[A-Za-z0-9]{30,}",
    "a GitHub token": r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{60,})",
    "a GitLab token": r"\bglpat-[\w-]{20,}",
    "an API key": r"(?<![\w-])sk-(?:proj-|ant-)?[A-Za-z0-9_-]{32,}|\bAIza[\w-]{35}",
    "an AWS key": r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    "a Slack token": r"\bxox[abprs]-[\w-]{20,}",
    "a private key": r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----",
}
_ENV_SECRETS = {
    "a secret for the environment": r"""(?imx)
        ^[ \t]*(?:export\ +)?                         # a comment or another command is not an assignment
        \w*(?:KEY|TOKEN|SECRET|PASSWORD)\w*\ *=\ *
        ['"]?[^\s'"\#]                                # not an empty value, as in an example, nor only a comment
    """
}


def _legible(content: bytes) -> str:
    """A file's text for a search in ASCII, without a byte order mark: UTF-8, or UTF-16 as PowerShell writes it."""
    # In UTF-16 the characters of ASCII have a zero byte beside them
    text = content.replace(b"\0", b"").decode("utf-8", errors="replace")
    return text.lstrip("\N{BOM}\N{REPLACEMENT CHARACTER}")


def secrets(subject: Subject) -> Findings:
    """No token, private key or filled .env is among the files that git has or would add. No secret is shown."""
    remedy = "remove it, also from the history (git filter-repo), revoke it, and read it from the environment"
    # Untracked files too: the next `git add` may take them
    for name in sorted({*subject.tracked, *subject.uncommitted.untracked}):
        path = subject.root / name
        if not path.is_file() or path.is_symlink() or path.stat().st_size > LARGEST_TEXT:
            continue

        patterns = _TOKENS
        # Only in .env files: elsewhere "TOKEN = ..." is usually code
        if path.name.startswith(".env") and path.suffix not in {".example", ".template", ".sample"}:
            patterns = _TOKENS | _ENV_SECRETS
        text = _legible(path.read_bytes())
        for kind, pattern in patterns.items():
            for match in re.finditer(pattern, text):
                # Place and kind are enough; the secret itself must not reach a log
                line = text.count("\n", 0, match.start()) + 1
                yield Finding(Level.ERROR, f"{name}:{line}", f"has {kind}", remedy)
