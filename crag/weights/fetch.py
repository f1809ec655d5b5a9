"""Downloads weights, verifies their sha256 and converts them."""

import errno
import json
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from crag.weights import sources
from crag.weights.manifest import (
    RECORD_NAME,
    BuiltFile,
    Conversion,
    Group,
    ModelEntry,
    PinnedFile,
    UnknownModelError,
    cache_folder,
    find_altered_file,
    first_problem,
    is_stand_in,
    load_manifest,
    recorded_files,
    sha256_of,
)
from crag.weights.needed import NeededFolder, needed_weights
from crag.weights.preset_files import available_presets, read_preset
from crag.weights.sources import FetchError, is_whole

CONVERTERS = {
    "gguf-to-huggingface": ("crag.weights.conversion.gguf_to_huggingface", "convert"),
    "gguf-to-int8": ("crag.weights.conversion.gguf_to_huggingface", "convert_int8"),
    "llama-tokenizer-js": ("crag.weights.conversion.llama_tokenizer_js", "convert_llama_2"),
    "llama-3-tokenizer-js": ("crag.weights.conversion.llama_tokenizer_js", "convert_llama_3"),
}
"""Name in the manifest -> module and function (file, folder) that builds the model's folder."""

_OTHER_FOLDER = "choose another folder with CRAG_MODELS_DIR"


def verification_problem(entry: ModelEntry, folder: Path) -> str | None:
    """Why `folder` differs from the model, or None.

    Downloaded files are compared with the manifest's sha256, converted and snapshot files with those of their arrival.
    """
    problem = first_problem(entry, folder)
    if problem:
        return problem
    if is_stand_in(folder):
        return _stand_in_problem(folder)

    # What was converted here has no pinned hash: libraries may format it differently
    expected = {path: str(facts["sha256"]) for path, facts in recorded_files(folder).items()}
    if entry.conversion is None:
        expected.update({file.path: file.sha256 for file in entry.files})
    if not expected:
        return f"{folder} has no {RECORD_NAME} to compare with"

    for path, sha256 in expected.items():
        file = folder / path
        if not file.is_file():
            return f"{file} is missing"
        if sha256_of(file) != sha256:
            return f"{file} does not have sha256 {sha256}"
    return None


def _stand_in_problem(folder: Path) -> str:
    return f"{folder} is a stand-in with random weights: delete it"


def fetch_model(name: str, root: Path, *, float16: bool = False) -> Path:
    """The complete, verified folder of model `name` below `root`, fetched if missing.

        fetch_model("bge-small-en-v1.5", cache_folder())

    `float16`: of a model that is stored as int8 also the weights that other engines and training read.
    Raises FetchError: one message for all sources that were tried.
    """
    try:
        entry = load_manifest().model(name)
        if float16 and entry.conversion == "gguf-to-int8":
            entry = _with_float16(entry)
        return _fetch(entry, root / name)
    except OSError as error:
        # A quota is a full disk too, for this user
        disk_is_full = error.errno in {errno.ENOSPC, errno.EDQUOT}
        advice = "choose another folder with CRAG_MODELS_DIR or --to"
        if disk_is_full:
            advice = f"free disk space, or {advice}"
        raise FetchError(f"{name}: {error}; {advice}") from error
    except FetchError as error:
        raise FetchError(f"{name}: {error}") from error


def is_here(name: str, root: Path, *, float16: bool = False) -> bool:
    """Whether the folder of model `name` below `root` is complete and unaltered, so that nothing has to be written."""
    entry = load_manifest().model(name)
    if float16 and entry.conversion == "gguf-to-int8":
        entry = _with_float16(entry)
    folder = root / name
    return not is_stand_in(folder) and _is_complete(entry, folder)


def _with_float16(entry: ModelEntry) -> ModelEntry:
    built = (*entry.built, BuiltFile(path="model.safetensors"))
    # The other converter writes both forms, so the int8 files stay as they are
    return entry.model_copy(update={"conversion": "gguf-to-huggingface", "built": built})


def _fetch(entry: ModelEntry, folder: Path) -> Path:
    if is_stand_in(folder):
        # Never replaced silently: someone may be testing with it
        raise FetchError(_stand_in_problem(folder))
    if _is_complete(entry, folder):
        print(f"{entry.name}: already here ({folder})")
        return folder

    # In a folder beside it: an interrupted fetch goes on there, and `folder` is always whole.
    staging = folder.with_name(f".{folder.name}.incoming")
    staging.mkdir(parents=True, exist_ok=True)
    _fill(entry, staging, exclude=folder)

    # A converter may finish and still have written less than the manifest lists
    problem = first_problem(entry, staging)
    if problem:
        raise FetchError(problem)

    shutil.rmtree(folder, ignore_errors=True)
    staging.rename(folder)
    print(f"{entry.name}: ready ({folder})")
    return folder


