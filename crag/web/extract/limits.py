"""Limits on what parsers read: bytes and nesting depth. HTML parsers are quadratic in depth, so it is cut first."""

import re

MAX_BYTES = 2_000_000
"""Of a page's UTF-8; the longest of CRAG's example pages has 1.6 million."""
MAX_DEPTH = 512
"""Of nested elements; no readable page comes near it."""

# An element that is never closed reaches to the end of the page.
_SCRIPT_OR_STYLE = re.compile(r"<(script|style).*?(?:</\1[^>]*+(?:>|\Z)|\Z)", re.IGNORECASE | re.DOTALL)


def cut_bytes(html: str, max_bytes: int) -> str:
    """At most `max_bytes` of UTF-8. Removes scripts and styles first, so text is cut only if necessary."""
    # A character has at most four bytes, so most pages need not be encoded.
    if len(html) * 4 <= max_bytes:
        return html
    if len(html.encode("utf-8")) <= max_bytes:
        return html

    # Even the search for scripts needs a limit: pages can be of any length.
    without_scripts = _SCRIPT_OR_STYLE.sub("", html[: max_bytes * 8])
    cut = without_scripts.encode("utf-8")[:max_bytes]
    return cut.decode("utf-8", "ignore")  # the cut can be inside a character


# --- nesting depth ----------------------------------------------------------------------------------------------------

# Possessive quantifiers (`++`) never backtrack: the scan stays linear on hostile pages too.
_TAG = re.compile(
    r"<(?:(?P<comment>!--)"
    r"|(?P<slash>/?)(?P<name>[a-zA-Z][^\s/>]*)"
    r"(?>(?:[^>=]++|=\s*+(?>(?:\"[^\"]*+\"|'[^']*+')?))*)"  # attributes: a ">" in quotes does not end the tag
    r">?)"
)
_VOID = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"]
)
"""Elements without content and closing tag."""
_RAW_TEXT = frozenset(["script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes"])
"""Elements in which tags are text."""
_END_OF_RAW_TEXT = {name: re.compile(rf"</{name}[^>]*+(?:>|\Z)", re.IGNORECASE) for name in _RAW_TEXT}
_END_OF_COMMENT = re.compile("-->")

_CLOSES_ITSELF = frozenset(["p", "li", "dt", "dd", "option"])
"""An opening tag closes an open element of the same name."""
_CLOSES_CELLS = {"td": ("td", "th"), "th": ("td", "th"), "tr": ("td", "th", "tr")}
"""An opening tag of a table's cell or row closes the open cells, a row's also the open row."""

_SCOPES = frozenset(["table", "td", "th", "caption", "button", "object", "template", "svg", "math"])
"""A closing tag closes nothing outside these, unless it closes one of them."""
_TABLE_PARTS = ("caption", "tbody", "thead", "tfoot", "tr", "td", "th")
_BARRIERS = {"table": frozenset[str]()} | dict.fromkeys(_TABLE_PARTS, frozenset(["table"]))
"""Closing tags of table parts reach up to the innermost table, a table's to any open table, others to a scope."""


def flatten(html: str, max_depth: int) -> str:
    """Remove tags nested deeper than `max_depth`, but keep their text.

    One linear scan that follows the open elements nearly as a browser does.

    Example:
        flatten("<div><div><div>deep</div></div></div>", 2)  # "<div><div>deep</div></div>"
    """
    # Too few tags to be nested that deeply.
    if html.count("<") <= max_depth:
        return html

    open_elements: list[str] = []
    pieces: list[str] = []
    copied_to = 0
    position = 0
    while (tag := _TAG.search(html, position)) is not None:
        position = tag.end()

        # What has no content that could be nested: comments and void elements.
        if tag["comment"]:
            position = _find_end(_END_OF_COMMENT, html, tag.start() + 2)  # "<!-->" ends itself
            continue
        name = tag["name"].lower()
        if name in _VOID:
            continue

        # Follow the open elements. Both tags of an element that is too deep are removed.
        if tag["slash"]:
            closed = _close(open_elements, name, _BARRIERS.get(name, _SCOPES))
            # The element is closed already, so it was one deeper than this count.
            too_deep = closed and len(open_elements) >= max_depth
        elif name in _RAW_TEXT:
            # Up to its closing tag all is text, even what looks like a tag.
            position = _find_end(_END_OF_RAW_TEXT[name], html, position)
            continue
        else:
            _open(open_elements, name)
            too_deep = len(open_elements) > max_depth

        if too_deep:
            pieces.append(html[copied_to : tag.start()])
            copied_to = tag.end()

    pieces.append(html[copied_to:])
    return "".join(pieces)


def _open(open_elements: list[str], name: str) -> None:
    """Open an element and close those that it ends: a paragraph ends a paragraph, a row the row before."""
    if name in _CLOSES_ITSELF and open_elements and open_elements[-1] == name:
        open_elements.pop()
    for ended in _CLOSES_CELLS.get(name, ()):
        _close(open_elements, ended, _SCOPES)
    open_elements.append(name)


def _close(open_elements: list[str], name: str, barriers: frozenset[str]) -> bool:
    """Close the innermost open element of this name; False if it is behind a barrier, too far up, or not open."""
    highest = max(len(open_elements) - MAX_DEPTH, 0)  # a search without limit would be quadratic
    for index in range(len(open_elements) - 1, highest - 1, -1):
        if open_elements[index] == name:
            del open_elements[index:]
            return True
        if open_elements[index] in barriers:
            return False
    return False


def _find_end(end: re.Pattern[str], html: str, position: int) -> int:
    """The position after the next such end, or the end of the page."""
    match = end.search(html, position)
    if match is None:
        return len(html)
    return match.end()
