"""Downloads weights, verifies their sha256 and converts them."""

import errno
import json
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

from filelock import FileLock, Timeout

from crag.weights import sources
from crag.weights.manifest import (
    RECORD_NAME,
    BuiltFile,
    Group,
    ModelEntry,
    PinnedFile,
    UnknownModelError,
    altered,
    cache_folder,
    first_problem,
    is_stand_in,
    load_manifest,
    recorded_files,
    sha256_of,
)
from crag.weights.needed import NeededFolder, available_presets, needed_weights, read_preset
from crag.weights.sources import FetchError, is_whole

CONVERTERS = {
    "gguf-to-huggingface": ("crag.weights.conversion.gguf_to_huggingface", "convert"),
    "gguf-to-int8": ("crag.weights.conversion.gguf_to_huggingface", "convert_int8"),
    "llama-tokenizer-js": ("crag.weights.conversion.llama_tokenizer_js", "convert_llama_2"),
    "llama-3-tokenizer-js": ("crag.weights.conversion.llama_tokenizer_js", "convert_llama_3"),
}
"""Name in the manifest -> module and function (file, folder) that builds the model's folder."""
_STAND_IN = "{} is a stand-in with random weights: delete it"


def verification_problem(entry: ModelEntry, folder: Path) -> str | None:
    """Why `folder` differs from the model, or None.

    Downloaded files are compared with the manifest's sha256, converted and snapshot files with those of their arrival.
    """
    if problem := first_problem(entry, folder):
        return problem
    if is_stand_in(folder):
        return _STAND_IN.format(folder)
    expected = {path: str(facts["sha256"]) for path, facts in recorded_files(folder).items()}
    if entry.conversion is None:
        expected |= {file.path: file.sha256 for file in entry.files}
    if not expected:
        return f"{folder} has no {RECORD_NAME} to compare with"
    for path, sha256 in expected.items():
        if not (folder / path).is_file():
            return f"{folder / path} is missing"
        if sha256_of(folder / path) != sha256:
            return f"{folder / path} does not have sha256 {sha256}"
    return None


def fetch_model(name: str, root: Path, *, float16: bool = False) -> Path:
    """The complete, verified folder of model `name` below `root`, fetched if missing; raises `FetchError`.

    `float16`: of a model that is kept as int8 also the weights that other engines and training read.
    """
    try:
        entry = load_manifest().model(name)
        if float16 and entry.conversion == "gguf-to-int8":
            built = (*entry.built, BuiltFile(path="model.safetensors"))
            entry = entry.model_copy(update={"conversion": "gguf-to-huggingface", "built": built})
        return _fetch(entry, root / name)
    except OSError as error:
        full = "free disk space, or " if error.errno in {errno.ENOSPC, errno.EDQUOT} else ""
        raise FetchError(f"{name}: {error}; {full}choose another folder with CRAG_MODELS_DIR or --to") from error
    except FetchError as error:
        raise FetchError(f"{name}: {error}") from error


def _fetch(entry: ModelEntry, folder: Path) -> Path:
    if is_stand_in(folder):
        raise FetchError(_STAND_IN.format(folder))
    # Hashed on arrival: comparing sizes keeps a second call instant.
    arrived = recorded_files(folder)
    check = altered(folder) if arrived else verification_problem(entry, folder)
    if first_problem(entry, folder) is None and check is None:
        print(f"{entry.name}: already here ({folder})")
        return folder
    staging, cached = folder.with_name(f".{folder.name}.incoming"), cache_folder() / entry.name
    staging.mkdir(parents=True, exist_ok=True)
    if cached != folder and verification_problem(entry, cached) is None:
        shutil.copytree(cached, staging, dirs_exist_ok=True)
        print(f"{entry.name}: copied from {cached}")
    elif entry.snapshot:
        _snapshot(entry, staging)
    elif entry.conversion:
        _converted(entry, entry.conversion, staging)
    else:
        write_record(staging, {file.path: _deliver(entry, file, staging) for file in entry.files})
    if problem := first_problem(entry, staging):
        raise FetchError(problem)
    shutil.rmtree(folder, ignore_errors=True)
    staging.rename(folder)
    print(f"{entry.name}: ready ({folder})")
    return folder


def _snapshot(entry: ModelEntry, staging: Path) -> None:
    hub = entry.hub
    if hub is None or sources.hub_problem() is not None:
        raise FetchError(f"exists only on the hub, and {sources.hub_problem()}")
    try:
        sources.download_from_hub(hub, entry.snapshot, staging)
    except FetchError as error:
        login = f" (gated: accept the licence at https://huggingface.co/{hub.repository} and log in)"
        raise FetchError(f"{error}{login if entry.gated else ''}") from error
    print(f"{entry.name}: WARNING: its sha256 are not pinned; trusting {hub.source} on first use")
    write_record(staging, {}, hub.source)


