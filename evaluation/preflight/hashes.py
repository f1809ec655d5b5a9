"""Hashes of weights, remembered from one check and one call to the next."""

import json
import sys
from pathlib import Path
from typing import Any

from tqdm import tqdm

from agents.files import write_whole
from models.fetch import sha256_of

HASHES = "preflight-hashes.json"
"""In the cache of models: hashes of files that have not changed since, by path, size and time of change."""
SHOWN_FROM = 100_000_000
"""Bytes from which hashing a file shows its progress, on a terminal."""


class HashMemory:
    """sha256 of files, computed again only where size or time of change differ."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._known: dict[str, list[Any]] = _read_object(file)

    def sha256(self, path: Path) -> str:
        """The hexadecimal sha256 of a file."""
        state = path.stat()
        stamp = [state.st_size, state.st_mtime_ns]
        known = self._known.get(str(path.resolve()), [])
        if known[:2] == stamp:
            return str(known[2])
        with tqdm(
            total=state.st_size, desc=f"sha256 {path.name}", unit="B", unit_scale=True, file=sys.stderr, leave=False,
            disable=True if state.st_size < SHOWN_FROM else None,
        ) as bar:  # fmt: skip
            digest = sha256_of(path, bar.update)
        self._known[str(path.resolve())] = [*stamp, digest]
        return digest

    def save(self) -> None:
        """Keep what was computed; a cache that cannot be written costs the next call its time, nothing else."""
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self._file, json.dumps(self._known).encode())
        except OSError as error:
            sys.stderr.write(f"{self._file}: hashes are not kept: {error.strerror}\n")


def _read_object(file: Path) -> dict[str, Any]:
    try:
        value = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}
