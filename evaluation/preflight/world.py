"""An empty world: only what git would push, without home, caches and network, so that nothing on the developer's
machine hides a gap.
"""

import json
import os
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from shutil import copyfile
from typing import NamedTuple

from evaluation.preflight.guard.sitecustomize import GUARD_VARIABLE
from models.needed import NeededWeights

GUARD = Path(__file__).with_name("guard")
INHERITED = ("PATH", "TMPDIR", "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "OMP_NUM_THREADS")
"""Variables kept in an empty world: paths of programs and temporary files. Neither HOME nor caches."""
WEIGHTS = "models/weights/"
MOUNTED = (WEIGHTS, "models/adapters/")
"""Not in the image: it is in the checkout that the evaluator mounts."""
LARGE = 5_000_000
"""Files from this size on are linked instead of copied."""


class Refused(NamedTuple):
    """What processes of an empty world were refused: hosts that they contacted, files that they wrote."""

    network: list[str]
    writes: list[str]


def guarded(
    log: Path,
    *,
    hidden: Path,
    root: Path | None = None,
    allowed: Sequence[tuple[str, int]] = (),
    loopback: bool = True,
) -> dict[str, str]:
    """Variables that put Python and its children under watch; `refused` reads the resulting `log`, outside `root`.

    `hidden` is the checkout, whose modules must not be imported beside the copy's. `root` must not be written.
    `allowed` are the reachable hosts and ports; `loopback` allows processes of this machine.
    """
    request = {
        "log": str(log.absolute()), "hidden": [str(hidden)], "root": str(root) if root else None,
        "allowed": list(allowed), "loopback": loopback,
    }  # fmt: skip
    return {GUARD_VARIABLE: json.dumps(request), "PYTHONPATH": str(GUARD), "PYTHONDONTWRITEBYTECODE": "1"}


def refused(log: Path) -> Refused | None:
    """What was refused or written; None if the guard did not run."""
    if not log.is_file():
        return None
    noted: dict[str, list[str]] = {"network": [], "writes": []}
    for line in log.read_text(encoding="utf-8").splitlines():
        kind, what = json.loads(line)
        noted[kind].append(what)
    return Refused(**noted)


def empty_environment(home: Path) -> dict[str, str]:
    """The variables of a process without the user's home, caches, tokens and proxies."""
    home.mkdir(parents=True, exist_ok=True)
    passed = {name: os.environ[name] for name in INHERITED if name in os.environ}
    return passed | {"HOME": str(home), "HF_HUB_OFFLINE": "1", "LANG": "C.UTF-8", "PYTHONNOUSERSITE": "1"}


def copy_tracked(root: Path, tracked: Iterable[str], target: Path) -> None:
    """Copy the tracked files of the tree; large ones, such as weights, are linked."""
    for name in tracked:
        source, copy = root / name, target / name
        if not source.is_file() and not source.is_symlink():
            continue  # deleted, or a submodule: the check of the clean tree reports it
        copy.parent.mkdir(parents=True, exist_ok=True)
        if source.is_symlink():
            copy.symlink_to(source.readlink())
        elif source.stat().st_size > LARGE:
            copy.symlink_to(source.resolve())
        else:
            copyfile(source, copy)
            copy.chmod(source.stat().st_mode)


class Mounted(NamedTuple):
    """The result of `mount`: what came from outside of git, and what was not found."""

    not_in_git: list[str]
    missing: list[str]


def mount(
    needed: NeededWeights,
    repository: Path,
    tracked: Collection[str] | None,
    target: Path,
    *,
    cache: Path,
    first: Path | None = None,
) -> Mounted:
    """Link a preset's weights into a copy of the tree, where `models.fetch --to models/weights` puts them.

    Sources, in order: `first` (models by name, the rest by paths in the repository); the repository, of which only
    tracked files are linked, unless git tracks none of a folder (`tracked` None: git is unusable, and all files count);
    the `cache` of fetched models.
    """
    not_in_git, missing = [], []
    shown = {f"{WEIGHTS}{name}": cache / name for name in (*needed.models, *needed.optional)}
    for folder in needed.folders:
        if folder.places[0].is_relative_to(repository):
            shown[folder.places[0].relative_to(repository).as_posix()] = folder.places[-1]
    optional = {f"{WEIGHTS}{name}" for name in needed.optional}
    for path, elsewhere in shown.items():
        given = [first / path.removeprefix(WEIGHTS)] if first else []
        source = next((place for place in (*given, repository / path, elsewhere) if place.exists()), None)
        if source is None:
            missing += [] if path in optional else [path]
            continue
        files = _files(source)
        if source == repository / path:
            known = [name for name in files if tracked is None or f"{path}/{name}".removesuffix("/.") in tracked]
            not_in_git += [] if known else [path]
            if known and not path.startswith(MOUNTED):
                continue  # the image has it, or should have it
            files = known or files
        elif source not in given:
            not_in_git.append(path)
        for name in files:
            _link(source / name, target / path / name)
    return Mounted(not_in_git, missing)


def _files(place: Path) -> list[str]:
    """Paths of the files in a folder; "." for a file itself."""
    if place.is_file():
        return ["."]
    return sorted(path.relative_to(place).as_posix() for path in place.rglob("*") if path.is_file())


def _link(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    target.symlink_to(source.resolve())
