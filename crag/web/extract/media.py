"""Which at-rules of a sheet count: those for a wide screen, on which most pages show all that they have."""

import re

WIDTH = 1280
"""Pixels of the screen."""
HEIGHT = 800

_RULE = r"[^{}]*+\{[^{}]*+(?>(?:\{[^{}]*+\}[^{}]*+)*)\}"  # may hold others
_RULES_IN_BRACES = rf"(?>(?:{_RULE})*)[^{{}}]*+"
_CONDITIONAL = re.compile(rf"@(media|supports|layer)\b([^{{}};@]*+)\{{({_RULES_IN_BRACES})\}}", re.IGNORECASE)
_AT_RULE = re.compile(rf"@[^{{}};@]*+(?:;|\{{{_RULES_IN_BRACES}\}})")  # @import x; or @media print { rules }
_MOST_NESTED = 4

_TYPE = re.compile(r"(?:only )?(?:all|screen)")
_FEATURE = re.compile(r"\(([a-z-]+)(?::([^()]+))?\)")
_RANGE = re.compile(r"\((?:([^()<>=]+)([<>]=?))?(width|height)(?:([<>]=?)([^()<>=]+))?\)")
_LENGTH = re.compile(r"(\d{1,6}(?:\.\d{1,6})?)(px|r?em)?")
_OF_SCREEN = {
    ("orientation", "landscape"),
    ("hover", ""),
    ("hover", "hover"),
    ("any-hover", "hover"),
    ("pointer", ""),
    ("pointer", "fine"),
    ("any-pointer", "fine"),
    ("color", ""),
    ("prefers-color-scheme", "light"),
    ("prefers-reduced-motion", "no-preference"),
}
"""Features that a screen with a mouse has."""


def open_at_rules(sheet: str) -> str:
    """The sheet with the rules inside the at-rules that count, and without all others, such as `@font-face`.

    Example:
        open_at_rules("@media (min-width: 600px) { b { top: 0 } } @media print { i { top: 0 } }")  # " b { top: 0 }  "
    """
    # Inner ones first.
    for _ in range(_MOST_NESTED):
        sheet, count = _CONDITIONAL.subn(_open, sheet)
        if not count:
            break
    return _AT_RULE.sub("", sheet)


def _open(at_rule: re.Match[str]) -> str:
    kind, condition, rules = at_rule[1].lower(), at_rule[2], at_rule[3]
    if kind == "media":
        counts = is_for_wide_screen(condition)
    else:
        # Browsers of today support what a sheet asks for.
        counts = kind == "layer" or not condition.strip().lower().startswith("not")
    return rules if counts else ""


def is_for_wide_screen(queries: str) -> bool:
    """Whether one of the media queries, which commas separate, holds for a wide screen. None at all is for all media.

    Example:
        is_for_wide_screen("print, screen and (min-width: 48em)")  # True
    """
    return any(_holds(" ".join(query.lower().split())) for query in queries.split(","))


def _holds(query: str) -> bool:
    if query.startswith("not "):
        return not _holds(query.removeprefix("not "))
    if not query:
        return True
    return all(_TYPE.fullmatch(part) or _has_feature(part.replace(" ", "")) for part in query.split(" and "))


def _has_feature(feature: str) -> bool:
    """Whether the screen has a feature, such as ``(min-width:600px)`` or ``(400px<=width<600px)``."""
    in_range = _RANGE.fullmatch(feature)
    if in_range and (in_range[2] or in_range[4]):
        size = WIDTH if in_range[3] == "width" else HEIGHT
        above = _compare(_pixels(in_range[1]), in_range[2], size) if in_range[2] else True
        return above and (_compare(size, in_range[4], _pixels(in_range[5])) if in_range[4] else True)

    plain = _FEATURE.fullmatch(feature)
    if plain is None:
        return False
    name, value = plain[1], plain[2] or ""
    bound, _, side = name.replace("device-", "").partition("-")
    if bound in ("min", "max") and side in ("width", "height"):
        size = WIDTH if side == "width" else HEIGHT
        return _compare(size, ">=" if bound == "min" else "<=", _pixels(value))
    return (name, value) in _OF_SCREEN


def _pixels(length: str) -> float:
    """A length in pixels; without end if it is not known."""
    found = _LENGTH.fullmatch(length)
    if found is None:
        return float("inf")
    return float(found[1]) * (16 if found[2] in ("em", "rem") else 1)


def _compare(left: float, sign: str, right: float) -> bool:
    if sign.startswith("<"):
        return left < right or (sign == "<=" and left == right)
    return left > right or (sign == ">=" and left == right)
