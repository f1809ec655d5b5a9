"""Checks of the model weights that the preset names."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from agents.settings import needed_weights
from evaluation.preflight.findings import CheckReport, NotApplicableError, one_line, some
from evaluation.preflight.repository import is_pointer
from evaluation.preflight.subject import Subject
from models.fetch import verification_problem
from models.manifest import RECORD_NAME, cache_folder, recorded_files

NAMED = 10
"""Maximum number of uncommitted files that are named."""


class NeededModel(NamedTuple):
    """A model that the preset needs: its key, its place in the tree, and its place on this machine.

    `problem` says why it cannot be loaded, `files` are its files (relative to the folder; none if `path` is the file),
    `get` is the remedy if it is missing. `optional`: the agent starts without it.
    """

    key: str
    shown: str
    path: Path
    problem: str | None
    files: list[str]
    get: str
    optional: bool = False


def weights(subject: Subject, found: CheckReport) -> None:
    """The submission has every model of the preset, identical to the manifest and committed."""
    models = list(_models(subject))
    if all(model.optional for model in models):
        raise NotApplicableError(f"the preset {subject.preset} loads no weights")
    for model in models:
        _check(subject, model, found)
    subject.hashes.save()
    found.note = f"{len(models)} model(s)"


def unusable(subject: Subject) -> str | None:
    """Why the preset's weights are unusable, or None.

    The active preset needs what git would push; a preset that is only rehearsed, what this machine has.
    """
    models = list(_models(subject))
    if subject.preset == subject.active_preset:
        found = CheckReport("weights")
        for model in models:
            _check(subject, model, found)
        return "weights are missing, broken or not in git: see the weights check" if found.errors else None
    broken = any(model.problem and not model.optional for model in models)
    return "weights are missing or broken: see the weights check" if broken else None


def _models(subject: Subject) -> Iterator[NeededModel]:
    needed = needed_weights(subject.settings, manifest=subject.manifest, repository=subject.root)
    get = f"python -m models.fetch {subject.preset} --to models/weights, then commit it with Git LFS"
    for name, key in (*needed.models.items(), *needed.optional.items()):
        entry = subject.manifest.models[name]
        shown = f"models/weights/{name}"
        folder = subject.root / shown if (subject.root / shown).is_dir() else cache_folder() / name
        problem = verification_problem(entry, folder, subject.hashes.sha256)
        record = [RECORD_NAME] if entry.snapshot or entry.conversion else []
        files = sorted({*entry.expected, *recorded_files(folder), *record})
        yield NeededModel(key, shown, folder, problem, files, get, name in needed.optional)
    for made in needed.folders:
        place = made.places[0]
        shown = place.relative_to(subject.root).as_posix() if place.is_relative_to(subject.root) else str(place)
        without = "write tuned = false into" if made.kind == "adapter" else "remove the key from"
        get = f"{made.remedy}; commit {shown}, or {without} the preset"
        problem = made.problem
        if pointers := [name for name in made.files if is_pointer(made.path / name)]:
            problem = f"a Git LFS pointer, the contents are not here: {some(pointers)}; git lfs pull"
        yield NeededModel(made.key, shown, made.path, problem, sorted(made.files), get)


def _check(subject: Subject, model: NeededModel, found: CheckReport) -> None:
    preset, key, shown = subject.preset_file, model.key, model.shown
    inside = model.path == subject.root / shown
    if model.problem and model.optional:
        problem = f"{shown} is not in the tree, but should be: {one_line(model.problem)}"
        found.warning(preset, problem, model.get, field=key)
    elif model.problem and not (inside and model.path.exists()):
        found.error(preset, f"{shown} is not in the tree: {one_line(model.problem, 400)}", model.get, field=key)
    elif model.problem:
        found.error(shown, one_line(model.problem, 400), f"git lfs pull; or delete {model.path}, then {model.get}")
    elif not inside:
        add = found.error if subject.preset == subject.active_preset and not model.optional else found.warning
        add(preset, f"{model.path.name} is in {model.path}, which is not pushed", model.get, field=key)
    elif subject.tracked is not None:
        names = [f"{shown}/{name}" for name in model.files] or [shown]
        missing = [name.removeprefix(f"{shown}/") for name in names if name not in set(subject.tracked)]
        if missing:
            problem = f"is there, but not committed: {some(missing, NAMED)}"
            found.error(shown, problem, f"git lfs install && git add {shown} && git commit")
