"""Checks of the model weights that the preset names."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from agents.settings import Settings
from evaluation.preflight.findings import Findings, Outcome, Place, one_line, skipped, some
from evaluation.preflight.repository import is_pointer
from evaluation.preflight.subject import Subject
from models.fetch import verification_problem
from models.manifest import RECORD_NAME, ModelEntry, cache_folder, recorded_files

ADAPTER_KEY = "language_model.adapters."
ADAPTER_DESCRIPTION = "adapter_config.json"
NAMED = 10
"""So many files that are not committed are named; a model has seldom more."""


class Model(NamedTuple):
    """A model of the preset: its key there, its folder in the tree, the folder where it lies on this machine.

    `problem` says why it cannot be loaded from there, `files` (relative to the folder) is what it consists of, `get` is
    the remedy for a missing one.
    """

    key: str
    shown: str
    folder: Path
    problem: str | None
    files: list[str]
    get: str


def weights(subject: Subject) -> Outcome:
    """Every model that the preset names is in the submission, byte for byte what the manifest says, all committed."""
    if isinstance(subject.settings, str):
        return skipped("the preset cannot be loaded")
    found = Findings()
    if isinstance(subject.manifest, str):
        found.error("models/manifest.toml", one_line(subject.manifest), "correct it; models/manifest.py tells the form")
        return found.outcome()
    models = list(_models(subject))
    if not models:
        return skipped(f"the preset {subject.preset} loads no weights")
    for model in models:
        _check(subject, model, found)
    subject.hashes.save()
    return found.outcome(note=f"{len(models)} model(s)")


def unusable(subject: Subject) -> str | None:
    """Why the preset's models cannot be loaded on this machine, or None; whether git has them is not asked."""
    if isinstance(subject.manifest, str):
        return one_line(subject.manifest)
    return next((one_line(model.problem) for model in _models(subject) if model.problem), None)


def models_of(settings: Settings) -> Iterator[tuple[str, str]]:
    """Key in the preset and name of each model: base model, adapters, encoders, classifiers."""
    model = settings.language_model
    if model.engine in {"transformers", "vllm"}:
        yield "language_model.model", model.model
        for adapter, name in model.adapters.items():
            yield f"{ADAPTER_KEY}{adapter}", name
    for key, encoder in (("dense_encoder", settings.dense_encoder), ("cross_encoder", settings.cross_encoder)):
        if encoder is not None:
            yield f"{key}.model", encoder.model
    if settings.router is not None and settings.router.engine == "encoder":
        for name in settings.router.classifiers:
            yield f"router.classifiers.{name}", f"models/routers/{name}"


def _models(subject: Subject) -> Iterator[Model]:
    """Each model of the preset, in the tree if it is there, else in this machine's cache."""
    if isinstance(subject.settings, str) or isinstance(subject.manifest, str):
        return
    for key, name in models_of(subject.settings):
        entry = subject.manifest.models.get(name)
        shown = f"models/weights/{name}" if entry else name
        inside = subject.root / shown
        folder = inside if inside.is_dir() else cache_folder() / Path(name).name
        if entry is not None:
            problem = verification_problem(entry, folder, subject.hashes.sha256)
            get = f"python -m models.fetch {name} --to models/weights, then commit it with Git LFS"
            yield Model(key, shown, folder, problem, _files_of(entry, folder), get)
        else:
            files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
            get = f"commit {name} with its .safetensors, or take the key out of the preset"
            yield Model(key, shown, folder, _folder_problem(folder, files, key), files, get)


def _files_of(entry: ModelEntry, folder: Path) -> list[str]:
    """What the manifest, or the record of the fetching, says that the folder holds."""
    record = [RECORD_NAME] if entry.snapshot or entry.conversion else []
    return sorted({*entry.expected, *recorded_files(folder), *record})


def _folder_problem(folder: Path, files: list[str], key: str) -> str | None:
    """Why an adapter or classifier, which the tree holds under a path of its own, cannot be loaded, or None."""
    if not any(name.endswith(".safetensors") for name in files):
        return f"there are no weights in {folder}"
    if key.startswith(ADAPTER_KEY) and ADAPTER_DESCRIPTION not in files:
        return f"there is no {ADAPTER_DESCRIPTION} in {folder}"
    pointers = [name for name in files if is_pointer(folder / name)]
    return f"a Git LFS pointer, the contents are not here: {some(pointers)}; git lfs pull" if pointers else None


def _check(subject: Subject, model: Model, found: Findings) -> None:
    place = Place(subject.preset_file, field=model.key)
    inside = model.folder == subject.root / model.shown
    if model.problem and not inside:
        found.error(place, f"{model.shown} is not in the tree: {one_line(model.problem, 400)}", model.get)
    elif model.problem:
        found.error(
            model.shown, one_line(model.problem, 400), f"git lfs pull; or delete {model.folder}, then {model.get}"
        )
    elif not inside:
        say = found.error if subject.preset == subject.active_preset else found.warning
        say(place, f"{model.folder.name} lies in {model.folder}, which is not pushed", model.get)
    elif subject.tracked is not None:
        tracked = set(subject.tracked)
        missing = [name for name in model.files if f"{model.shown}/{name}" not in tracked]
        if missing:
            problem = f"is there, but not committed: {some(missing, NAMED)}"
            found.error(model.shown, problem, f"git lfs install && git add {model.shown} && git commit")
