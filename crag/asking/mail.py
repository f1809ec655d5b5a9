"""E-mails (`.eml`) and pages that a browser saved as one file (`.mht`): both are MIME messages (RFC 2045, RFC 2557)."""

import codecs
import contextlib
import email
import html
import re
from collections.abc import Iterable
from email.errors import MessageError
from email.header import decode_header, make_header
from email.message import Message
from itertools import chain, pairwise
from typing import NamedTuple

from crag.asking.calendars import calendar_lines, is_calendar
from crag.asking.decoding import decode
from crag.asking.reading_process import UnreadableFileError
from crag.asking.wrapped_lines import join_flowed_lines, join_wrapped_lines, to_paragraphs

_FIELDS = ("From", "To", "Cc", "Date", "Subject")
_SEPARATOR = re.compile(r"^From [^\r\n]{1,200} \d\d:\d\d(?::\d\d)?[^\r\n]{0,40}\r?$", re.MULTILINE)
"""Begins a message in a mailbox: ``From ida@example.org Thu May  4 10:00:00 2023``."""
_QUOTED_FROM = re.compile(r"^>(>{0,20}From )", re.MULTILINE)
"""A line that would look so is marked."""
_SAVED_BY_BROWSER = re.compile(r"\W{0,9}Saved by\b", re.IGNORECASE)
"""Stands where a message has its author."""
_BODY_TAG = re.compile(r"<body\b[^<>]{0,2000}>", re.IGNORECASE)
_WHOLE_PAGE = re.compile(r"<(?:html|body)\b", re.IGNORECASE)
_LINK_TAG = re.compile(r"<link\b[^<>]{0,2000}>", re.IGNORECASE)
_HREF = re.compile(r"""\bhref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))""", re.IGNORECASE)
_MEDIA = re.compile(r"""\bmedia\s*=\s*(?:"[^"<>]*"|'[^'<>]*'|[^\s<>"']+)""", re.IGNORECASE)
_HTML = "text/html"
_REPORTS = frozenset({"message/delivery-status", "message/disposition-notification"})
"""What a server says about a message: fields and no text."""


class Mail(NamedTuple):
    """The subject of a message ("" if it has none), its HTML, and a note on what is not read."""

    title: str
    html: str
    note: str


class _Text(NamedTuple):
    """The text of a part as HTML. `is_html`: it is the author's own HTML, not made of plain text."""

    markup: str
    is_html: bool = False


def read_mail(content: bytes) -> Mail:
    """The text of a message below who wrote it, to whom and when; of a saved page its text alone.

    If a message has the same text as HTML and as plain text, the HTML is read: it marks superscripts and deletions.
    The parser is that of Python 3.2 and before: the newer one fails on fields that are not valid.

    Raises UnreadableFileError: parts are in parts too often.
    """
    try:
        message = email.message_from_bytes(content.removeprefix(codecs.BOM_UTF8).lstrip())
        reader = _Reader()
        markup = reader.read_message(message)
    except RecursionError:
        raise UnreadableFileError("its parts are nested too deeply; save it as HTML or text") from None

    note = f"attachments are not read: {', '.join(reader.attached)}" if reader.attached else ""
    return Mail(_field(message, "Subject"), markup, note)


def split_mailbox(content: bytes) -> list[bytes]:
    """The messages of a mailbox in one file (RFC 4155); none if it is no mailbox."""
    text = content.decode("latin-1")  # one character for each byte
    starts = [separator.start() for separator in _SEPARATOR.finditer(text)]
    if not starts or text[: starts[0]].strip():
        return []

    messages = []
    for start, end in pairwise([*starts, len(text)]):
        _, _, message = text[start:end].partition("\n")
        messages.append(_QUOTED_FROM.sub(r"\1", message).encode("latin-1"))
    return messages


class _Reader:
    """Reads messages, and keeps the names of the parts that are not read."""

    def __init__(self) -> None:
        self.attached: list[str] = []

    def read_message(self, message: Message) -> str:
        """A message, or one that it forwards, as HTML."""
        markup = "\n".join(text.markup for text in self._read_part(message))
        body_tag = _BODY_TAG.search(markup)
        place = body_tag.end() if body_tag else 0
        return markup[:place] + to_paragraphs(_head_lines(message)) + markup[place:]

    def _read_part(self, part: Message) -> list[_Text]:
        """The texts that a reader sees, each in one form."""
        kind = part.get_content_type()
        inner_parts = _inner_parts(part)
        if part.get_content_disposition() == "attachment":
            self._name(part)
            return []
        if kind in _REPORTS:
            return [_Text(to_paragraphs(_all_fields(inner))) for inner in inner_parts]
        if kind == "message/rfc822":
            return [_Text(self.read_message(inner)) for inner in inner_parts]
        if not inner_parts:
            return self._read_leaf(part)

        if kind == "multipart/related":
            texts = [self._read_page(*inner_parts)]
        else:
            texts = [self._read_part(inner) for inner in inner_parts]
        if kind == "multipart/alternative":  # the same text in several forms
            return _choose_form(texts)
        return list(chain.from_iterable(texts))

    def _read_page(self, page: Message, *others: Message) -> list[_Text]:
        """A page with its pictures, styles and frames."""
        for other in others:
            self._name_if_file(other)
        sheets = _read_sheets(others)
        return [_with_sheets(text, sheets) for text in self._read_part(page)]

    def _read_leaf(self, part: Message) -> list[_Text]:
        """The text of a part without parts. One of several parts whose boundary is missing is text too."""
        if part.get_content_maintype() in {"text", "multipart"}:
            return [_read_text(part)]
        # A picture in the text has no name, or one that nobody chose.
        if part.get_content_maintype() != "image":
            self._name(part)
        return []

    def _name_if_file(self, part: Message) -> None:
        """Name what lies beside a page, unless it belongs to it, as its pictures and styles do."""
        has_name = part.get_filename() is not None and part.get_content_maintype() not in {"image", "text"}
        if has_name or part.get_content_disposition() == "attachment":
            self._name(part)

    def _name(self, part: Message) -> None:
        self.attached.append(part.get_filename() or part.get_content_type())


