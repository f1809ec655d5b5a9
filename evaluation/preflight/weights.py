"""Checks of the model weights that the preset names."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from agents.settings import needed_weights
from evaluation.preflight.findings import CheckReport, Level, NotApplicableError, Place, one_line, some
from evaluation.preflight.repository import is_pointer
from evaluation.preflight.subject import Subject
from models.fetch import verification_problem
from models.manifest import RECORD_NAME, ModelEntry, cache_folder, recorded_files
from models.needed import NeededFolder

NAMED = 10
"""Most files that are named where they are not committed."""


class NeededModel(NamedTuple):
    """What the preset needs: its key there, its place in the tree, and where it lies on this machine.

    `problem` says why it cannot be loaded from there, `files` is what it consists of (relative to the folder; none
    where `path` is the file), `get` is the remedy for a missing one. `optional`: the agent starts without it.
    """

    key: str
    shown: str
    path: Path
    problem: str | None
    files: list[str]
    get: str
    optional: bool = False


def weights(subject: Subject, found: CheckReport) -> None:
    """Every model that the preset names is in the submission, byte for byte what the manifest says, all committed."""
    models = list(_models(subject))
    if all(model.optional for model in models):
        raise NotApplicableError(f"the preset {subject.preset} loads no weights")
    for model in models:
        _check(subject, model, found)
    subject.hashes.save()
    found.note = f"{len(models)} model(s)"


def unusable(subject: Subject) -> str | None:
    """Why the preset's models cannot be loaded on this machine, or None; whether git has them does not count."""
    needed = (model for model in _models(subject) if not model.optional)
    return next((one_line(model.problem) for model in needed if model.problem), None)


def all_pushed(subject: Subject) -> bool:
    """Whether everything that the preset cannot start without would be pushed; `weights` names what would not."""
    found = CheckReport("weights")
    for model in _models(subject):
        _check(subject, model, found)
    return not found.count(Level.ERROR)


def _models(subject: Subject) -> Iterator[NeededModel]:
    """All that the preset needs, in the tree if it is there, else in this machine's cache."""
    needed = needed_weights(subject.settings, manifest=subject.manifest, repository=subject.root)
    get = f"python -m models.fetch {subject.preset} --to models/weights, then commit it with Git LFS"
    for name, key in (*needed.models.items(), *needed.optional.items()):
        entry = subject.manifest.models[name]
        shown = f"models/weights/{name}"
        folder = subject.root / shown if (subject.root / shown).is_dir() else cache_folder() / name
        problem = verification_problem(entry, folder, subject.hashes.sha256)
        yield NeededModel(key, shown, folder, problem, _files_of(entry, folder), get, name in needed.optional)
    for needed_folder in needed.folders:
        shown = _in_tree(needed_folder.places[0], subject.root)
        without = "write tuned = false into" if needed_folder.kind == "adapter" else "take the key out of"
        made = f"{needed_folder.remedy}; commit {shown}, or {without} the preset"
        problem = needed_folder.problem or _pointers(needed_folder)
        files = sorted(needed_folder.files)
        yield NeededModel(needed_folder.key, shown, needed_folder.path, problem, files, made)


def _in_tree(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)


def _files_of(entry: ModelEntry, folder: Path) -> list[str]:
    """What the manifest, or the record of the fetching, says that the folder holds."""
    record = [RECORD_NAME] if entry.snapshot or entry.conversion else []
    return sorted({*entry.expected, *recorded_files(folder), *record})


def _pointers(folder: NeededFolder) -> str | None:
    pointers = [name for name in folder.files if is_pointer(folder.path / name)]
    return f"a Git LFS pointer, the contents are not here: {some(pointers)}; git lfs pull" if pointers else None


def _check(subject: Subject, model: NeededModel, found: CheckReport) -> None:
    place = Place(subject.preset_file, field=model.key)
    inside = model.path == subject.root / model.shown
    pushed = subject.preset == subject.active_preset and not model.optional
    if model.problem and model.optional:
        found.warning(place, f"{model.shown} is not in the tree, and should be: {one_line(model.problem)}", model.get)
    elif model.problem and not (inside and model.path.exists()):
        found.error(place, f"{model.shown} is not in the tree: {one_line(model.problem, 400)}", model.get)
    elif model.problem:
        remedy = f"git lfs pull; or delete {model.path}, then {model.get}"
        found.error(model.shown, one_line(model.problem, 400), remedy)
    elif not inside:
        add = found.error if pushed else found.warning
        add(place, f"{model.path.name} lies in {model.path}, which is not pushed", model.get)
    elif subject.tracked is not None:
        tracked = set(subject.tracked)
        names = [f"{model.shown}/{name}" for name in model.files] or [model.shown]
        missing = [name.removeprefix(f"{model.shown}/") for name in names if name not in tracked]
        if missing:
            problem = f"is there, but not committed: {some(missing, NAMED)}"
            found.error(model.shown, problem, f"git lfs install && git add {model.shown} && git commit")
