"""The checked submission (its tree, task and preset), and the findings of checks."""

import enum
import json
import os
import shutil
import subprocess
import tempfile
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from crag.core.files import parse_toml
from crag.core.log_lines import one_line
from crag.settings import Settings, SettingsError, load_settings
from crag.submission.preflight import CHALLENGES
from crag.weights.manifest import Manifest, ManifestError, read_manifest

DESCRIPTION = "aicrowd.json"
"""The file that names the challenge."""
ACTIVE = "agents/active.toml"
"""The file that names the preset."""
LARGE = 5_000_000
"""Bytes: a copy links files from this size on, such as weights."""
GIT_SECONDS = 120.0
"""Time limit of one git command."""
_HOOK_VARIABLES = frozenset({
    "GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
})  # fmt: skip
"""What git sets for a hook, perhaps of another repository; it would go before the folder in which git is started."""


class NotApplicableError(Exception):
    """The check does not apply here; the message says why."""


class Level(enum.StrEnum):
    """`ERROR`: has lost submissions, do not push. `WARNING`: look at it. `NOTE`: a fact for the table."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Finding(NamedTuple):
    """One problem, where it is (file, line, field), and how to correct it."""

    level: Level
    place: str
    problem: str
    remedy: str = ""


Findings = Iterator[Finding]


def note(text: str) -> Finding:
    """A fact that the table shows."""
    return Finding(Level.NOTE, "", text)


def first_few(names: list[str]) -> str:
    """The first three of many names.

    >>> first_few(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more'
    """
    first_names = ", ".join(names[:3])
    other_count = len(names) - 3
    return f"{first_names} and {other_count} more" if other_count > 0 else first_names


class UncommittedFiles(NamedTuple):
    """Files that differ from the last commit, and files that git does not track."""

    changed: list[str]
    untracked: list[str]


@dataclass(frozen=True)
class Subject:
    """A tree with its task and preset. Files are read when a check needs them.

    `asked_task` and `asked_preset` come from the command line; by default `aicrowd.json` and
    `agents/active.toml` decide, as for the evaluator.
    """

    root: Path
    asked_task: str | None = None
    asked_preset: str | None = None

    @cached_property
    def description(self) -> dict[str, Any]:
        """`aicrowd.json`; raises NotApplicableError."""
        try:
            # Some editors on Windows write a byte order mark
            value = json.loads((self.root / DESCRIPTION).read_text(encoding="utf-8-sig"))
        except FileNotFoundError:
            raise NotApplicableError(f"{DESCRIPTION} is missing") from None
        except (OSError, ValueError, RecursionError) as error:
            raise NotApplicableError(f"{DESCRIPTION} cannot be read: {error}") from None
        if not isinstance(value, dict):
            raise NotApplicableError(f"{DESCRIPTION} holds {type(value).__name__} where an object is expected")
        return value

    @property
    def task(self) -> str | None:
        """``task1``, ``task2`` or ``task3``: the requested task, else that of `aicrowd.json`, or None."""
        if self.asked_task:
            return self.asked_task

        try:
            challenge = self.description.get("challenge_id")
        except NotApplicableError:
            return None
        for task, challenge_id in CHALLENGES.items():
            if challenge_id == challenge:
                return task
        return None

    @cached_property
    def active_preset(self) -> str | None:
        """The evaluator's preset, or None if `active.toml` names none."""
        try:
            name = parse_toml((self.root / ACTIVE).read_bytes()).get("preset")
        except (OSError, ValueError):
            return None
        return name if isinstance(name, str) else None

    @property
    def preset(self) -> str | None:
        """The checked preset: the requested one, else the active one."""
        return self.asked_preset or self.active_preset

    @property
    def preset_file(self) -> str:
        """The preset's file, relative to the tree: of a shipped preset, or of one that is named by its path."""
        if self.preset and self.preset.endswith(".toml"):
            return self.preset
        return f"crag/presets/{self.preset}.toml" if self.preset else ACTIVE

    @cached_property
    def settings(self) -> Settings:
        """The settings of the preset; raises NotApplicableError."""
        if self.preset is None:
            raise NotApplicableError(f'no line like preset = "submission" in {ACTIVE}')
        if not (self.root / self.preset_file).is_file():
            raise NotApplicableError(f"the preset cannot be loaded: there is no file {self.preset_file}")
        try:
            return load_settings(self.root / self.preset_file, [])
        except SettingsError as error:
            raise NotApplicableError(f"the preset cannot be loaded: {error}") from None

    @cached_property
    def manifest(self) -> Manifest:
        """`crag/weights/manifest.toml` of the tree; raises NotApplicableError."""
        try:
            return read_manifest(self.root / "crag" / "weights" / "manifest.toml")
        except ManifestError as error:
            raise NotApplicableError(str(error)) from None

    def git(self, *arguments: str, stdin: str | None = None) -> str:
        """The output of a git command that only reads; raises NotApplicableError."""
        # Else git writes a name with an umlaut as "\303\274"
        command = ["git", "-c", "core.quotepath=off", *arguments]
        try:
            completed = subprocess.run(  # noqa: S603 - a list of arguments, no shell
                command,
                cwd=self.root,
                input=stdin,
                capture_output=True,
                text=True,
                check=False,
                encoding="utf-8",
                errors="replace",
                timeout=GIT_SECONDS,
                env={name: value for name, value in os.environ.items() if name not in _HOOK_VARIABLES},
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise NotApplicableError(f"git cannot be run: {error}") from None

        if completed.returncode != 0:
            raise NotApplicableError(f"git failed: {one_line(completed.stderr)}")
        return completed.stdout

    @cached_property
    def tracked(self) -> list[str]:
        """Files that git tracks, relative to the tree; raises NotApplicableError."""
        top = Path(self.git("rev-parse", "--show-toplevel").strip())
        # A folder inside another repository: git would answer about that one
        if top.resolve() != self.root.resolve():
            raise NotApplicableError(f"the repository's root is {top}")
        # Separated by zero bytes, since a name may hold a line break
        listed = self.git("ls-files", "-z").split("\0")
        return [path for path in listed if path]

    @property
    def uncommitted(self) -> UncommittedFiles:
        """What git would not push; raises NotApplicableError."""
        _ = self.tracked  # raises if the tree is only a part of a repository

        changed: list[str] = []
        untracked: list[str] = []
        for line in self.git("status", "--porcelain", "--untracked-files=all").splitlines():
            # Two letters of state and a blank precede the path.
            if line.startswith("??"):
                untracked.append(line[3:])
            else:
                changed.append(line[3:])
        return UncommittedFiles(changed, untracked)

    @cached_property
    def pushed(self) -> Path:
        """A copy of what git tracks, or the tree itself without git. Deleted with this subject."""
        try:
            tracked = self.tracked
        except NotApplicableError:
            return self.root

        # A finaliser deletes it, since the copy outlives every single check
        folder = Path(tempfile.mkdtemp(prefix="pushed-")).resolve()
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)

        for name in tracked:
            source = self.root / name
            copy = folder / name
            if not source.is_file():
                continue  # deleted, or a submodule: the check of the clean tree reports it
            copy.parent.mkdir(parents=True, exist_ok=True)
            if source.stat().st_size > LARGE:
                copy.symlink_to(source.resolve())
            else:
                shutil.copy2(source, copy, follow_symlinks=False)
        return folder
