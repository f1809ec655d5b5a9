"""Verdicts of a language model that were paid for once, in a file that runs share."""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agents.files import append_rows
from evaluation.judge.base import Claim, JudgeUnavailableError


def default_cache_file() -> Path:
    """In the user's cache folder."""
    folder = os.environ.get("XDG_CACHE_HOME", "").strip() or Path.home() / ".cache"
    return Path(folder) / "crag-judge" / "verdicts.jsonl"


def content_key(judge: str, claim: Claim) -> str:
    """sha256 over all that a verdict depends on: judge, engine, model, rubric, question, golds and prediction."""
    parts = [judge, claim.query, list(claim.golds), claim.prediction]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


class VerdictCache:
    """JSON lines ``{key, correct, judge}``, appended and synced row by row; several evaluators may append at once.

    Lines that cannot be read, such as one torn by a crash, are skipped. Without a path nothing is kept on disk.

    Raises:
        JudgeUnavailableError: the file cannot be opened for reading and writing.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._verdicts: dict[str, bool] = {}
        if path is None:
            return
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("a+b") as stream:
                stream.seek(0)
                self._verdicts = dict(filter(None, map(_verdict, stream)))
        except OSError as error:
            raise _unusable(path, error) from error

    def __len__(self) -> int:
        return len(self._verdicts)

    def get(self, key: str) -> bool | None:
        """Correct or not, or None if it was never judged."""
        return self._verdicts.get(key)

    def put(self, verdicts: Mapping[str, bool], judge: str) -> None:
        """Keep verdicts; they are on disk when this returns.

        Raises:
            JudgeUnavailableError: the file cannot be written, as on a full disk.
        """
        self._verdicts.update(verdicts)
        if self._path is None or not verdicts:
            return
        try:
            append_rows(self._path, ({"key": key, "correct": right, "judge": judge} for key, right in verdicts.items()))
        except OSError as error:
            raise _unusable(self._path, error) from error


def _unusable(path: Path, error: OSError) -> JudgeUnavailableError:
    return JudgeUnavailableError(
        f"{path}: the cache of verdicts cannot be used ({error.strerror}); --judge-cache names another file, or none"
    )


def _verdict(line: bytes) -> tuple[str, bool] | None:
    try:
        row: Any = json.loads(line)
    except ValueError:
        return None
    if isinstance(row, dict) and isinstance(row.get("key"), str) and isinstance(row.get("correct"), bool):
        return row["key"], row["correct"]
    return None
