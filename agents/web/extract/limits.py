"""Limits on what parsers read. HTML parsers are quadratic in nesting depth, so depth is cut first."""

import re
from collections import defaultdict

MAX_BYTES = 2_000_000
"""Of a page's UTF-8; the longest of CRAG's example pages has 1.6 million."""
MAX_DEPTH = 512
"""Of nested elements; no readable page comes near it."""

_TAG = re.compile(r"<(?:(!--)|(/?)([a-zA-Z][^\s/>]*)(?:[^>=]++|=\s*+(?:\"[^\"]*+\"|'[^']*+')?+)*+>?)")
_VOID = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"]
)
_RAW_TEXT = frozenset(["script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes"])
_END_OF_RAW_TEXT = {name: re.compile(f"</{name}", re.IGNORECASE) for name in _RAW_TEXT}
_SCRIPT_OR_STYLE = re.compile(r"<(script|style).*?(?:</\1[^>]*+(?:>|\Z)|\Z)", re.IGNORECASE | re.DOTALL)
_CLOSES_ITSELF = frozenset(["p", "li", "dt", "dd", "option"])
"""An opening tag closes an open element of the same name."""
_SCOPES = frozenset(["table", "td", "th", "caption", "button", "object", "template", "svg", "math"])
"""A closing tag closes nothing outside these, unless it closes one of them."""
_CELLS = frozenset(["td", "th"])
_TABLE_PARTS = frozenset(["caption", "tbody", "thead", "tfoot", "tr", "td", "th"])
"""Closing tags of these reach up to the innermost table; a table's closing tag reaches any open table."""


def cut_bytes(html: str, max_bytes: int) -> str:
    """At most `max_bytes` of UTF-8. Removes scripts and styles first, so text is cut only if necessary."""
    if len(html) * 4 <= max_bytes or len(html.encode("utf-8")) <= max_bytes:
        return html
    html = _SCRIPT_OR_STYLE.sub("", html[: max_bytes * 8])
    return html.encode("utf-8")[:max_bytes].decode("utf-8", "ignore")


class _OpenElements:
    """The stack of open elements as a tolerant parser keeps it; every operation is amortised O(1)."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._places: defaultdict[str, list[int]] = defaultdict(list)
        self._scopes: list[int] = []

    def __len__(self) -> int:
        return len(self._names)

    def push(self, name: str) -> None:
        """Open an element and close those that it ends: a paragraph ends a paragraph, a row the last row."""
        if name in _CLOSES_ITSELF and self._names and self._names[-1] == name:
            self._pop()
        scope = self._names[self._scopes[-1]] if self._scopes else ""
        if scope in _CELLS and (name in _CELLS or name == "tr"):
            self.close(scope)
        if name == "tr" and self._places[name] and self._places[name][-1] > max(self._scopes[-1:], default=-1):
            self.close(name)
        self._places[name].append(len(self._names))
        if name in _SCOPES:
            self._scopes.append(len(self._names))
        self._names.append(name)

    def close(self, name: str) -> bool:
        """Pop up to the element of this name; False if the tag closes nothing."""
        barriers = [] if name == "table" else self._places["table"] if name in _TABLE_PARTS else self._scopes
        place = max(self._places[name][-1:], default=-1)
        if place < max(barriers[-1:], default=0):
            return False
        while len(self._names) > place:
            self._pop()
        return True

    def _pop(self) -> None:
        name = self._names.pop()
        self._places[name].pop()
        if name in _SCOPES:
            self._scopes.pop()


def flatten(html: str, max_depth: int) -> str:
    """Remove tags nested deeper than `max_depth`, but keep their text. One linear scan.

    The scan approximates a browser's tree building. A malicious page still meets its worker's time limit.
    """
    if html.count("<") <= max_depth:
        return html
    elements, kept, copied, position = _OpenElements(), [], 0, 0
    while (match := _TAG.search(html, position)) is not None:
        position = match.end()
        if match[1]:
            position = _after(html, "-->", match.start() + 2)
            continue
        name = match[3].lower()
        if name in _VOID:
            continue
        if match[2]:
            dropped = elements.close(name) and len(elements) >= max_depth
        elif name in _RAW_TEXT:
            position = _after_raw_text(html, name, position)
            continue
        else:
            elements.push(name)
            dropped = len(elements) > max_depth
        if dropped:
            kept.append(html[copied : match.start()])
            copied = match.end()
    return "".join([*kept, html[copied:]]) if copied else html


def _after(html: str, mark: str, position: int) -> int:
    found = html.find(mark, position)
    return len(html) if found < 0 else found + len(mark)


def _after_raw_text(html: str, name: str, position: int) -> int:
    """Position of a raw-text element's closing tag, or the end of the page."""
    found = _END_OF_RAW_TEXT[name].search(html, position)
    return _after(html, ">", found.start()) if found else len(html)
