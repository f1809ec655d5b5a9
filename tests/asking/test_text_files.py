"""Files that are text: large ones are read within limits, and read alike."""

import json

import pytest

from crag.asking import reading_process, text_files
from crag.asking.kinds import Kind
from crag.asking.text_files import TextFile, read_text_file

FILES = [
    (Kind.RICH_TEXT, rb"{\rtf1 {\info{\title Kites}}10{\super 6} kites {\field{\*\fldinst EQ }}\par}"),
    (Kind.MAIL, b"Subject: Kites\nMIME-Version: 1.0\n\nThe kites are red.\n"),
    (Kind.MARKDOWN, b"# Kites\n\nOur **red** kite.\n"),
    (Kind.TABLE, b"name,room\nInes,B14\n"),
    (Kind.JSON, b'[{"name": "Ines", "room": "B14"}]'),
    (Kind.JSON_LINES, b'{"name": "Ines", "room": "B14"}\nnone\n'),
]


@pytest.mark.parametrize(("kind", "content"), FILES)
def test_a_large_file_is_read_like_a_small_one(kind: Kind, content: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    at_once = read_text_file(content, TextFile(kind))
    monkeypatch.setattr(text_files, "LARGEST_AT_ONCE", 0)
    assert at_once["pages"]
    assert read_text_file(content, TextFile(kind)) == at_once


def test_a_large_file_that_is_no_text_is_told_like_a_small_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_files, "LARGEST_AT_ONCE", 0)
    with pytest.raises(ValueError, match=r"^neither HTML nor plain text"):
        read_text_file(b"\0\0program", TextFile(Kind.MARKDOWN))


@pytest.mark.parametrize("kind", [kind for kind, _ in FILES])
def test_a_file_that_takes_too_long_is_told(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading_process, "SECONDS", 0.001)
    with pytest.raises(ValueError, match=r"^it took more than 0\.001 s; split it$"):
        read_text_file(b"a" * (text_files.LARGEST_AT_ONCE + 1), TextFile(kind))


def test_objects_without_a_common_name_are_no_table() -> None:
    objects = [{f"name {number}": number, "of": {"room": "B14"}} for number in range(1000)]
    [page] = read_text_file(json.dumps(objects).encode(), TextFile(Kind.JSON))["pages"]
    assert page["html"].startswith("<p>name 0: 0; of, room: B14</p>\n<p>name 1: 1; of, room: B14</p>\n")


def test_markdown_may_have_no_text() -> None:
    assert read_text_file(b"[kites]: kites.html\n", TextFile(Kind.MARKDOWN))["pages"][0]["html"] == ""
