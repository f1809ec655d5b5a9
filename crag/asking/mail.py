"""E-mails (`.eml`) and pages that a browser saved as one file (`.mht`): both are MIME messages (RFC 2045, RFC 2557)."""

import contextlib
import email
import html
import re
from collections.abc import Iterator
from email.errors import MessageError
from email.header import decode_header, make_header
from email.message import Message
from typing import NamedTuple

from crag.asking.decoding import decode
from crag.asking.wrapped_lines import join_wrapped_lines

_FIELDS = ("From", "To", "Cc", "Date", "Subject")
_BODY_TAG = re.compile(r"<body\b[^<>]{0,2000}>", re.IGNORECASE)
_WRITTEN_AS_HTML, _WRITTEN_AS_TEXT = "text/html", "text/plain"


class Mail(NamedTuple):
    """The subject of a message ("" if it has none), its HTML, and a note on what is not read."""

    title: str
    html: str
    note: str


def read_mail(content: bytes) -> Mail:
    """The text of a message below who wrote it, to whom and when; of a saved page its text alone.

    Of a text that is there twice, the one in HTML is read: it knows what is raised and struck out. The parser is that
    of Python 3.2 and before: the newer one fails on fields that are not valid.

    Raises ValueError: parts are in parts too often.
    """
    try:
        message = email.message_from_bytes(content)
        markup = "\n".join(_to_html(part) for part in _find_texts(message))
        attached = [part.get_filename() or part.get_content_type() for part in message.walk() if _is_attached(part)]
    except RecursionError:
        raise ValueError("its parts are nested too deeply; save it as HTML or text") from None

    fields = {name: _field(message, name) for name in _FIELDS}
    # A browser writes no address: "From: <Saved by Blink>".
    lines = [f"{name}: {value}" for name, value in fields.items() if value and "@" in fields["From"]]
    body_tag = _BODY_TAG.search(markup)
    place = body_tag.end() if body_tag else 0
    note = f"attachments are not read: {', '.join(attached)}" if attached else ""
    return Mail(fields["Subject"], markup[:place] + _paragraphs(lines) + markup[place:], note)


def _field(message: Message, name: str) -> str:
    """A field of the head on one line, with its words decoded; as it is, if it cannot be."""
    written = str(message.get(name, ""))
    # A word may have a wrong length, or an encoding that nobody knows.
    with contextlib.suppress(MessageError, LookupError, UnicodeError):
        written = str(make_header(decode_header(written)))
    return " ".join(written.split())


def _find_texts(part: Message) -> Iterator[Message]:
    """The parts that a reader sees as text, each in one form."""
    kind = part.get_content_type()
    parts = part.get_payload()
    if _is_attached(part):
        return
    if not isinstance(parts, list):
        if kind in {_WRITTEN_AS_HTML, _WRITTEN_AS_TEXT}:
            yield part
        return

    inner_parts = [inner for inner in parts if isinstance(inner, Message)]
    if kind == "multipart/related":  # a page, then its pictures and frames
        inner_parts = inner_parts[:1]
    texts = [list(_find_texts(inner)) for inner in inner_parts]
    if kind == "multipart/alternative":  # the same text in several forms
        filled = [forms for forms in texts if forms]
        as_html = [forms for forms in filled if any(form.get_content_type() == _WRITTEN_AS_HTML for form in forms)]
        texts = (as_html or filled)[:1]
    for forms in texts:
        yield from forms


def _to_html(part: Message) -> str:
    """A part with text as HTML."""
    payload = part.get_payload(decode=True)
    content = payload if isinstance(payload, bytes) else b""
    text = decode(content, part.get_content_charset() or "")
    return text if part.get_content_type() == _WRITTEN_AS_HTML else _paragraphs(join_wrapped_lines(text))


def _paragraphs(lines: list[str]) -> str:
    return "".join(f"<p>{html.escape(line)}</p>\n" for line in lines if line.strip())


def _is_attached(part: Message) -> bool:
    """Whether a part is a file beside the text; pictures in the text are none."""
    has_name = part.get_filename() is not None and part.get_content_maintype() not in {"image", "text"}
    return part.get_content_disposition() == "attachment" or has_name
