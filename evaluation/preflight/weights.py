"""Checks of the model weights that the preset names."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from agents.settings import needed_weights
from evaluation.preflight.findings import Findings, Level, Outcome, Place, one_line, skipped, some
from evaluation.preflight.repository import is_pointer
from evaluation.preflight.subject import Subject
from models.fetch import verification_problem
from models.manifest import RECORD_NAME, ModelEntry, cache_folder, recorded_files
from models.needed import NeededFolder

NAMED = 10
"""So many files that are not committed are named; a model has seldom more."""


class Model(NamedTuple):
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


def weights(subject: Subject) -> Outcome:
    """Every model that the preset names is in the submission, byte for byte what the manifest says, all committed."""
    if isinstance(subject.settings, str):
        return skipped("the preset cannot be loaded")
    found = Findings()
    if isinstance(subject.manifest, str):
        found.error("models/manifest.toml", one_line(subject.manifest), "correct it; models/manifest.py tells the form")
        return found.outcome()
    models = list(_models(subject))
    if all(model.optional for model in models):
        return skipped(f"the preset {subject.preset} loads no weights")
    for model in models:
        _check(subject, model, found)
    subject.hashes.save()
    return found.outcome(note=f"{len(models)} model(s)")


def unusable(subject: Subject) -> str | None:
    """Why the preset's models cannot be loaded on this machine, or None; whether git has them is not asked."""
    if isinstance(subject.manifest, str):
        return one_line(subject.manifest)
    needed = (model for model in _models(subject) if not model.optional)
    return next((one_line(model.problem) for model in needed if model.problem), None)


def all_pushed(subject: Subject) -> bool:
    """Whether everything that the preset cannot start without would be pushed; `weights` says what would not."""
    return not any(finding.level is Level.ERROR for finding in weights(subject).findings)


def _models(subject: Subject) -> Iterator[Model]:
    """All that the preset needs, in the tree if it is there, else in this machine's cache."""
    if isinstance(subject.settings, str) or isinstance(subject.manifest, str):
        return
    needed = needed_weights(subject.settings, manifest=subject.manifest, repository=subject.root)
    get = f"python -m models.fetch {subject.preset} --to models/weights, then commit it with Git LFS"
    for name, key in (*needed.models.items(), *needed.optional.items()):
        entry = subject.manifest.models[name]
        shown = f"models/weights/{name}"
        folder = subject.root / shown if (subject.root / shown).is_dir() else cache_folder() / name
        problem = verification_problem(entry, folder, subject.hashes.sha256)
        yield Model(key, shown, folder, problem, _files_of(entry, folder), get, name in needed.optional)
    for needed_folder in needed.folders:
        shown = _in_tree(needed_folder.places[0], subject.root)
        without = "write tuned = false into" if needed_folder.kind == "adapter" else "take the key out of"
        made = f"{needed_folder.remedy}; commit {shown}, or {without} the preset"
        problem = needed_folder.problem or _pointers(needed_folder)
        files = sorted(needed_folder.files)
        yield Model(needed_folder.key, shown, needed_folder.path, problem, files, made)


def _in_tree(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)


def _files_of(entry: ModelEntry, folder: Path) -> list[str]:
    """What the manifest, or the record of the fetching, says that the folder holds."""
    record = [RECORD_NAME] if entry.snapshot or entry.conversion else []
    return sorted({*entry.expected, *recorded_files(folder), *record})


def _pointers(folder: NeededFolder) -> str | None:
    pointers = [name for name in folder.files if is_pointer(folder.path / name)]
    return f"a Git LFS pointer, the contents are not here: {some(pointers)}; git lfs pull" if pointers else None


def _check(subject: Subject, model: Model, found: Findings) -> None:
    place = Place(subject.preset_file, field=model.key)
    inside = model.path == subject.root / model.shown
    pushed = subject.preset == subject.active_preset and not model.optional
    if model.problem and model.optional:
        found.warning(place, f"{model.shown} is not in the tree, and better were: {one_line(model.problem)}", model.get)
    elif model.problem and not (inside and model.path.exists()):
        found.error(place, f"{model.shown} is not in the tree: {one_line(model.problem, 400)}", model.get)
    elif model.problem:
        found.error(
            model.shown, one_line(model.problem, 400), f"git lfs pull; or delete {model.path}, then {model.get}"
        )
    elif not inside:
        say = found.error if pushed else found.warning
        say(place, f"{model.path.name} lies in {model.path}, which is not pushed", model.get)
    elif subject.tracked is not None:
        tracked = set(subject.tracked)
        names = [f"{model.shown}/{name}" for name in model.files] or [model.shown]
        missing = [name.removeprefix(f"{model.shown}/") for name in names if name not in tracked]
        if missing:
            problem = f"is there, but not committed: {some(missing, NAMED)}"
            found.error(model.shown, problem, f"git lfs install && git add {model.shown} && git commit")
