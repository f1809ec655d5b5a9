"""What kind of document some bytes are: by their first bytes, the names in an archive, and the name of the file."""

import enum
import io
import re
import zipfile
import zlib
from pathlib import Path

from crag.asking.rtf.tokens import RTF_MARK, from_first_brace

PDF_MARK = b"%PDF-"
"""Begins a PDF; viewers accept other bytes before it."""
ZIP_MARK = b"PK\x03\x04"
"""Begins an archive, and so the documents that are archives of XML."""
_PDF_MARK_WITHIN = 1024
_RTF_MARK_WITHIN = 1024
_OLE_MARK = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""Begins a file of Office before 2007, and one that Office encrypted."""
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_OUTLOOK = "__substg1.0_".encode("utf-16-le")
LARGEST_UNPACKED = 500_000_000
"""Bytes of an archive's files together: an archive of a few kilobytes can hold gigabytes."""


class Kind(enum.StrEnum):
    """The kinds of documents that are read."""

    PDF = "pdf"
    WORD = "docx"
    WORKBOOK = "xlsx"
    SLIDES = "pptx"
    OPEN_DOCUMENT = "opendocument"
    E_BOOK = "epub"
    RICH_TEXT = "rtf"
    MARKDOWN = "markdown"
    TABLE = "csv"
    JSON = "json"
    JSON_LINES = "jsonl"
    MAIL = "e-mail"
    """Also a mailbox, and a page that was saved with its pictures as one file."""
    XML = "xml"
    """A feed, data or a document; no page."""
    PLAIN_TEXT = "text"
    MARKUP_OR_TEXT = "html or text"
    """Its text tells which of the two."""


OFFICE_KINDS = frozenset({Kind.WORD, Kind.WORKBOOK, Kind.SLIDES})

_BY_SUFFIX = {
    ".md": Kind.MARKDOWN, ".markdown": Kind.MARKDOWN, ".mdown": Kind.MARKDOWN, ".mkd": Kind.MARKDOWN,
    ".csv": Kind.TABLE, ".tsv": Kind.TABLE, ".tab": Kind.TABLE, ".psv": Kind.TABLE,
    ".json": Kind.JSON, ".geojson": Kind.JSON, ".ipynb": Kind.JSON,
    ".jsonl": Kind.JSON_LINES, ".ndjson": Kind.JSON_LINES,
    ".eml": Kind.MAIL, ".mbox": Kind.MAIL, ".mht": Kind.MAIL, ".mhtml": Kind.MAIL,
    ".xml": Kind.XML, ".rss": Kind.XML, ".atom": Kind.XML, ".opml": Kind.XML,
    ".txt": Kind.PLAIN_TEXT, ".text": Kind.PLAIN_TEXT, ".log": Kind.PLAIN_TEXT,
}  # fmt: skip
_BY_MEDIA_TYPE = {
    "text/markdown": Kind.MARKDOWN,
    "text/csv": Kind.TABLE,
    "text/tab-separated-values": Kind.TABLE,
    "application/json": Kind.JSON,
    "application/geo+json": Kind.JSON,
    "application/x-ndjson": Kind.JSON_LINES,
    "application/jsonl": Kind.JSON_LINES,
    "application/xml": Kind.XML,
    "text/xml": Kind.XML,
    "application/rss+xml": Kind.XML,
    "application/atom+xml": Kind.XML,
    "message/rfc822": Kind.MAIL,
    "application/mbox": Kind.MAIL,
    "multipart/related": Kind.MAIL,
}
_BY_MEMBER = {
    # Word on the web counts its documents: word/document2.xml
    re.compile(r"word/document\d{0,3}\.xml"): Kind.WORD,
    re.compile(r"xl/workbook\.xml"): Kind.WORKBOOK,
    re.compile(r"ppt/presentation\.xml"): Kind.SLIDES,
}
"""A file in the archive -> its kind."""

_PICTURE = "a picture; recognise its text first (ocrmypdf IN OUT.pdf)"
_SOUND = "sound or film; write down what is said in it first"
_UNREADABLE_MARKS = {
    b"\x89PNG": _PICTURE,
    b"\xff\xd8\xff": _PICTURE,
    b"GIF8": _PICTURE,
    b"BM": _PICTURE,
    b"II*\0": _PICTURE,
    b"MM\0*": _PICTURE,
    b"RIFF": f"{_PICTURE}, or {_SOUND}",
    b"ID3": _SOUND,
    b"OggS": _SOUND,
    b"\x1a\x45\xdf\xa3": _SOUND,
    b"SQLite format 3": "a database; export its tables as CSV",
    b"\x1f\x8b": "a packed file; unpack it",
    b"BZh": "a packed file; unpack it",
    b"\xfd7zXZ": "a packed file; unpack it",
    b"7z\xbc\xaf": "an archive; unpack it",
    b"Rar!": "an archive; unpack it",
}
"""First bytes -> what the file is and what can be done. They count only where the beginning has zero bytes or is short
of text: "BM" may begin a sentence."""
_UNREADABLE_MEMBERS = {
    "Index/Document.iwa": "a file of Apple's iWork; export it as DOCX, XLSX or PPTX",
}
"""File in an archive -> what the archive is, and what can be done."""
_BEGINNING = 8192
"""How many bytes from the beginning of a text are searched for signs of its kind."""
_OFFICE_AS_XML = re.compile(r'progid="(?P<program>Word|Excel|PowerPoint)\.')
"""At the beginning of a document of Office that is one file of XML."""
_FLAT_OPEN_DOCUMENT = re.compile(
    r'<[a-z]{1,10}:document\s[^>]{0,9000}"urn:oasis:names:tc:opendocument:xmlns:office:1\.0"'
)
"""At the beginning of an OpenDocument file that is one file of XML."""
_MEDIA_TYPES = {"application/vnd.oasis.opendocument": Kind.OPEN_DOCUMENT, "application/epub+zip": Kind.E_BOOK}
"""Beginning of the media type that an archive names in its first file -> its kind."""
_OFFICE_REMEDIES = {"Word": "DOCX", "Excel": "XLSX", "PowerPoint": "PPTX"}
_FEED = re.compile(r"<(?:rss|feed|rdf:RDF)\b")
_PAGE_OF_XML = re.compile(r"<(?:!doctype\s+)?(?:[a-z]{1,10}:)?(?:html|svg)\b", re.IGNORECASE)
_MAIL_FIELD = re.compile(r"[A-Za-z-]{1,60}:|[ \t]")
"""Begins a line at the head of a message: a field, or one that goes on."""


