"""Limits on parser input. HTML parsers are quadratic in nesting depth, so depth is cut first."""

import re
from collections import Counter

_TAG = re.compile(r"<(?:(!--)|(/?)([a-zA-Z][^\s/>]*)(?:[^>=]++|=\s*+(?:\"[^\"]*+\"|'[^']*+')?+)*+>?)")
_VOID = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"]
)
_RAW_TEXT = frozenset(["script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes"])
_END_OF_RAW_TEXT = {name: re.compile(f"</{name}", re.IGNORECASE) for name in _RAW_TEXT}
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
    html = _without_raw(_without_raw(html[: max_bytes * 8], "script"), "style")
    return html.encode("utf-8")[:max_bytes].decode("utf-8", "ignore")


def _without_raw(html: str, name: str) -> str:
    """The page without elements of this name, in one pass, even if none is ever closed."""
    lowered = html.lower()
    if len(lowered) != len(html):  # some capitals have longer lower-case forms; positions would not match
        return html
    kept, position = [], 0
    while (start := lowered.find(f"<{name}", position)) >= 0:
        kept.append(html[position:start])
        end = lowered.find(f"</{name}", start)
        if end < 0:
            return "".join(kept)
        position = lowered.find(">", end) + 1 or len(html)
    kept.append(html[position:])
    return "".join(kept)


class _OpenElements:
    """The stack of open elements as a tolerant parser keeps it; every operation is amortised O(1)."""

    def __init__(self) -> None:
        self._names: list[str] = []
        self._scope_names = ["body"]
        self._in_scope: list[Counter[str]] = [Counter()]
        self._in_table: list[Counter[str]] = [Counter()]

    def __len__(self) -> int:
        return len(self._names)

    def push(self, name: str) -> None:
        """Open an element and close those that it ends: a paragraph ends a paragraph, a row the last row."""
        if name in _CLOSES_ITSELF and self._names and self._names[-1] == name:
            self._pop()
        if (name in _CELLS or name == "tr") and self._scope_names[-1] in _CELLS:
            self.close(self._scope_names[-1])
        if name == "tr" and self._in_scope[-1][name]:
            self.close(name)
        self._names.append(name)
        self._in_scope[-1][name] += 1
        self._in_table[-1][name] += 1
        if name in _SCOPES:
            self._scope_names.append(name)
            self._in_scope.append(Counter())
        if name == "table":
            self._in_table.append(Counter())

    def close(self, name: str) -> bool:
        """Pop up to the element of this name; False if the tag closes nothing."""
        reachable = (
            self._in_scope[-1][name]
            or self._scope_names[-1] == name
            or (name in _TABLE_PARTS and self._in_table[-1][name])
            or (name == "table" and len(self._in_table) > 1)
        )
        if not reachable:
            return False
        while self._pop() != name:
            pass
        return True

    def _pop(self) -> str:
        name = self._names.pop()
        if name == "table":
            self._in_table.pop()
        if name in _SCOPES:
            self._scope_names.pop()
            self._in_scope.pop()
        self._in_scope[-1][name] -= 1
        self._in_table[-1][name] -= 1
        return name


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
