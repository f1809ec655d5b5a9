"""Files that are text as HTML pages: Markdown, tables, JSON, XML, messages, RTF and plain text.

This is also the program of the process that reads large ones: bytes on standard input, JSON on standard output. A
megabyte of RTF takes up to 4 s, one of Markdown up to 20 s, and 20 MB of lists in Markdown 3 GB of memory.
"""

import contextlib
import html
import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from crag.asking.calendars import calendar_lines, is_calendar
from crag.asking.decoding import decode
from crag.asking.delimited import read_rows
from crag.asking.kinds import Kind
from crag.asking.mail import read_mail, split_mailbox
from crag.asking.markdown import convert_markdown
from crag.asking.notebooks import convert_notebook, is_notebook
from crag.asking.parts import message_part, row_part
from crag.asking.reading_process import (
    FileReply,
    PageReply,
    UnreadableFileError,
    read_file_in_process,
    reply_in_process,
)
from crag.asking.rtf.reading import read_rich_text
from crag.asking.structured import JsonText, has_names, read_json, read_json_lines, to_markup, to_rows
from crag.asking.subtitles import is_subtitles, subtitle_lines
from crag.asking.table_heads import Row
from crag.asking.tables import table_pages
from crag.asking.wrapped_lines import join_wrapped_lines, to_paragraphs
from crag.asking.xml_files import read_xml

SNIFFED_CHARACTERS = 4096
"""The beginning of a file that tells its type."""
LARGEST_AT_ONCE = 200_000
"""Bytes; a larger file is read in a process of its own. Starting one takes as long as reading 100 kB of RTF."""

_QUICK_KINDS = frozenset({Kind.PLAIN_TEXT, Kind.MARKUP_OR_TEXT})
"""The largest file takes a second."""

_MAY_BE_HTML = frozenset({Kind.MARKUP_OR_TEXT, Kind.XML})

_TITLE = re.compile(r"<title\b[^<>]{0,200}>(.{1,500}?)</title|<(?:body|svg)\b", re.IGNORECASE | re.DOTALL)
"""Or what is behind the head."""
_COMMENT = re.compile(r"<!--.{0,10000}?-->", re.DOTALL)
_TERMINAL_CODE = re.compile(r"\x1b(?:\[[0-9;?]{0,20}[ -/]?[@-~]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\))")
"""A colour or a link of a terminal, as logs have them."""
_MARKUP = re.compile(r"<(?:!doctype|html|head|body|title|meta|div|p|h1|table|article)\b", re.IGNORECASE)
_WHOLE_PAGE = re.compile(r"\A\s*<(?:!doctype\s+html|html)\b", re.IGNORECASE)
_XML_SUFFIXES = {".xhtml", ".xht", ".xml"}


@dataclass(frozen=True, slots=True)
class TextFile:
    """What is known of a file beside its bytes: its kind, the end of its name, and what its server says of it."""

    kind: Kind
    suffix: str = ""
    media_type: str = ""
    charset: str = ""


def read_text_file(content: bytes, file: TextFile) -> FileReply:
    """The pages of a file. A large one is read within limits of time and memory.

    Raises UnreadableFileError: it cannot be read; the message says why.
    """
    if file.kind in _QUICK_KINDS or len(content) <= LARGEST_AT_ONCE:
        return _read(content, file)
    return read_file_in_process(__name__, json.dumps(asdict(file)), content, remedies={})


def main(description: str) -> None:
    """Read the file on standard input, of which the description is a `TextFile` as JSON."""
    fields: dict[str, Any] = json.loads(description)
    file = TextFile(**fields | {"kind": Kind(fields["kind"])})
    reply_in_process(partial(_read, file=file))


