"""Hashes of weights, remembered from one check and one call to the next."""

import json
import logging
from pathlib import Path
from typing import Any

from agents.files import write_whole
from models.fetch import sha256_of

HASHES = "preflight-hashes.json"
"""In the cache of models: hashes of files that have not changed since, by path, size and time of change."""


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
        digest = sha256_of(path, lambda _: None)
        self._known[str(path.resolve())] = [*stamp, digest]
        return digest

    def save(self) -> None:
        """Keep what was computed; without a cache the next call computes it again."""
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self._file, json.dumps(self._known).encode())
        except OSError as error:
            logging.getLogger(__name__).warning("%s: hashes are not kept: %s", self._file, error.strerror)


def _read_object(file: Path) -> dict[str, Any]:
    try:
        value = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}