def is_pdf(content: bytes) -> bool:
    """Whether bytes begin like a PDF."""
    beginning = content[:_PDF_MARK_WITHIN]
    return PDF_MARK in beginning and not beginning.lstrip().startswith(b"<")


def may_hold_pictures(content: bytes) -> bool:
    """Whether bytes begin like a document with pictures in it, which may be large."""
    return is_pdf(content) or content.startswith(ZIP_MARK)


def find_kind(content: bytes, location: str, media_type: str = "") -> Kind:
    """The kind of a document. Bytes come before the name, which people change.

    Raises ValueError: it is of no kind that is read; the message says what it is and what can be done.
    """
    if not content:
        raise ValueError("it is empty")
    if is_pdf(content):
        return Kind.PDF
    if content.startswith(ZIP_MARK):
        return _find_archive_kind(content)
    if content.startswith(_OLE_MARK):
        raise ValueError(_describe_old_office(content))
    if from_first_brace(content[:_RTF_MARK_WITHIN]).startswith(RTF_MARK):
        return Kind.RICH_TEXT

    has_zero_bytes = b"\0" in content[:4096]
    for mark, description in _UNREADABLE_MARKS.items():
        is_short_mark = len(mark) < 3
        if content.startswith(mark) and (has_zero_bytes or not is_short_mark):
            raise ValueError(f"it is {description}")

    beginning = content[:_BEGINNING].decode("latin-1").removeprefix("\u00ef\u00bb\u00bf").lstrip()
    kind = _find_xml_kind(beginning)
    kind = kind or _BY_SUFFIX.get(Path(location).suffix.lower()) or _BY_MEDIA_TYPE.get(media_type)
    return kind or (Kind.MAIL if _is_mail(beginning) else Kind.MARKUP_OR_TEXT)


def _find_xml_kind(beginning: str) -> Kind | None:
    """The kind of an XML file that is no web page; None for any other text. Raises ValueError: it is an Office file."""
    if _FEED.match(beginning):
        return Kind.XML
    if not beginning.startswith("<?xml"):
        return None

    office = _OFFICE_AS_XML.search(beginning)
    if office:
        remedy = _OFFICE_REMEDIES[office["program"]]
        raise ValueError(f"it is a document of Office as XML; save it as {remedy}")
    if _FLAT_OPEN_DOCUMENT.search(beginning):
        return Kind.OPEN_DOCUMENT
    return None if _PAGE_OF_XML.search(beginning) else Kind.XML


def _is_mail(beginning: str) -> bool:
    """Whether a text begins with the fields of a message, among them the one that all have."""
    head = beginning.replace("\r\n", "\n").partition("\n\n")[0].split("\n")
    has_version = any(line.lower().startswith("mime-version:") for line in head)
    return has_version and all(map(_MAIL_FIELD.match, head))


def _find_archive_kind(content: bytes) -> Kind:
    """The kind of a document that is an archive. Raises ValueError: it is none, or it is damaged."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            unpacked_bytes = sum(member.file_size for member in archive.infolist())
            names = set(archive.namelist())
            media_type = archive.read("mimetype")[:200].decode("ascii", "replace") if "mimetype" in names else ""
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
        raise ValueError(f"it is damaged or not whole ({error}); fetch or save it again") from None

    if unpacked_bytes > LARGEST_UNPACKED:
        raise ValueError(f"it unpacks to more than {LARGEST_UNPACKED / 1e6:g} MB; split it")
    for member, kind in _BY_MEMBER.items():
        if any(map(member.fullmatch, names)):
            return kind
    if "xl/workbook.bin" in names:
        raise ValueError("it is a binary workbook; save it as XLSX")

    for beginning, kind in _MEDIA_TYPES.items():
        if media_type.strip().startswith(beginning):
            return kind
    if "META-INF/container.xml" in names:
        return Kind.E_BOOK
    if {"META-INF/manifest.xml", "content.xml"} <= names:
        return Kind.OPEN_DOCUMENT
    descriptions = [text for member, text in _UNREADABLE_MEMBERS.items() if member in names]
    raise ValueError(f"it is {[*descriptions, 'an archive; unpack it'][0]}")


def _describe_old_office(content: bytes) -> str:
    """Why a file of the old container is not read."""
    if _ENCRYPTED in content:
        return "it needs a password; save a copy without one (in Office: File, Info, Protect)"
    if _OUTLOOK in content:
        return "it is a message of Outlook; save it as HTML or text"
    return "it has the format of Office before 2007; save it as DOCX, XLSX or PPTX"
