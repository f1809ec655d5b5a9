"""The run card: a JSON file beside an output, with its inputs, settings and figures."""

import hashlib
import platform
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any

from agents.common.files import write_json
from evaluation.datasets import DatasetError, dataset_files, joined_files
from evaluation.runner import machine

CARD_FILE = "run_card.json"


def file_hash(path: Path) -> str:
    """sha256 of a file, or of its joined parts."""
    with joined_files(path, dataset_files(path)) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()  # type: ignore[arg-type]


def run_card(
    data: Mapping[str, Path],
    settings: Mapping[str, Any],
    seconds: float,
    metrics: Mapping[str, Any],
    packages: Sequence[str] = ("numpy",),
) -> dict[str, Any]:
    """Everything that a run depended on, JSON-ready; the reproducible parts come first.

    `data` maps roles to files; the card has their names, sizes and sha256, never their paths. `packages` are listed
    with their versions.
    """

    def about(path: Path) -> dict[str, Any]:
        size = sum(part.stat().st_size for part in dataset_files(path))
        return {"name": path.name, "bytes": size, "sha256": file_hash(path)}

    return {
        "data": {role: about(path) for role, path in data.items()},
        "settings": dict(settings),
        "metrics": dict(metrics),
        "versions": {"python": platform.python_version(), **_versions(packages)},
        "hardware": machine(),
        "seconds": round(seconds, 1),
        "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def card_folder(out: Path) -> Path:
    """The folder for the run card of a file: ``pairs/`` for ``pairs.jsonl``; `DatasetError` if it cannot be made."""
    folder = out.with_suffix("")
    if out.is_dir() or folder == out or (folder.exists() and not folder.is_dir()):
        raise DatasetError(
            f"--out {out}: use a new name such as {out}.jsonl, because a folder like {out}/ gets the run card"
        )
    return folder


def write_card(folder: Path, card: Mapping[str, Any]) -> Path:
    """Write the card into the folder, which is made if needed; return the card's path."""
    write_json(folder / CARD_FILE, card)
    return folder / CARD_FILE


def count_table(rows: Mapping[str, Mapping[str, int | float | None]]) -> str:
    """A text table of rows with the same columns, for a terminal; None is a dash."""
    columns = list(next(iter(rows.values())))
    lines = [["", *columns]]
    for name, counts in rows.items():
        lines.append([name, *("-" if count is None else f"{count:,}" for count in counts.values())])
    first, *widths = [2 + max(map(len, cells)) for cells in zip(*lines, strict=True)]
    return "\n".join(name.ljust(first) + "".join(map(str.rjust, cells, widths)) for name, *cells in lines)


def _versions(packages: Sequence[str]) -> dict[str, str]:
    found = {}
    for package in packages:
        with suppress(metadata.PackageNotFoundError):
            found[package] = metadata.version(package)
    return found
