"""The rules of a sheet, also those inside of other rules (CSS Nesting)."""

import re
from collections.abc import Iterator

_NESTED = re.compile(r"\{[^{}]*\{")
_BRACE = re.compile(r"([{}])")
_MAX_CHARACTERS = 1_000
"""Of the selectors of a rule inside of others, which all of theirs multiply."""


def read_rules(sheet: str) -> Iterator[tuple[str, str]]:
    """The selectors and the declarations of each rule of a sheet without at-rules.

    Example:
        list(read_rules(".a, .b { top: 0; &.old { color: red } }"))
        # [(".a, .b ", " top: 0"), (".a.old, .b.old", " color: red ")]
    """
    if not _NESTED.search(sheet):
        for rule in sheet.split("}"):
            selectors, _, declarations = rule.partition("{")
            yield selectors, declarations
        return

    open_selectors: list[str] = []
    pieces = _BRACE.split(sheet)
    for text, brace in zip(pieces[::2], pieces[1::2], strict=False):
        if brace == "{":
            # What stands before the selector is of the rule round it.
            declarations, _, selectors = text.rpartition(";")
            outer = open_selectors[-1] if open_selectors else None
            if outer and declarations:
                yield outer, declarations
            open_selectors.append(selectors if outer is None else _join(outer, selectors))
        elif open_selectors:
            yield open_selectors.pop(), text


def _join(outer: str, inner: str) -> str:
    """The selectors of a rule inside of another one; "" if none are left, or too many."""
    joined = []
    for outer_selector in outer.split(","):
        for selector in inner.split(","):
            is_placed = "&" in selector
            place = selector.strip() if is_placed else f"& {selector.strip()}"
            joined.append(place.replace("&", outer_selector.strip()))
    selectors = ", ".join(joined)
    return selectors if outer.strip() and len(selectors) <= _MAX_CHARACTERS else ""
