"""`crag data`: from a real HTTP server that keeps files like the publisher's."""

import bz2
import hashlib
import io
import itertools
import json
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from crag.__main__ import main
from crag.core.files import DatasetError
from crag.evaluation import public_questions
from crag.evaluation.datasets import read_rows
from crag.evaluation.public_questions import FILES

CONTENT = bytes(range(256)) * 40_000
(NAME,) = FILES[4, 1]
SHA256 = hashlib.sha256(CONTENT).hexdigest()
POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{SHA256}\nsize {len(CONTENT)}\n"


class Publisher:
    """Serves the pointer and the content, and remembers which ranges were asked for."""

    def __init__(self, server: HTTPServer) -> None:
        self.ranges: list[str | None] = []
        self.pointer, self.content, self.continues = POINTER, CONTENT, True
        for name in (NAME, NAME.replace("v4", "v5")):
            server.expect_request(f"/raw/{name}").respond_with_handler(lambda _: Response(self.pointer))
            server.expect_request(f"/media/{name}").respond_with_handler(self._give)

    def _give(self, request: Request) -> Response:
        asked = request.headers.get("Range")
        self.ranges.append(asked)
        if asked is None or not self.continues:
            return Response(self.content)
        return Response(self.content[int(asked.removeprefix("bytes=").rstrip("-")) :], 206)


@pytest.fixture
def publisher(monkeypatch: pytest.MonkeyPatch) -> Iterator[Publisher]:
    with HTTPServer() as server:
        monkeypatch.setattr(public_questions, "POINTERS", server.url_for("/raw"))
        monkeypatch.setattr(public_questions, "CONTENTS", server.url_for("/media"))
        yield Publisher(server)


def fetch(folder: Path) -> int:
    return main(["data", "fetch", "crag", "--to", str(folder)])


def test_a_file_is_fetched_once_and_recognised(
    publisher: Publisher, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fetch(tmp_path) == 0
    assert (tmp_path / NAME).read_bytes() == CONTENT
    assert f"crag evaluate --dataset {tmp_path / NAME}" in capsys.readouterr().out
    assert fetch(tmp_path) == 0
    assert "already here and verified" in capsys.readouterr().out
    assert publisher.ranges == [None]
    assert [path.name for path in tmp_path.iterdir()] == [NAME]


def test_the_fifth_version_has_its_own_files(publisher: Publisher, tmp_path: Path) -> None:
    assert main(["data", "fetch", "crag", "--version", "5", "--to", str(tmp_path)]) == 0
    assert (tmp_path / "crag_task_1_and_2_dev_v5.jsonl.bz2").read_bytes() == CONTENT
    assert [name.rpartition(".")[2] for name in public_questions.FILES[5, 3]] == ["part0", "part1", "part2", "part3"]


@pytest.mark.parametrize("continues", [True, False])
def test_a_broken_download_is_continued(publisher: Publisher, tmp_path: Path, continues: bool) -> None:
    publisher.continues = continues
    (tmp_path / f"{NAME}.part").write_bytes(CONTENT[:5_000_000])
    assert fetch(tmp_path) == 0
    assert publisher.ranges == ["bytes=5000000-"]
    assert (tmp_path / NAME).read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("change", "told", "kept"),
    [
        ({"content": CONTENT[:1_000]}, "ended after 1,000 of 10,240,000 bytes; run the command again", [1_000]),
        ({"content": b"x" * len(CONTENT)}, f"not those of sha256 {SHA256[:12]}", []),
        ({"content": itertools.repeat(CONTENT[:100_000])}, f"not those of sha256 {SHA256[:12]}", []),
        ({"pointer": "<html>moved</html>"}, "is no longer a Git LFS pointer", []),
        ({"pointer": itertools.repeat("x" * 1_000)}, "is no longer a Git LFS pointer", []),
        ({"pointer": POINTER.replace("size ", "size " + "9" * 900)}, "is no longer a Git LFS pointer", []),
    ],
)
def test_what_is_not_the_file_is_refused_and_only_a_beginning_is_kept(
    publisher: Publisher, tmp_path: Path, capsys: pytest.CaptureFixture[str], change: Any, told: str, kept: list[int]
) -> None:
    vars(publisher).update(change)
    assert fetch(tmp_path) == 2
    assert told in capsys.readouterr().err
    assert [path.stat().st_size for path in tmp_path.iterdir()] == kept


def test_the_archive_of_task_3_becomes_one_question_file(tmp_path: Path) -> None:
    """Its parts are cut anywhere; its members are packed, or not, or no questions."""
    rows = [{"interaction_id": str(number), "query": "q", "alt_ans": []} for number in range(6)]
    lines = [json.dumps(row).encode() for row in rows]
    members = {"q/a.jsonl.bz2": bz2.compress(b"\n".join(lines[:3])), "q/._a.jsonl": b"{", "q/notes.txt": b"no rows"}
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:bz2") as archive:
        for name, content in {**members, "q/b.jsonl": b"\n".join(lines[3:])}.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))

    whole = packed.getvalue()
    parts = [tmp_path / "q.tar.bz2.part1", tmp_path / "q.tar.bz2.part2"]
    parts[0].write_bytes(whole[:200])
    parts[1].write_bytes(whole[200:])
    public_questions.unpack(parts, tmp_path / "q.jsonl.bz2")
    assert list(read_rows(tmp_path / "q.jsonl.bz2")) == rows

    for damaged in (whole[200:300], b"x" * 200):
        parts[1].write_bytes(damaged)
        with pytest.raises(DatasetError, match=r"part1: damaged archive|a part is missing"):
            public_questions.unpack(parts, tmp_path / "other.jsonl.bz2")
        assert not (tmp_path / "other.jsonl.bz2").exists()


def test_an_archive_of_several_bz2_streams_is_read_to_its_end(tmp_path: Path) -> None:
    """Programs that pack on several cores, such as pbzip2, write one stream after another."""
    plain = io.BytesIO()
    content = b'{"query": "q"}'
    with tarfile.open(fileobj=plain, mode="w") as archive:
        for name in ("a.jsonl", "b.jsonl"):
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))

    part = tmp_path / "q.tar.bz2.part1"
    part.write_bytes(bz2.compress(plain.getvalue()[:700]) + bz2.compress(plain.getvalue()[700:]))
    public_questions.unpack([part], tmp_path / "q.jsonl.bz2")
    assert bz2.decompress((tmp_path / "q.jsonl.bz2").read_bytes()).split() == (content + b"\n" + content).split()


def test_no_network_is_one_clear_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(public_questions, "POINTERS", "http://127.0.0.1:9")
    assert fetch(tmp_path) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "is not reachable (ConnectionError)" in line
    assert f"put the files of {public_questions.HOME} into data/crag by hand" in line


def test_the_list_names_size_hash_and_place(
    publisher: Publisher, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("crag.commands.data.list_files.FILES", {(4, 1): (NAME,)})
    assert main(["data", "list", "--to", str(tmp_path)]) == 0
    assert f"10 MB  {NAME}  sha256 {SHA256}  not here" in capsys.readouterr().out

    assert fetch(tmp_path) == 0
    assert main(["data", "list", "--to", str(tmp_path)]) == 0
    assert f"in {tmp_path}\n" in capsys.readouterr().out