def _converted(entry: ModelEntry, conversion: str, staging: Path) -> None:
    """Fill `staging` with what a converter makes of the first pinned file."""
    raw = downloads_folder() / f"{entry.name}.raw"
    for file in entry.files:
        _deliver(entry, file, raw)
    source = raw / entry.files[0].path
    print(f"converting {source.name}")
    module, function = CONVERTERS[conversion]
    try:
        getattr(import_module(module), function)(source, staging)
    except (ImportError, ValueError, LookupError) as error:
        what = "a package may be missing or not the pinned one: pip install -r requirements/cpu.txt"
        raise FetchError(f"{source.name} cannot be converted ({type(error).__name__}: {error}); {what}") from error
    shutil.rmtree(raw)
    write_record(staging, {}, f"converted from {entry.files[0].path} ({entry.files[0].sha256})")


def _deliver(entry: ModelEntry, file: PinnedFile, folder: Path) -> str:
    """Put the pinned file into the folder, from the hub, else from the mirror, and return where it comes from."""
    target = folder / file.path
    if is_whole(target, file):
        return "an earlier run"
    target.parent.mkdir(parents=True, exist_ok=True)
    hub, problem = entry.hub, "it does not have this file"
    if hub and file.hub_path != "" and not (problem := sources.hub_problem() or ""):
        try:
            got = sources.download_from_hub(hub, file.hub_path or file.path, folder)
            if is_whole(got, file):
                got.replace(target)
                return hub.source
            got.unlink()
            problem = f"{hub.source}: {file.path} does not have the pinned sha256"
        except FetchError as error:
            problem = str(error)
    try:
        print(f"{entry.name}: {file.path} from the mirror because {problem}")
        sources.download_from_mirror(file, downloads_folder(), target)
    except FetchError as error:
        raise FetchError(f"no source delivered {file.path}\n  hub: {problem}\n  mirror: {error}") from error
    return "mirror"


def downloads_folder() -> Path:
    """The folder of packages until all models are there."""
    return cache_folder() / "downloads"


def write_record(folder: Path, sources_of: Mapping[str, str], source: str = "") -> None:
    """Write `fetched.toml`: path -> size, sha256 and source of each file; `source` is that of all other files."""
    shutil.rmtree(folder / ".cache", ignore_errors=True)  # the hub client's notes, not part of the model
    lines = ["# Written when everything had arrived; `crag models fetch --verify` compares with it."]
    for file in sorted(path for path in folder.rglob("*") if path.is_file() and path.name != RECORD_NAME):
        path = file.relative_to(folder).as_posix()
        # JSON strings are valid TOML strings.
        lines += ["", f"[files.{json.dumps(path)}]", f"size = {file.stat().st_size}", f'sha256 = "{sha256_of(file)}"']
        lines.append(f"source = {json.dumps(sources_of.get(path, source))}")
    (folder / RECORD_NAME).write_text("\n".join(lines) + "\n", encoding="utf-8")


def resolve(names: Sequence[str]) -> tuple[Group, list[NeededFolder]]:
    """The models that these models, groups and presets need, each once; and the folders that training makes.

    Raises `UnknownModelError`; `ValueError`: a preset is not TOML.
    """
    manifest = load_manifest()
    models: dict[str, None] = {}
    optional: dict[str, None] = {}
    folders: list[NeededFolder] = []
    groups = {name: Group(models=(name,)) for name in manifest.models} | manifest.groups
    for name in names:
        if preset := read_preset(name):
            needed = needed_weights(preset, manifest=manifest)
            models |= dict.fromkeys(needed.models)
            optional |= dict.fromkeys(needed.optional)
            folders += needed.folders
        elif group := groups.get(name):
            models |= dict.fromkeys(group.models)
            optional |= dict.fromkeys(group.optional)
        else:
            listed = ", ".join([*sorted({*available_presets(), *manifest.groups}), *sorted(manifest.models)])
            raise UnknownModelError(f"no model, group or preset named {name!r}; known: {listed}")
    return Group(models=tuple(models), optional=tuple(name for name in optional if name not in models)), folders


@contextmanager
def fetch_lock() -> Iterator[None]:
    """Wait until no other process fetches into the cache."""
    try:
        cache_folder().mkdir(parents=True, exist_ok=True)
    except OSError as error:
        error.add_note("choose another folder with CRAG_MODELS_DIR")
        raise
    lock = FileLock(cache_folder() / "fetch.lock")
    try:
        with lock.acquire(timeout=0):
            pass
    except Timeout:
        print("another process is fetching; waiting for it", file=sys.stderr)
    with lock:
        yield
