"""Checks of the model weights that the preset names, in the copy of what git would push."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from agents.settings import needed_weights
from evaluation.preflight.repository import is_pointer
from evaluation.preflight.subject import Finding, Findings, Level, NotApplicableError, Subject, note, one_line, some
from models.fetch import verification_problem
from models.manifest import cache_folder


class NeededPart(NamedTuple):
    """A model, adapter, classifier or calibration of the preset: its key, its place in the tree, where else it may lie
    on this machine, and the remedy if it is missing. `optional`: the agent starts without it.
    """

    key: str
    shown: str
    elsewhere: Path
    get: str
    problem: str | None
    optional: bool = False


def weights(subject: Subject) -> Findings:
    """The submission has every model of the preset, identical to the manifest and committed."""
    parts = list(_parts(subject))
    if all(part.optional for part in parts):
        raise NotApplicableError(f"the preset {subject.preset} loads no weights")
    is_active = subject.preset == subject.active_preset
    for part in parts:
        if part.problem:
            level = Level.ERROR if is_active and not part.optional else Level.WARNING
            here = next((place for place in (subject.root / part.shown, part.elsewhere) if place.exists()), None)
            remedy = f"{part.get}; on this machine it is in {here}" if here else part.get
            problem = f"{part.shown}, as git would push it: {one_line(part.problem, 400)}"
            yield Finding(level, f"{subject.preset_file}, field {part.key}", problem, remedy)
    yield note(f"{len(parts)} model(s)")


def _parts(subject: Subject) -> Iterator[NeededPart]:
    root, cache = subject.pushed, cache_folder()
    needed = needed_weights(subject.settings, manifest=subject.manifest, repository=root, cache=root / "no-cache")
    fetch = f"python -m models.fetch {subject.preset} --to models/weights, then git lfs install, git add and git commit"
    for name, key in (*needed.models.items(), *needed.optional.items()):
        shown = f"models/weights/{name}"
        problem = verification_problem(subject.manifest.models[name], root / shown)
        yield NeededPart(key, shown, cache / name, fetch, problem, name in needed.optional)
    for made in needed.folders:
        place, problem = made.places[0], made.problem
        shown = place.relative_to(root).as_posix() if place.is_relative_to(root) else str(place)
        if pointers := [name for name in made.files if is_pointer(place / name)]:
            problem = f"a Git LFS pointer, the contents are not here: {some(pointers)}; git lfs pull"
        without = "write tuned = false into" if made.kind == "adapter" else "remove the key from"
        get = f"{made.remedy}; commit {shown}, or {without} the preset"
        yield NeededPart(made.key, shown, cache / made.name, get, problem)
