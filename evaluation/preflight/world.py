"""An empty world: what git would push and nothing else, no home, no caches, no network.

There nothing of a developer's machine hides what a submission lacks.
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
"""What is the same in an empty world: where programs and temporary files lie. Neither HOME nor any cache."""
WEIGHTS = "models/weights/"
MOUNTED = (WEIGHTS, "models/adapters/")
"""What no image holds: it is in the checkout that the evaluator mounts."""
LARGE = 5_000_000
"""Bytes from which a file is linked instead of copied."""


class Refused(NamedTuple):
    """What processes of an empty world were not allowed to do: hosts that they asked, files that they wrote."""

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
    """Variables with which Python and its children are watched; `refused` reads what `log`, outside `root`, then holds.

    `hidden` is the checkout, whose modules are not to be imported beside those of its copy; into `root` nothing may be
    written; `allowed` hosts and ports may be asked, and with `loopback` processes of this machine.
    """
    request = {
        "log": str(log.absolute()), "hidden": [str(hidden)], "root": str(root) if root else None,
        "allowed": list(allowed), "loopback": loopback,
    }  # fmt: skip
    return {GUARD_VARIABLE: json.dumps(request), "PYTHONPATH": str(GUARD), "PYTHONDONTWRITEBYTECODE": "1"}


def refused(log: Path) -> Refused | None:
    """What was refused or written; None where no process was watched over: the guard did not come up."""
    if not log.is_file():
        return None
    noted: dict[str, list[str]] = {"network": [], "writes": []}
    for line in log.read_text(encoding="utf-8").splitlines():
        kind, what = json.loads(line)
        noted[kind].append(what)
    return Refused(**noted)


def empty_environment(home: Path) -> dict[str, str]:
    """The variables of a process without a home, caches, tokens and proxies of the user."""
    home.mkdir(parents=True, exist_ok=True)
    passed = {name: os.environ[name] for name in INHERITED if name in os.environ}
    return passed | {"HOME": str(home), "HF_HUB_OFFLINE": "1", "LANG": "C.UTF-8", "PYTHONNOUSERSITE": "1"}


def copy_tracked(root: Path, tracked: Iterable[str], target: Path) -> None:
    """Copy the files of the tree that git tracks, as they lie there; large ones, weights above all, are linked."""
    for name in tracked:
        source, copy = root / name, target / name
        if not source.is_file() and not source.is_symlink():
            continue  # deleted, or a submodule: the check of the clean tree says so
        copy.parent.mkdir(parents=True, exist_ok=True)
        if source.is_symlink():
            copy.symlink_to(source.readlink())
        elif source.stat().st_size > LARGE:
            copy.symlink_to(source.resolve())
        else:
            copyfile(source, copy)
            copy.chmod(source.stat().st_mode)


class Mounted(NamedTuple):
    """What `mount` did: what it took from outside of git, and what it found nowhere."""

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
    """Link the weights that a preset needs into a copy of the tree, where `models.fetch --to models/weights` puts them.

    They come from `first` (models by their names, the rest by paths in the repository), else from the repository, of
    which only what git tracks is linked, unless git tracks none of a folder (`tracked` None: git cannot be asked, and
    all counts), else from the `cache` of fetched models.
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
                continue  # the image has it, or should have
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
