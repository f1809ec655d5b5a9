"""Files of XML that are no pages: feeds of news (RSS, Atom), data and documents."""

import html
import re
from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from crag.asking.structured import Json, to_markup

if TYPE_CHECKING:
    from lxml import etree

_DECLARATION = re.compile(r"\A\ufeff?\s{0,1000}<\?xml\b[^>]{0,1000}>")
_NAMED_REFERENCE = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)[A-Za-z][A-Za-z0-9]{1,31};")
"""A character of HTML, which XML knows only from a grammar that is not loaded."""
_PAGES = frozenset(["html", "svg"])
"""Roots of what a browser shows."""
_FEEDS = frozenset(["rss", "feed", "RDF"])
_HEADS = frozenset(["channel", "feed"])
"""What has the title of a feed, and what it is about."""
_ENTRIES = frozenset(["item", "entry"])
_DATES = ("pubDate", "published", "date", "updated")
_AUTHORS = ("creator", "author")
_CONTENTS = ("encoded", "content", "description", "summary")
"""The elements of an entry by their local names, the best first."""
_RAISED = frozenset(["sup", "sub"])
_TITLES = frozenset(["title", "head"])
_TAG = re.compile(r"<[A-Za-z/!]")


class XmlText(NamedTuple):
    """The title of a file of XML ("" if it has none) and its text as HTML."""

    title: str
    html: str


def read_xml(text: str) -> XmlText | None:
    """The text of a file of XML; None if it is a page, or not well-formed.

    Example:
        read_xml("<staff><name>Ines</name><room>B14</room></staff>")  # a paragraph for each of the two values
    """
    root = _parse(text)
    if root is None or _name(root) in _PAGES:
        return None
    if _name(root) in _FEEDS:
        return _read_feed(root)
    if any(map(_is_mixed, root.iter("*"))):
        title = next((element for element in root.iter("*") if _name(element) in _TITLES), None)
        return XmlText("" if title is None else _words(title), "".join(_paragraphs(root)))
    return XmlText("", to_markup(_value_of(root)))


def _parse(text: str) -> "etree._Element | None":
    """The root. Nothing is fetched; libxml2 limits depth and expansion. Faults of feeds are forgiven."""
    from lxml import etree

    body = _DECLARATION.sub("", text).lstrip("\ufeff \t\r\n")
    body = _NAMED_REFERENCE.sub(lambda reference: html.unescape(reference[0]), body)
    is_feed = re.match(r"<(?:rss|feed|rdf:RDF)\b", body) is not None
    parser = etree.XMLParser(
        no_network=True, load_dtd=False, resolve_entities="internal", remove_comments=True, remove_pis=True,
        recover=is_feed,
    )  # fmt: skip
    try:
        return etree.fromstring(body, parser)
    except (etree.XMLSyntaxError, ValueError):
        return None


def _name(element: "etree._Element") -> str:
    """The name of an element without its name space."""
    return str(element.tag).rpartition("}")[2]


def _words(element: "etree._Element") -> str:
    """All text of an element on a line."""
    return " ".join("".join(map(str, element.itertext())).split())


# --- feeds ------------------------------------------------------------------------------------------------------------


def _read_feed(root: "etree._Element") -> XmlText:
    """A feed: what it is about, and of each entry the title, when and by whom it was written, and its text."""
    titles = [element for element in root.iter("{*}title") if _name(element.getparent()) in _HEADS]
    title = html.unescape(_words(titles[0])) if titles else ""
    descriptions = root.iter("{*}description", "{*}subtitle")
    about = [_words(element) for element in descriptions if _name(element.getparent()) in _HEADS]
    entries = [element for element in root.iter("*") if _name(element) in _ENTRIES]
    markup = [f"<p>{_to_html(text)}</p>\n" for text in about if text]
    markup += chain.from_iterable(map(_entry_markup, entries))
    return XmlText(title, "".join(markup))


