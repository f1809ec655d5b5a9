"""Pages of an EPUB for the reader of web pages, which has no other files: with their style sheets, without links."""

import html
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from crag.asking.decoding import decode
from crag.asking.marked_tables import mark_table_heads

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_DECLARATION = re.compile(r"\A\s*<\?xml\b[^>]{0,200}>\s*")
_NAMED_REFERENCE = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)[A-Za-z][A-Za-z0-9]{1,31};")
"""XML knows the names of HTML's characters only from a DTD, which is not loaded."""
_CLOSED_WITHOUT_TEXT = re.compile(r"<(title|script|style|textarea|iframe)\b([^<>]{0,500})/>", re.IGNORECASE)
"""A parser of HTML takes these for opened, with all that follows as their text."""

_LARGEST_SHEET = 300_000
"""Characters: what is larger has fonts or pictures in it."""

_TYPE = "{http://www.idpf.org/2007/ops}type"
_UNREAD = frozenset({"pagebreak", "doc-pagebreak", "backlink", "doc-backlink"})
"""Types and roles: numbers of printed pages, and ways back from a note."""
_NOTE_REFERENCES = frozenset({"noteref", "doc-noteref"})
_MOST_MARK_CHARACTERS = 5
_WAY_BACK = re.compile("[←↑↩↵⏎\ufe0e\ufe0f]+")
_HEADINGS = ("h1", "h2", "h3")


class Page(NamedTuple):
    """The first heading of a page ("" without one), and its HTML ("" without words)."""

    heading: str
    html: str


def read_page(content: bytes, find_sheet: Callable[[str], str]) -> Page:
    """A page of a book. `find_sheet` gives the style sheet at an address, "" without it."""
    root = _parse(decode(content, is_xml=True))
    body = None if root is None else root.find("body")
    if root is None or body is None:
        return Page("", "")

    _simplify(body)
    if not any(map(str.isalnum, "".join(body.itertext()))):
        return Page("", "")
    return Page(_find_heading(body), _write(body, _read_sheets(root, find_sheet)))


def _read_sheets(root: "Element", find_sheet: Callable[[str], str]) -> list[str]:
    """The style sheets that a page links or has in itself, without those that are too large."""
    links = [link for link in root.iter("link") if "stylesheet" in (link.get("rel") or "")]
    sheets = [find_sheet(link.get("href") or "") for link in links]
    sheets += ["".join(style.itertext()) for style in root.iter("style")]
    return [sheet for sheet in sheets if len(sheet) <= _LARGEST_SHEET]


def _parse(text: str) -> "Element | None":
    """The root of a page, in which elements have no name spaces; as HTML if it is not well-formed; None of nothing."""
    from lxml import etree

    text = _DECLARATION.sub("", text)
    references_known = _NAMED_REFERENCE.sub(lambda reference: html.unescape(reference[0]), text)
    try:
        root = etree.fromstring(references_known, etree.XMLParser(resolve_entities=False, no_network=True))
    except etree.XMLSyntaxError:
        return etree.fromstring(_CLOSED_WITHOUT_TEXT.sub(r"<\1\2></\1>", text), etree.HTMLParser(no_network=True))
    for element in root.iter("*"):
        element.tag = element.tag.rpartition("}")[2]
    return root


def _simplify(body: "Element") -> None:
    """Change what the reader of web pages cannot know of a book."""
    for element in list(body.iter("*")):
        kinds = {*(element.get(_TYPE) or element.get("epub:type") or "").split(), element.get("role") or ""}
        if not kinds.isdisjoint(_UNREAD) or (element.tag == "a" and _WAY_BACK.fullmatch(_text_of(element))):
            _clear(element)
        elif not kinds.isdisjoint(_NOTE_REFERENCES):
            element.set("role", "doc-noteref")
        elif element.tag == "a" and not _is_note_mark(element):
            # A page full of links would be taken for a menu.
            element.tag = "span"


def _is_note_mark(link: "Element") -> bool:
    return "#" in (link.get("href") or "") and len(_text_of(link)) <= _MOST_MARK_CHARACTERS


def _clear(element: "Element") -> None:
    """Drop what is in an element, not what is behind it."""
    element.clear(keep_tail=True)


def _find_heading(body: "Element") -> str:
    for heading in body.iter(*_HEADINGS):
        text = _text_of(heading)
        if text:
            return text
    return ""


def _text_of(element: "Element") -> str:
    """The text of an element with single blanks."""
    return " ".join("".join(element.itertext()).split())


def _write(body: "Element", sheets: Sequence[str]) -> str:
    """The page, whose body is all content: a book has no menus."""
    from lxml import etree

    body.tag = "main"
    body.tail = None
    styles = "".join(f"<style>{sheet.replace('</', '')}</style>" for sheet in sheets)
    markup: str = etree.tostring(body, method="html", encoding="unicode")
    page = f"<html><head>{styles}</head><body>{markup}</body></html>"
    # Books are written with word processors too.
    return mark_table_heads(page) if "<table" in page else page
