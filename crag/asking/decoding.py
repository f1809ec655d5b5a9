"""Bytes to text: what is declared decides, and a detector only where nothing is.

The order is that of browsers (WHATWG, HTML Standard, "Determining the character encoding"): byte order mark, the
charset of the HTTP header, `<meta>` in the first 1024 bytes or the XML declaration. Labels have the meanings of
the WHATWG Encoding Standard: `iso-8859-1` is windows-1252. Bytes that do not fit become U+FFFD.

Without a declaration: UTF-8 if all or nearly all bytes fit, UTF-16 if zero bytes say so, else what chardet guesses.
"""

import re
from collections.abc import Iterator

import webencodings

PRESCANNED_BYTES = 1024
"""Browsers look for a declaration here."""
LATE_BYTES = 65_536
"""A declaration after the first 1024 bytes is better than a guess."""
_UTF_16_SAMPLE = 4096
_LEAST_ASCII_SHARE = 0.1
"""Of the characters of a text in UTF-16: blanks, digits and signs are ASCII in any language that uses them."""

_LEAST_FITTING = 10
"""A text with so many characters beyond ASCII for each byte that does not fit is UTF-8. Texts in other encodings have
few."""

_BYTE_ORDER_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([^\s\"';]+)", re.IGNORECASE)
_XML_ENCODING = re.compile(
    r"<\?xml\s[^<>]{0,200}?\bencoding\s{0,9}=\s{0,9}[\"']([A-Za-z][\w.:-]{0,40})[\"']",
)


def decode(content: bytes, charset: str = "", *, is_xml: bool = False) -> str:
    r"""The text of a page or a file.

    `charset` is that of the HTTP header. In XML the declaration at its beginning counts, in HTML `<meta>` comes first.

    Example:
        decode(b'<meta charset="iso-8859-2"><p>\xa3\xf3d\xbc')  # "...<p>Łódź"
    """
    encoding = webencodings.lookup(charset) or _find_declared(content[:PRESCANNED_BYTES], is_xml=is_xml)
    if encoding is not None or content.startswith(_BYTE_ORDER_MARKS):
        # A byte order mark wins.
        return _decode_as(content, encoding or webencodings.UTF8)

    if b"\0" in content[:_UTF_16_SAMPLE]:
        return _decode_utf_16(content)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        encoding = _find_declared(content[:LATE_BYTES], is_xml=False)
    if encoding is not None:
        return _decode_as(content, encoding)
    nearly = content.decode("utf-8", "replace")
    if _is_nearly_utf_8(nearly):
        return nearly
    return content.decode(_detect(content), "replace")


def _decode_as(content: bytes, encoding: webencodings.Encoding) -> str:
    """The text in an encoding, or in that of its byte order mark."""
    text: str
    text, _ = webencodings.decode(content, encoding, errors="replace")
    return text


def _find_declared(beginning: bytes, *, is_xml: bool) -> webencodings.Encoding | None:
    """The encoding that HTML or XML declares; None without a declaration that is known."""
    markup = beginning.decode("latin-1")
    in_xml = _XML_ENCODING.match(markup.lstrip())
    xml_labels = [in_xml[1]] if in_xml else []
    labels = xml_labels if is_xml and xml_labels else [*_meta_labels(markup), *xml_labels]

    for label in labels:
        encoding = webencodings.lookup(label)
        if encoding is None:
            continue
        # Who could read this declaration as ASCII is not reading UTF-16.
        if encoding.name in {"utf-16le", "utf-16be"}:
            return webencodings.UTF8
        return webencodings.lookup("windows-1252") if encoding.name == "x-user-defined" else encoding
    return None


def _meta_labels(markup: str) -> Iterator[str]:
    """The labels of `<meta charset=...>` and `<meta http-equiv="Content-Type" content="...; charset=...">`.

    Those in comments and scripts are none. `html.parser` of Python 3.11 fails on markup such as ``<![x``.
    """
    from bs4 import BeautifulSoup
    from bs4.filter import SoupStrainer

    # BeautifulSoup warns of a page of XML, of which only the declaration is met here.
    markup = markup.lstrip().removeprefix("<?xml")
    for element in BeautifulSoup(markup, "lxml", parse_only=SoupStrainer("meta")).find_all("meta"):
        if element.get("charset"):
            yield str(element["charset"])
        elif str(element.get("http-equiv", "")).strip().lower() == "content-type":
            yield from _CHARSET.findall(str(element.get("content", "")))[:1]


def _decode_utf_16(content: bytes) -> str:
    """Text in UTF-16 without a byte order mark; other bytes keep their zeros."""
    sample = content[:_UTF_16_SAMPLE]
    for encoding in ("utf-16-le", "utf-16-be"):
        characters = sample.decode(encoding, "replace")
        is_text = all(character.isprintable() or character.isspace() for character in characters[:-1])
        # With its bytes exchanged, Latin text is Chinese.
        if is_text and sum(map(str.isascii, characters)) >= _LEAST_ASCII_SHARE * len(characters):
            return content.decode(encoding, "replace")
    return content.decode("utf-8", "replace")


def _is_nearly_utf_8(text: str) -> bool:
    """Whether hardly any bytes did not fit, such as one from another program, or the half of a character at the end."""
    replaced = text.count("\ufffd")
    others = sum(not character.isascii() for character in text) - replaced
    return others >= _LEAST_FITTING * replaced or (replaced == 1 and text.endswith("\ufffd") and others > 0)


def _detect(content: bytes) -> str:
    """The codec that a detector finds most probable, among those of the web."""
    import chardet
    from chardet import EncodingEra

    eras = EncodingEra.MODERN_WEB | EncodingEra.LEGACY_ISO
    return chardet.detect(content, encoding_era=eras)["encoding"] or "cp1252"
