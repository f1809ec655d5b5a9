"""The checked submission: its tree, task and preset."""

import json
import logging
import shutil
import subprocess
import tempfile
import tomllib
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from agents.common.files import write_whole
from agents.settings import Settings, SettingsError, load_settings
from evaluation.preflight.challenges import CHALLENGES
from evaluation.preflight.findings import NotApplicableError
from evaluation.preflight.world import copy_tracked
from models.fetch import sha256_of
from models.manifest import Manifest, cache_folder, parse_manifest

ACTIVE = "agents/presets/active.toml"
"""Names the evaluator's preset."""
GIT_SECONDS = 120.0
"""Time limit of one git command; walking a history of many gigabytes takes a while."""


HASHES = "preflight-hashes.json"
"""In the cache of models: hashes of unchanged files, by path, size and modification time."""


class GitError(RuntimeError):
    """A git command failed; the message is git's."""


class HashMemory:
    """sha256 of files, recomputed only after a change of size or modification time."""

    def __init__(self, file: Path) -> None:
        self._file = file
        try:
            self._known: dict[str, list[Any]] = json.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            self._known = {}

    def sha256(self, path: Path) -> str:
        """The hexadecimal sha256 of a file."""
        state, key = path.stat(), str(path.resolve())
        stamp = [state.st_size, state.st_mtime_ns]
        if self._known.get(key, [])[:2] != stamp:
            self._known[key] = [*stamp, sha256_of(path)]
        return str(self._known[key][2])

    def save(self) -> None:
        """Save the hashes; without a cache the next call recomputes them."""
        try:
            write_whole(self._file, json.dumps(self._known).encode())
        except OSError as error:
            logging.getLogger(__name__).warning("%s: hashes are not saved: %s", self._file, error.strerror)


@dataclass(frozen=True)
class Subject:
    """A tree with its task and preset. Files are read when a check needs them.

    `asked_task` and `asked_preset` come from the command line; by default `aicrowd.json` and
    `agents/presets/active.toml` decide, as for the evaluator.
    """

    root: Path
    asked_task: str | None = None
    asked_preset: str | None = None

    def text(self, name: str) -> str | None:
        """A file of the tree as text, or None if it is missing; invalid UTF-8 is replaced."""
        path = self.root / name
        return path.read_bytes().decode("utf-8", "replace") if path.is_file() else None

    @cached_property
    def description(self) -> dict[str, Any]:
        """`aicrowd.json`; raises NotApplicableError."""
        try:
            value = json.loads((self.root / "aicrowd.json").read_text(encoding="utf-8-sig"))
        except (OSError, ValueError) as error:
            raise NotApplicableError(f"aicrowd.json cannot be read: {error}") from None
        if not isinstance(value, dict):
            raise NotApplicableError(f"aicrowd.json holds {type(value).__name__} where an object is expected")
        return value

    @cached_property
    def task(self) -> str | None:
        """``task1``, ``task2`` or ``task3``: the requested task, else that of `aicrowd.json`, or None."""
        try:
            return self.asked_task or self.named_task
        except NotApplicableError:
            return None

    @property
    def named_task(self) -> str | None:
        """The task of the challenge in `aicrowd.json`."""
        challenge = self.description.get("challenge_id")
        return next((task for task, known in CHALLENGES.items() if known == challenge), None)

    @cached_property
    def active_preset(self) -> str | None:
        """The evaluator's preset, or None if `active.toml` names none."""
        try:
            name = tomllib.loads(self.text(ACTIVE) or "").get("preset")
        except tomllib.TOMLDecodeError:
            return None
        return name if isinstance(name, str) else None

    @property
    def preset(self) -> str | None:
        """The checked preset: the requested one, else the active one."""
        return self.asked_preset or self.active_preset

    @property
    def preset_file(self) -> str:
        """The preset's file, relative to the tree."""
        return f"agents/presets/{self.preset}.toml" if self.preset else ACTIVE

    @cached_property
    def settings(self) -> Settings:
        """The settings of the preset; raises NotApplicableError."""
        if self.preset is None:
            raise NotApplicableError(f'no line like preset = "submission" in {ACTIVE}')
        try:
            return load_settings(self.root / self.preset_file, [])
        except SettingsError as error:
            raise NotApplicableError(f"the preset cannot be loaded: {error}") from None

    @cached_property
    def manifest(self) -> Manifest:
        """`models/manifest.toml` of the tree; raises NotApplicableError."""
        try:
            return parse_manifest((self.root / "models" / "manifest.toml").read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise NotApplicableError(f"models/manifest.toml cannot be read: {error}") from None

    @cached_property
    def hashes(self) -> HashMemory:
        """Hashes of weights, shared by all checks."""
        return HashMemory(cache_folder() / HASHES)

    @cached_property
    def no_git(self) -> str | None:
        """Why git cannot be used for this tree, or None."""
        try:
            top = Path(self.git("rev-parse", "--show-toplevel").strip())
        except GitError as error:
            return f"git failed: {error}"
        return None if top.resolve() == self.root.resolve() else f"the repository's root is {top}"

    def git(self, *arguments: str, stdin: str | None = None) -> str:
        """The output of a git command that only reads; raises GitError."""
        command = ["git", "-c", "core.quotepath=off", *arguments]
        try:
            done = subprocess.run(  # noqa: S603 - a list of arguments, no shell
                command, cwd=self.root, input=stdin, capture_output=True, text=True, check=False,
                encoding="utf-8", errors="replace", timeout=GIT_SECONDS,
            )  # fmt: skip
        except OSError as error:
            raise GitError(f"git cannot be run: {error.strerror}") from None
        except subprocess.TimeoutExpired:
            raise GitError(f"git {arguments[0]} took longer than {GIT_SECONDS:g} s") from None
        if done.returncode != 0:
            raise GitError(" ".join(done.stderr.split()) or f"git {arguments[0]} failed")
        return done.stdout

    @cached_property
    def tracked(self) -> list[str] | None:
        """Files that git tracks, relative to the tree; None without git."""
        return None if self.no_git else [path for path in self.git("ls-files", "-z").split("\0") if path]

    @property
    def uncommitted(self) -> tuple[list[str], list[str]]:
        """Changed files, and files that git does not track."""
        lines = self.git("status", "--porcelain").splitlines()
        unknown = [line[3:] for line in lines if line.startswith("??")]
        return [line[3:] for line in lines if not line.startswith("??")], unknown

    @cached_property
    def pushed(self) -> Path:
        """A copy of what git tracks, or the tree itself without git. Deleted with this subject."""
        if self.tracked is None:
            return self.root.resolve()
        folder = Path(tempfile.mkdtemp(prefix="pushed-")).resolve()
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        copy_tracked(self.root, self.tracked, folder)
        return folder

    def files(self, *patterns: str) -> list[str]:
        """Files of the tree that match the glob patterns; only tracked ones if git works."""
        known = set(self.tracked) if self.tracked is not None else None
        found = {path.relative_to(self.root).as_posix() for pattern in patterns for path in self.root.glob(pattern)}
        return sorted(
            name
            for name in found
            if (self.root / name).is_file() and "__pycache__" not in name and (known is None or name in known)
        )


def strings(value: Any) -> Iterator[str]:  # noqa: ANN401 - a value of TOML
    """All texts in a TOML value, at any depth."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from strings(item)