def _entry_markup(entry: "etree._Element") -> Iterator[str]:
    """The title of an entry, when and by whom it was written, and its text, as HTML."""
    parts = {_name(part): part for part in reversed(entry)}
    if "title" in parts:
        yield f"<h2>{_title_markup(parts['title'])}</h2>\n"

    for names in (_DATES, _AUTHORS):
        best = next((parts[name] for name in names if name in parts), None)
        if best is None:
            continue
        # An author of Atom has a name and an address.
        author = best.find("{*}name")
        words = _words(best if author is None else author)
        if words:
            yield f"<p>{html.escape(words)}</p>\n"

    contents = [_content_markup(parts[name]) for name in _CONTENTS if name in parts]
    yield f"<div>{next(filter(None, contents), '')}</div>\n"


def _title_markup(title: "etree._Element") -> str:
    """A title with what is raised in it, if it has elements."""
    if len(title) > 0:
        return _inline_markup(title)
    return html.escape(_words(title)) if _is_plain(title) else _to_html(_words(title))


def _is_plain(element: "etree._Element") -> bool:
    """Whether the feed declares this text as plain text."""
    return element.get("type") in {"text", "text/plain"}


def _content_markup(content: "etree._Element") -> str:
    """The text of an entry, which is HTML: as text, or as elements."""
    from lxml import etree

    if _is_plain(content):
        return html.escape(content.text or "")
    if len(content) == 0:
        return _to_html(content.text or "")
    for element in content.iter("*"):
        element.tag = _name(element)
    etree.cleanup_namespaces(content)
    return "".join(etree.tostring(child, encoding="unicode", method="html") for child in content)


def _to_html(text: str) -> str:
    """A text of a feed as HTML: it may be HTML already, with tags or with references such as ``&amp;``."""
    return text if _TAG.search(text) else html.escape(html.unescape(text))


# --- data -------------------------------------------------------------------------------------------------------------


def _value_of(element: "etree._Element") -> Json:
    """An element as JSON: its attributes and elements by their names, a list of those with the same name.

    One with words has its attributes in brackets: ``454 (unit: km2)``.
    """
    attributes = _attributes(element)
    if len(element) == 0 and (words := _words(element)):
        described = ", ".join(f"{name}: {value}" for name, value in attributes.items())
        return f"{words} ({described})" if described else words

    values: dict[str, list[Json]] = {name: [value] for name, value in attributes.items()}
    for child in element:
        values.setdefault(_name(child), []).append(_value_of(child))
    return {name: items if len(items) > 1 else items[0] for name, items in values.items()} or ""


def _attributes(element: "etree._Element") -> dict[str, str]:
    """The attributes of an element, without those that tell programs where its grammar is."""
    written = {str(name): str(value) for name, value in element.attrib.items()}
    return {name.rpartition("}")[2]: value for name, value in written.items() if "XMLSchema-instance" not in name}


# --- documents --------------------------------------------------------------------------------------------------------


def _is_mixed(element: "etree._Element") -> bool:
    """Whether an element holds words beside other elements."""
    if len(element) == 0:
        return False
    return any(text is not None and text.strip() for text in (element.text, *(child.tail for child in element)))


def _paragraphs(element: "etree._Element") -> Iterator[str]:
    """A paragraph for each element with words of its own, in order; titles as headings."""
    if len(element) > 0 and not _is_mixed(element):
        for child in element:
            yield from _paragraphs(child)
        return
    markup = _inline_markup(element).strip()
    if markup:
        tag = "h2" if _name(element) in _TITLES else "p"
        yield f"<{tag}>{markup}</{tag}>\n"


def _inline_markup(element: "etree._Element") -> str:
    """The words of an element with the height of raised and lowered ones."""
    pieces = [html.escape(element.text or "")]
    for child in element:
        inner = _inline_markup(child)
        name = _name(child)
        pieces.append(f"<{name}>{inner}</{name}>" if name in _RAISED else inner)
        pieces.append(html.escape(child.tail or ""))
    return "".join(pieces)
