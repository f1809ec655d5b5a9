"""Checks that nothing secret is pushed: repositories of a challenge are read by others."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from evaluation.preflight.findings import CheckReport
from evaluation.preflight.subject import Subject

LARGEST = 2_000_000
"""Bytes of a file that is read; larger ones are data and weights."""
_TOKENS = {
    "a Hugging Face token": r"\bhf_[A-Za-z0-9]{30,}",
    "a GitHub token": r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{60,})",
    "a GitLab token": r"\bglpat-[\w-]{20,}",
    "an API key": r"(?<![\w-])sk-(?:proj-|ant-)?[A-Za-z0-9_-]{32,}|\bAIza[\w-]{35}",
    "an AWS key": r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    "a Slack token": r"\bxox[abprs]-[\w-]{20,}",
    "a private key": r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----",
}
_SECRET = re.compile("|".join(f"(?P<kind{place}>{token})" for place, token in enumerate(_TOKENS.values())).encode())
_ASSIGNED = re.compile(rb"^\s*(?:export\s+)?\w*(?:KEY|TOKEN|SECRET|PASSWORD)\w*\s*=\s*['\"]?[^\s'\"#]", re.IGNORECASE)
REMEDY = "remove it, also from the history (git filter-repo), revoke it, and read it from the environment"


def secrets(subject: Subject, found: CheckReport) -> None:
    """No token, private key or filled .env is among the files that git has or would add."""
    names = subject.files("**/*", "**/.*") if subject.tracked is None else [*subject.tracked, *subject.uncommitted[1]]
    read = 0
    for name in sorted(set(names)):
        path = subject.root / name
        if path.is_file() and not path.is_symlink() and path.stat().st_size <= LARGEST:
            read += 1
            for line, kind in _secrets_in(name, path.read_bytes()):
                found.error(name, f"has {kind}", REMEDY, line=line)
    found.note = f"{read} files read"


def _secrets_in(name: str, content: bytes) -> Iterator[tuple[int, str]]:
    """Line and kind of each secret; the secret itself is shown to nobody."""
    kinds = list(_TOKENS)
    for match in _SECRET.finditer(content):
        place = next(int(group.removeprefix("kind")) for group, text in match.groupdict().items() if text)
        yield content.count(b"\n", 0, match.start()) + 1, kinds[place]
    file = PurePosixPath(name).name
    if file == ".env" or (file.startswith(".env.") and not file.endswith((".example", ".template", ".sample"))):
        for number, line in enumerate(content.splitlines(), start=1):
            if _ASSIGNED.match(line):
                yield number, "a secret for the environment"