def _is_complete(entry: ModelEntry, folder: Path) -> bool:
    """Whether the folder holds the model unaltered.

    Files are hashed on arrival; later, comparing sizes makes a second call instant.
    """
    # Without a record, such as of a folder that was copied by hand, every file is hashed
    has_record = bool(recorded_files(folder))
    problem = find_altered_file(folder) if has_record else verification_problem(entry, folder)
    return problem is None and first_problem(entry, folder) is None


def _fill(entry: ModelEntry, staging: Path, exclude: Path) -> None:
    """Bring the model's files into `staging`: from the cache, unless that is the folder `exclude`, or from a source."""
    # `--to` another folder: what the cache has already need not be downloaded again
    cached = cache_folder() / entry.name
    if cached != exclude and verification_problem(entry, cached) is None:
        _copy(entry, cached, staging)
        print(f"{entry.name}: copied from {cached}")
    elif entry.snapshot:
        _download_snapshot(entry, staging)
    elif entry.conversion:
        _convert(entry, entry.conversion, staging)
    else:
        source_by_path = {file.path: _deliver(entry, file, staging) for file in entry.files}
        write_record(staging, source_by_path)


def _copy(entry: ModelEntry, cached: Path, staging: Path) -> None:
    """Copy the files of the model, and nothing else: engines and other fetches leave gigabytes beside them."""
    records = recorded_files(cached)
    paths = records if entry.snapshot else entry.expected
    for path in paths:
        target = staging / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(cached / path, target)

    sources_by_path = {path: str(records[path].get("source", "")) for path in paths if path in records}
    write_record(staging, sources_by_path, f"a copy of {entry.name} in the cache")


def _download_snapshot(entry: ModelEntry, staging: Path) -> None:
    """Fill `staging` with the files of a hub repository that match the model's patterns."""
    hub = entry.hub
    if hub is None or sources.hub_problem() is not None:
        raise FetchError(f"exists only on the hub, and {sources.hub_problem()}")

    try:
        sources.download_from_hub(hub, entry.snapshot, staging)
    except FetchError as error:
        # Only for a gated model is the licence a likely reason
        if not entry.gated:
            raise
        licence_page = f"https://huggingface.co/{hub.repository}"
        raise FetchError(f"{error} (gated: accept the licence at {licence_page} and log in)") from error

    print(f"{entry.name}: WARNING: its sha256 are not pinned; trusting {hub.source} on first use")
    write_record(staging, {}, hub.source)


def _convert(entry: ModelEntry, conversion: Conversion, staging: Path) -> None:
    """Fill `staging` with what a converter makes of the first pinned file."""
    # In the cache, not in `staging`, which becomes the model's folder
    raw = downloads_folder() / f"{entry.name}.raw"
    for file in entry.files:
        _deliver(entry, file, raw)
    source = raw / entry.files[0].path

    print(f"converting {source.name}")
    module, function = CONVERTERS[conversion]
    try:
        converter = getattr(import_module(module), function)
        converter(source, staging)
    except (ImportError, ValueError, LookupError) as error:
        # What converters raise if a package or the format is not the expected one
        advice = "a package may be missing or not the pinned one: pip install -r requirements/cpu.txt"
        raise FetchError(f"{source.name} cannot be converted ({type(error).__name__}: {error}); {advice}") from error

    # Not needed any more, and as large as the model; kept if the conversion fails, for the next attempt
    shutil.rmtree(raw)
    write_record(staging, {}, f"converted from {entry.files[0].path} ({entry.files[0].sha256})")


def _deliver(entry: ModelEntry, file: PinnedFile, folder: Path) -> str:
    """Put the pinned file into the folder, from the hub, else from the mirror, and return where it comes from."""
    target = folder / file.path
    if is_whole(target, file):
        return "an earlier run"
    target.parent.mkdir(parents=True, exist_ok=True)

    try:
        return _deliver_from_hub(entry, file, folder)
    except FetchError as error:
        # Kept, because `error` ends with the block and the last message names both sources
        hub_problem = str(error)

    try:
        print(f"{entry.name}: {file.path} from the mirror because {hub_problem}")
        sources.download_from_mirror(file, downloads_folder(), target)
    except FetchError as error:
        raise FetchError(f"no source delivered {file.path}\n  hub: {hub_problem}\n  mirror: {error}") from error
    return "mirror"


