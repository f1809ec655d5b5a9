"""What a number depends on, said in one line beside it: without this, two scores cannot be compared."""

import hashlib
import json
import platform
import tomllib
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from agents.datasets import dataset_files
from agents.settings import Settings

WHOLE_FILE_LIMIT = 1 << 30
"""Larger files are known by their first 64 MiB and their size: hashing all of task 3 (7 GB) would delay every start."""

_HEAD = 64 << 20
_ROOT = Path(__file__).parent.parent


def settings_hash(settings: Settings) -> str:
    """12 hexadecimal digits that change with any setting but the description."""
    plain = json.dumps(settings.model_dump(mode="json", exclude={"description"}), sort_keys=True)
    return hashlib.sha256(plain.encode()).hexdigest()[:12]


def dataset_hash(path: Path) -> str:
    """sha256 of the question file or its joined parts, 16 digits; ``head-`` and the size where it is over 1 GiB.

    Page files that the rows point to are not part of it.
    """
    files = dataset_files(path)
    size = sum(file.stat().st_size for file in files)
    digest = hashlib.sha256()
    left = size if size <= WHOLE_FILE_LIMIT else _HEAD
    for file in files:
        with file.open("rb") as stream:
            while left and (block := stream.read(min(left, 1 << 20))):
                digest.update(block)
                left -= len(block)
    short = digest.hexdigest()[:16]
    return short if size <= WHOLE_FILE_LIMIT else f"head-{short}-{size}"


def package_version() -> str:
    """The version in pyproject.toml, or ``unknown`` where only the code was copied."""
    try:
        return str(tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"])
    except (OSError, KeyError, tomllib.TOMLDecodeError):
        return "unknown"


def versions() -> dict[str, str]:
    """Versions of what computes the answers: Python, and torch and transformers if installed."""
    found = {"python": platform.python_version()}
    for name in ("torch", "transformers"):
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "none"
    return found


def signature_line(signature: Mapping[str, Any]) -> str:
    """The signature as one line, ``key:value`` joined by bars, after the manner of sacrebleu."""
    return "|".join(f"{key}:{value}" for key, value in signature.items() if value is not None)
