"""The run card: a JSON file beside an output, with its inputs, settings and figures."""

import hashlib
import platform
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any, Self

from agents.common.files import write_json
from evaluation.datasets import DatasetError, dataset_files, joined_files
from evaluation.runner import machine

CARD_FILE = "run_card.json"


def file_hash(path: Path) -> str:
    """sha256 of a file, or of its joined parts."""
    with joined_files(path, dataset_files(path)) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class RunCard:
    """The card of a run that starts now, in a folder that is made if needed."""

    folder: Path
    started: float = field(default_factory=time.monotonic)

    @classmethod
    def beside(cls, out: Path) -> Self:
        """The card of a file: ``pairs/`` for ``pairs.jsonl``; `DatasetError` if the folder cannot be made."""
        folder = out.with_suffix("")
        if out.is_dir() or folder == out or (folder.exists() and not folder.is_dir()):
            raise DatasetError(
                f"--out {out}: use a new name such as {out}.jsonl, because a folder like {out}/ gets the run card"
            )
        return cls(folder)

    @property
    def seconds(self) -> float:
        """The time since the start."""
        return time.monotonic() - self.started

    def write(
        self,
        data: Mapping[str, Path],
        settings: Mapping[str, Any],
        metrics: Mapping[str, Any],
        packages: Sequence[str] = ("numpy",),
    ) -> Path:
        """Write everything that the run depended on, the reproducible parts first; return the card's path.

        `data` maps roles to files; the card has their names, sizes and sha256, never their paths. `packages` are listed
        with their versions.
        """
        content = {
            "data": {role: _about(path) for role, path in data.items()},
            "settings": settings,
            "metrics": metrics,
            "versions": {"python": platform.python_version(), **_versions(packages)},
            "hardware": machine(),
            "seconds": round(self.seconds, 1),
            "finished": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        }
        write_json(self.folder / CARD_FILE, content)
        return self.folder / CARD_FILE


def _about(path: Path) -> dict[str, Any]:
    size = sum(part.stat().st_size for part in dataset_files(path))
    return {"name": path.name, "bytes": size, "sha256": file_hash(path)}


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