def _deliver_from_hub(entry: ModelEntry, file: PinnedFile, folder: Path) -> str:
    """Put the pinned file into the folder and return the hub's repository and revision. Raises FetchError."""
    hub = entry.hub
    if hub is None or file.hub_path == "":
        raise FetchError("it does not have this file")
    problem = sources.hub_problem()
    if problem:
        raise FetchError(problem)

    # The hub may have the file at another path, so it is moved after it was verified
    downloaded = sources.download_from_hub(hub, file.hub_path or file.path, folder)
    if not is_whole(downloaded, file):
        downloaded.unlink()
        raise FetchError(f"{hub.source}: {file.path} does not have the pinned sha256")
    downloaded.replace(folder / file.path)
    return hub.source


def downloads_folder() -> Path:
    """The folder of packages until all models are there."""
    return cache_folder() / "downloads"


def write_record(folder: Path, source_by_path: Mapping[str, str], other_source: str = "") -> None:
    """Write `fetched.toml`: path -> size, sha256 and source of each file.

    `other_source` is the source of files that `source_by_path` does not have.
    """
    shutil.rmtree(folder / ".cache", ignore_errors=True)  # the hub client's notes, not part of the model

    lines = ["# Written when everything had arrived; `crag models fetch --verify` compares with it."]
    for file in sorted(folder.rglob("*")):
        if not file.is_file() or file.name == RECORD_NAME:
            continue
        path = file.relative_to(folder).as_posix()
        source = source_by_path.get(path, other_source)
        # JSON strings are valid TOML strings.
        lines += [
            "",
            f"[files.{json.dumps(path)}]",
            f"size = {file.stat().st_size}",
            f'sha256 = "{sha256_of(file)}"',
            f"source = {json.dumps(source)}",
        ]
    (folder / RECORD_NAME).write_text("\n".join(lines) + "\n", encoding="utf-8")


def resolve(
    names: Sequence[str],
    read: Callable[[str], Mapping[str, Any] | None] = read_preset,
) -> tuple[Group, list[NeededFolder]]:
    """What these models, groups and presets need: models, without duplicates, and the folders that training makes.

    `read` gives the settings of a preset, None if there is no such preset.
    Raises UnknownModelError: there is no such name; ValueError: a preset is not TOML.
    """
    manifest = load_manifest()
    groups = {name: Group(models=(name,)) for name in manifest.models} | manifest.groups

    # Dictionaries keep the order of insertion; their values mean nothing.
    models: dict[str, None] = {}
    optional: dict[str, None] = {}
    folders: list[NeededFolder] = []
    for name in names:
        preset = read(name)
        group = groups.get(name)
        # A preset before a group of the same name
        if preset:
            needed = needed_weights(preset, manifest=manifest)
            models |= dict.fromkeys(needed.models)
            optional |= dict.fromkeys(needed.optional)
            folders += needed.folders
        elif group:
            models |= dict.fromkeys(group.models)
            optional |= dict.fromkeys(group.optional)
        else:
            presets_and_groups = {*available_presets(), *manifest.groups}
            available = ", ".join([*sorted(presets_and_groups), *sorted(manifest.models)])
            raise UnknownModelError(f"no model, group or preset named {name!r}; known: {available}")

    # What one name requires is not optional because another could do without it
    only_optional = tuple(name for name in optional if name not in models)
    return Group(models=tuple(models), optional=only_optional), folders


@contextmanager
def fetch_lock() -> Iterator[None]:
    """Wait until no other process fetches into the cache, and hold it while the block runs."""
    try:
        cache_folder().mkdir(parents=True, exist_ok=True)
    except OSError as error:
        error.add_note(_OTHER_FOLDER)
        raise

    lock = FileLock(cache_folder() / "fetch.lock")
    try:
        # Tried without waiting first, only to tell the user why nothing happens
        with lock.acquire(timeout=0):
            pass
    except Timeout:
        print("another process is fetching; waiting for it", file=sys.stderr)
    except OSError as error:  # of another user's cache, or one that cannot be written
        error.add_note(_OTHER_FOLDER)
        raise

    with lock:
        yield
