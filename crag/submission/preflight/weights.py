"""The check of the weights: every model, adapter and classifier of the preset is in what git will push."""

from collections.abc import Sequence
from typing import NamedTuple

from crag.core.log_lines import one_line
from crag.settings import needed_weights
from crag.submission.preflight.repository import is_pointer
from crag.submission.preflight.subject import (
    Finding,
    Findings,
    Level,
    NotApplicableError,
    Subject,
    first_few,
    note,
)
from crag.weights.fetch import verification_problem
from crag.weights.manifest import cache_folder
from crag.weights.needed import NeededFolder


def weights(subject: Subject) -> Findings:
    """The submission has every model of the preset, identical to the manifest and committed."""
    root = subject.pushed
    needed = needed_weights(
        subject.settings,
        manifest=subject.manifest,
        repository=root,
        # The evaluator has no cache, so that of this machine must not help
        cache=root / "no-cache",
    )
    if not needed.models and not needed.folders:
        raise NotApplicableError(f"the preset {subject.preset} loads no weights")

    fetch = f"crag models fetch {subject.preset} --to models/weights, then git lfs install, git add and git commit"
    for name, key in (*needed.models.items(), *needed.optional.items()):
        path = f"models/weights/{name}"
        problem = verification_problem(subject.manifest.models[name], root / path)
        if problem:
            part = _MissingPart(name, key, path, is_optional=name in needed.optional)
            yield _missing_weights(subject, part, problem, fetch)

    for folder in needed.folders:
        yield from _folder_findings(subject, folder)

    count = len(needed.models) + len(needed.optional) + len(needed.folders)
    yield note(f"{count} model(s); {_adapters_in_words(needed.folders)}")


def _folder_findings(subject: Subject, folder: NeededFolder) -> Findings:
    """Whether the pushed copy has an adapter or a classifier, with its contents."""
    root = subject.pushed
    # The first path is in the repository; others may exist here only
    location = folder.paths[0]
    path = location.relative_to(root).as_posix() if location.is_relative_to(root) else str(location)

    problem = folder.fault
    pointers = [name for name in folder.files if is_pointer(location / name)]
    if pointers:
        problem = f"a Git LFS pointer, the contents are not here: {first_few(pointers)}; git lfs pull"
    if problem:
        without = "write tuned = false as the first line of" if folder.kind == "adapter" else "remove the key from"
        remedy = f"{folder.remedy}; commit {path}, or {without} the preset"
        yield _missing_weights(subject, _MissingPart(folder.name, folder.key, path), problem, remedy)


def _adapters_in_words(folders: Sequence[NeededFolder]) -> str:
    adapters = [folder for folder in folders if folder.kind == "adapter"]
    missing = [folder.name for folder in adapters if folder.problem]
    if missing:
        return f"adapters missing: {', '.join(missing)}; tuned = false pushes the base model alone"
    if adapters:
        return f"tuned: {', '.join(folder.name for folder in adapters)}"
    return "untuned: the base model answers without adapters"


class _MissingPart(NamedTuple):
    """A model, adapter or classifier that the pushed copy lacks: its name, the preset's key for it, and its path."""

    name: str
    key: str
    path: str
    is_optional: bool = False


def _missing_weights(subject: Subject, part: _MissingPart, problem: str, remedy: str) -> Finding:
    """The finding for a missing part; this machine's tree or cache may have it."""
    for candidate in (subject.root / part.path, cache_folder() / part.name):
        if candidate.exists():
            remedy = f"{remedy}; on this machine it is in {candidate}"
            break

    # A purpose, such as "the cut to 75 tokens", is no key of the file
    place = f"field {part.key}" if "." in part.key else f"for {part.key}"
    # The copy has a temporary name, which helps nobody
    problem = problem.replace(f"{subject.pushed}/", "")
    # Another preset is only rehearsed: it will not be submitted
    is_needed = subject.preset == subject.active_preset and not part.is_optional
    return Finding(
        Level.ERROR if is_needed else Level.WARNING,
        f"{subject.preset_file}, {place}",
        f"{part.path}, as git would push it: {one_line(problem, 400)}",
        remedy,
    )
