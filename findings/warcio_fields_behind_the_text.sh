#!/usr/bin/env bash
# warcio 1.8.1, FastWARC 2.0.1: what a server sends behind a page's text is part of the text, or an error.
#
# Guessed before the run: both read the same pages; a date of WARC 1.1 that is a year only is no date in FastWARC.
# Seen: a page that comes in chunks may end with further fields (trailers). warcio puts them behind the text, without
# their first two letters; FastWARC, asked to decode, raises an error, as it does for a chunk with an extension. warcio
# does not unpack gzip under its other name, x-gzip, nor two codings one upon the other, and of gzip in several parts it
# gives the first; FastWARC refuses the first, and is right about the others. FastWARC keeps the angle brackets about an
# address (<http://...>), leaves the quotation marks on charset="UTF-8", and, asked for responses, skips one whose type
# stands in a line with a name in small letters. By default it decodes none of it.
# What it means: pages of a crawl end in other people's headers, or are missing, by the server that sent them. This
# project reads pages that somebody else took from such files.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check "warcio==1.8.1" "FastWARC==2.0.1"
"$folder/venv/bin/python" - <<'PYTHON'
import gzip
import zlib
from io import BytesIO

from fastwarc.warc import ArchiveIterator as FastReader
from fastwarc.warc import WarcRecordType
from warcio.archiveiterator import ArchiveIterator

PAGE = b"Content-Type: text/html"


def record(body: bytes, *fields: bytes, address: bytes = b"http://example.org/", kind: bytes = b"WARC-Type") -> bytes:
    """A file of one page."""
    block = b"\r\n".join([b"HTTP/1.1 200 OK", *(fields or [PAGE]), b"", body])
    head = [
        b"WARC/1.0",
        kind + b": response",
        b"WARC-Record-ID: <urn:uuid:11111111-1111-1111-1111-111111111111>",
        b"WARC-Target-URI: " + address,
        b"WARC-Date: 2024-01-05T19:00:00Z",
        b"Content-Type: application/http; msgtype=response",
        b"Content-Length: " + str(len(block)).encode(),
    ]
    return b"\r\n".join([*head, b"", block, b"", b""])


def by_warcio(written: bytes) -> bytes:
    (body,) = [read.content_stream().read() for read in ArchiveIterator(BytesIO(written))]
    return body


def by_fastwarc(written: bytes, decode: str = "all") -> bytes:
    """The text, or the words of the error."""
    try:
        (body,) = [read.reader.read() for read in FastReader(BytesIO(written), auto_decode=decode)]
    except OSError as error:
        return str(error).split(":")[0].encode()
    return body


CHUNKED = b"Transfer-Encoding: chunked"
REFUSED = b"Invalid chunk header"
CHUNKS = {
    b"5\r\nHello\r\n0\r\n\r\n": (b"Hello", b"Hello"),
    b"5\r\nHello\r\n0\r\nExpires: 1\r\n\r\n": (b"Hello0\r\npires: 1\r\n\r\n", REFUSED),
    b"5;a=b\r\nHello\r\n0\r\n\r\n": (b"Hello", REFUSED),
}
for body, read in CHUNKS.items():
    written = record(body, PAGE, CHUNKED)
    assert (by_warcio(written), by_fastwarc(written)) == read, (body, by_warcio(written), by_fastwarc(written))
    assert by_fastwarc(written, "none") == body

packed = gzip.compress(b"Hello", mtime=0)
twice = gzip.compress(zlib.compress(b"Hello"), mtime=0)
parts = packed + gzip.compress(b" World", mtime=0)
CODED = [
    (b"gzip", packed, b"Hello", b"Hello"),
    (b"x-gzip", packed, packed, b"Unsupported Transfer-Encoding"),
    (b"deflate, gzip", twice, twice, b"Hello"),
    (b"gzip", parts, b"Hello", b"Hello World"),
]
for coding, body, *read in CODED:
    written = record(body, PAGE, b"Content-Encoding: " + coding)
    assert [by_warcio(written), by_fastwarc(written)] == read, (coding, by_warcio(written), by_fastwarc(written))

quoted = record(b"Hello", b'Content-Type: text/html; charset="UTF-8"', address=b"<http://example.org/>")
fast = next(iter(FastReader(BytesIO(quoted))))
assert fast.headers["WARC-Target-URI"] == "<http://example.org/>"
assert fast.http_charset == '"utf-8"', fast.http_charset
slow = next(ArchiveIterator(BytesIO(quoted)))
assert slow.rec_headers.get_header("WARC-Target-URI") == "http://example.org/"

small = record(b"Hello", kind=b"warc-type")
assert list(FastReader(BytesIO(small), record_types=WarcRecordType.response)) == []
slow = next(ArchiveIterator(BytesIO(small)))
assert slow.rec_type == "response"

print("as described: fields behind the text are part of it, or an error")
PYTHON