# --- the head ---------------------------------------------------------------------------------------------------------


def _head_lines(message: Message) -> list[str]:
    """Who wrote a message, to whom and when; nothing for a page that a browser saved."""
    fields = {name: _field(message, name) for name in _FIELDS}
    if _SAVED_BY_BROWSER.match(fields["From"]) or message["Snapshot-Content-Location"]:
        return []
    return [f"{name}: {value}" for name, value in fields.items() if value]


def _all_fields(message: Message) -> list[str]:
    return [f"{name}: {_decode_field(written)}" for name, written in message.raw_items()]


def _field(message: Message, name: str) -> str:
    """A field of the head on one line; "" if there is none."""
    for other_name, written in message.raw_items():
        if other_name.lower() == name.lower():
            return _decode_field(written)
    return ""


def _decode_field(written: str) -> str:
    """A field with its words decoded; as it is, if it cannot be."""
    if not written.isascii():
        # The parser keeps bytes that are not ASCII, which many programs write, as halves of characters.
        written = decode(written.encode("ascii", "surrogateescape"))
    # A word may have a wrong length, or an encoding that nobody knows.
    with contextlib.suppress(MessageError, LookupError, UnicodeError):
        written = str(make_header(decode_header(written)))
    return " ".join(written.split())


# --- the style sheets of a saved page ---------------------------------------------------------------------------------


def _read_sheets(parts: Iterable[Message]) -> dict[str, str]:
    """The style sheets beside a page, by each address that it may use for them (RFC 2557, 8)."""
    sheets = {}
    for part in parts:
        if part.get_content_type() != "text/css":
            continue
        if part["Content-Location"]:
            sheets[str(part["Content-Location"]).strip()] = _decode_text(part)
        if part["Content-ID"]:
            sheets[f"cid:{str(part['Content-ID']).strip(' <>')}"] = _decode_text(part)
    return sheets


def _with_sheets(text: _Text, sheets: dict[str, str]) -> _Text:
    """The text with its style sheets in it. Chrome moves even those that a page has in itself to parts of their own."""
    if not sheets or not text.is_html:
        return text
    unused = dict(sheets)  # a page that links one a thousand times would multiply it

    def write_sheet(link: re.Match[str]) -> str:
        address = _HREF.search(link[0])
        if address is None or "alternate" in link[0].lower():
            return link[0]
        sheet = unused.pop(html.unescape(address[1] or address[2] or address[3] or ""), None)
        if sheet is None:
            return link[0]
        media = _MEDIA.search(link[0])
        return f"<style {media[0] if media else ''}>{sheet.replace('</', '')}</style>"

    return text._replace(markup=_LINK_TAG.sub(write_sheet, text.markup))


# --- the text ---------------------------------------------------------------------------------------------------------


def _inner_parts(part: Message) -> list[Message]:
    payload = part.get_payload()
    if not isinstance(payload, list):
        return []
    return [inner for inner in payload if isinstance(inner, Message)]


def _choose_form(forms: list[list[_Text]]) -> list[_Text]:
    """Of the forms of one text that in HTML, if it has words: some programs send an empty one beside the text."""
    with_words = [texts for texts in forms if any(map(_has_words, texts))]
    for texts in with_words:
        if any(text.is_html for text in texts):
            return texts
    best_first = [*with_words, *forms]
    return best_first[0] if best_first else []


def _has_words(text: _Text) -> bool:
    from bs4 import BeautifulSoup

    page = BeautifulSoup(text.markup, "lxml")
    for not_shown in page.find_all(["head", "style", "script"]):
        not_shown.decompose()
    return any(character.isalnum() for character in page.get_text())


def _read_text(part: Message) -> _Text:
    """A part with text."""
    text = _decode_text(part)
    has_lost_boundary = part.get_content_maintype() == "multipart"
    if part.get_content_type() == _HTML or (has_lost_boundary and _WHOLE_PAGE.search(text)):
        return _Text(text, is_html=True)
    if is_calendar(text):
        return _Text(to_paragraphs(calendar_lines(text)))
    if str(part.get_param("format", "")).lower() == "flowed":
        return _Text(to_paragraphs(join_flowed_lines(text, is_blank_lost=part.get_param("delsp") == "yes")))
    return _Text(to_paragraphs(join_wrapped_lines(text)))


def _decode_text(part: Message) -> str:
    payload = part.get_payload(decode=True)
    content = payload if isinstance(payload, bytes) else b""
    charset = part.get_content_charset() or ""
    # Many programs declare ASCII and write UTF-8.
    return decode(content, "" if charset == "us-ascii" else charset)
