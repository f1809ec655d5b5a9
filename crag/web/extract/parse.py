"""From HTML to the tree that is read (`crag.web.extract.nodes`), by either of two parsers."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from crag.web.extract.nodes import Element, build_tree
from crag.web.extract.styles import PageStyles

if TYPE_CHECKING:  # a page is read by one of the two, and a worker loads only that one
    from bs4.element import PageElement
    from selectolax.lexbor import LexborNode


def parse_with_lexbor(html: str, sheets: str) -> Element:
    """The body as browsers build it (WHATWG), by lexbor: some 3 ms a page. `sheets`: where its sheets are read from."""
    from selectolax.lexbor import LexborHTMLParser

    tree = LexborHTMLParser(html)
    body = tree.body
    if body is None:  # a frameset
        return Element("body")

    path = [body] if body.parent is None else [body.parent, body]
    return build_tree(path, _read_lexbor_node, _lexbor_children, PageStyles(sheets))


def _read_lexbor_node(node: "LexborNode") -> Element | str | None:
    name = node.tag
    if name == "-text":
        return node.text_content
    if name is None or name.startswith("-"):  # a comment
        return None
    return Element(name, node.attributes)


def _lexbor_children(node: "LexborNode") -> "Iterator[LexborNode]":
    child = node.child
    while child is not None:
        yield child
        child = child.next


def parse_with_beautifulsoup(html: str) -> Element:
    """The body by BeautifulSoup with lxml: the papers' choice (db3 2.2)."""
    from bs4 import BeautifulSoup
    from bs4.element import Tag

    soup = BeautifulSoup(html, "lxml")
    body: Tag = soup.body or soup
    path: list[PageElement] = [*reversed(list(body.parents)), body]
    return build_tree(path, _read_soup_node, _soup_children, PageStyles(html))


def _read_soup_node(node: "PageElement") -> Element | str | None:
    from bs4.element import CData, NavigableString, RubyTextString, Tag

    if isinstance(node, Tag):
        # Several classes are a list.
        attributes: dict[str, str | None] = {}
        for name, value in node.attrs.items():
            attributes[name] = value if isinstance(value, str) else " ".join(value)
        return Element(node.name.lower(), attributes)
    # Comments, sheets and scripts are subclasses.
    if type(node) in (NavigableString, CData, RubyTextString):
        return str(node)
    return None


def _soup_children(node: "PageElement") -> "Iterator[PageElement]":
    from bs4 import Tag

    return iter(node.contents) if isinstance(node, Tag) else iter(())