def _read(content: bytes, file: TextFile) -> FileReply:
    """The pages of a file, however long that takes."""
    messages = split_mailbox(content) if file.kind is Kind.MAIL else []
    if messages:
        return _mailbox(messages)
    if file.kind is Kind.MAIL and not content.lstrip().startswith(b"<"):
        mail = read_mail(content)
        return _one_page(mail.title, mail.html, mail.note)
    if file.kind is Kind.RICH_TEXT:
        rich_text = read_rich_text(content)
        return _one_page(rich_text.title, rich_text.html, rich_text.note)

    is_xml = file.kind is Kind.XML or "xml" in file.media_type or file.suffix.lower() in _XML_SUFFIXES
    text = decode(content, file.charset, is_xml=is_xml)
    # Programs and pictures have zero bytes, text has none.
    if "\0" in text[:SNIFFED_CHARACTERS]:
        raise UnreadableFileError("neither HTML nor plain text nor PDF, nor another kind that is read")
    return _text_pages(text, file)


def _text_pages(text: str, file: TextFile) -> FileReply:
    """The pages of a document that is text."""
    xml = read_xml(text) if file.kind is Kind.XML else None
    if xml is not None:
        return _one_page(xml.title, xml.html)
    # A server or a person may give a page of HTML another name; of a file without one the beginning tells.
    is_html = _WHOLE_PAGE.match(text) or (file.kind in _MAY_BE_HTML and _MARKUP.search(text[:SNIFFED_CHARACTERS]))
    if is_html:
        return _one_page(_find_title(text), text)

    if file.kind is Kind.MARKDOWN:
        converted = convert_markdown(text)
        return _one_page(converted.title, converted.html)
    if file.kind is Kind.TABLE:
        return _table(read_rows(text, file.suffix))
    if file.kind in {Kind.JSON, Kind.JSON_LINES}:
        return _json_pages(text, file.kind)
    return _one_page("", to_paragraphs(_plain_lines(text)))


def _plain_lines(text: str) -> list[str]:
    """The lines of a text without markup."""
    if is_calendar(text):
        return calendar_lines(text)
    if is_subtitles(text):
        return subtitle_lines(text)
    return join_wrapped_lines(_TERMINAL_CODE.sub("", text))


def _json_pages(text: str, kind: Kind) -> FileReply:
    """JSON as a table or lines; where it is none, as plain text."""
    try:
        json_text = read_json_lines(text) if kind is Kind.JSON_LINES else _read_json(text)
    except ValueError as error:
        note = f"read as plain text: it is not JSON: {error}"
        return _one_page("", to_paragraphs(text.splitlines()), note)

    if is_notebook(json_text.value):
        return _one_page(*convert_notebook(json_text.value))
    rows = to_rows(json_text.value)
    if rows is None:
        return _one_page("", to_markup(json_text.value), json_text.note)
    return _table(rows, json_text.note, has_names=has_names(json_text.value))


def _read_json(text: str) -> JsonText:
    """The value of a JSON text, also of one with an object on each line. Raises ValueError: it is neither."""
    try:
        return read_json(text)
    except ValueError:
        with contextlib.suppress(ValueError):
            in_lines = read_json_lines(text)
            if not in_lines.note:
                return in_lines
        raise


def _one_page(title: str, markup: str, note: str = "") -> FileReply:
    return FileReply(title=title, pages=[PageReply(html=markup, part="")], note=note)


def _mailbox(messages: Sequence[bytes]) -> FileReply:
    """A page for each message."""
    pages = []
    notes = []
    for number, message in enumerate(messages, start=1):
        mail = read_mail(message)
        pages.append(PageReply(html=mail.html, part=message_part(number)))
        if mail.note:
            notes.append(f"message {number}: {mail.note}")
    return FileReply(title="", pages=pages, note="; ".join(notes))


def _table(rows: Sequence[Row], note: str = "", *, has_names: bool = False) -> FileReply:
    """The pages of a table; a short one is a page without a part."""
    pages = []
    for page in table_pages(rows, has_names=has_names):
        part = "" if page.is_whole else row_part(page.first, page.last)
        pages.append(PageReply(html=page.html, part=part))
    return FileReply(title="", pages=pages, note=note)


def _find_title(markup: str) -> str:
    """The words of the title element, or ""."""
    title = _TITLE.search(_COMMENT.sub("", markup[:100_000]))
    return " ".join(html.unescape(title[1] or "").split()) if title else ""
