"""Marks what a reader of a page would not see, as far as its HTML and its own style sheet show it.

That is: the `hidden` attribute; elements that inline styles or rules of a `<style>` remove, make tiny or transparent,
clip, move off the screen, or write in the colour of their background; classes made for screen readers. Not covered:
scripts and style sheets of other files. `aria-hidden` elements stay: they are hidden only from screen readers.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

UNSEEN_CLASSES = (
    ".sr-only, .visually-hidden, .visuallyhidden, .screen-reader-text, .screen-reader-only, .element-invisible"
)
MAX_RULES = 300
"""Hiding rules of a page; each is one search of its tree."""

_BLANKS = re.compile(r"\s+|!important|/\*.*?(?:\*/|\Z)")
_HIDING = re.compile(
    r"(?:^|;)(?:display:none|visibility:(?:hidden|collapse)|content-visibility:hidden"
    r"|(?:left|right|top|bottom|text-indent|margin-left|margin-top):-(?:9{3}|\d{4})"
    r"|(?:font-size|opacity|scale|zoom):[0.]+(?:[a-z%]*|0\d+)(?:;|$)|font-size:1(?:\.\d+)?p[xt](?:;|$)"
    r"|font:[^;]*?(?<![\d.])0(?:px|pt|em)?[/\"'a-z]|transform:[^;]*scale(?:3d|[xy])?\([0.]+[,)]"
    r"|clip:rect\([01a-z,]*\)|clip-path:(?:inset\((?:50|100)%|circle\(0)|color:(?:transparent|rgba\([\d,]*,[0.]+\)))"
)
_CUT_OFF = re.compile(r"(?:^|;)(?:max-)?(?:height|width):[01](?:px)?(?:;|$)")
_COLOUR = re.compile(r"(?:^|;)(color|background(?:-color)?):(#[0-9a-f]{3,8}|rgba?\([\d,.%]+\)|[a-z]+)")
_NAMED = {"white": "#ffffff", "black": "#000000"}
_PAINTED = re.compile(r"background|bgcolor|stylesheet|@import", re.IGNORECASE)
_SHOWING = re.compile(r"(?:^|;)(?:display:(?!none)|visibility:visible|opacity:(?:1|0?\.[1-9]))")
_SHEET = re.compile(r"<(style|noscript)\b([^<>]*+)>(.*?)(?:</\1|\Z)", re.IGNORECASE | re.DOTALL)
_AT_RULE = re.compile(r"/\*.*?(?:\*/|\Z)|@[^{};@]*+(?:;|\{(?:[^{}]*+\{[^{}]*+\})*+[^{}]*+\})", re.DOTALL)
_PART = r"(?:[a-z][\w-]*|[.#]-?[a-z_][\w-]*)(?:[.#]-?[a-z_][\w-]*)*"
_SIMPLE = re.compile(rf"{_PART}(?:(?: ?> ?| ){_PART})*", re.IGNORECASE)


def mark_hidden(find: Callable[[str], Iterable[Any]], html: str) -> None:
    """Set `hidden` on what is hidden, clear it where a page search can find the element.

    `find` gives the elements of a CSS selector; of an element only its attributes are used, as of a dictionary.
    """
    for node in find('[hidden="until-found"]'):
        del node["hidden"]
    for selector, hidden in [(UNSEEN_CLASSES, True), *_rules(html)]:
        for node in find(selector if hidden else f"{selector}[hidden]"):
            if hidden:
                node["hidden"] = ""
            else:
                del node["hidden"]
    paper = None if _PAINTED.search(html) else _NAMED["white"]
    for node in find("[style]"):
        if hides(node["style"], paper):
            node["hidden"] = ""


def hides(style: str, paper: str | None = None) -> bool:
    """Whether CSS declarations hide an element's text; `paper` is the page's background, if known."""
    plain = _BLANKS.sub("", style.lower())
    if _HIDING.search(plain) or ("overflow:hidden" in plain and _CUT_OFF.search(plain)):
        return True
    colours = {name[:5]: _full(value) for name, value in _COLOUR.findall(plain)}
    return "color" in colours and colours["color"] == colours.get("backg", paper)


def _full(colour: str) -> str:
    """A colour as ``#rrggbb``, if it can be said so."""
    if parts := re.fullmatch(r"rgba?\((\d+),(\d+),(\d+)(?:,1)?\)", colour):
        return "#" + "".join(f"{int(part):02x}" for part in parts.groups())
    return "#" + "".join(2 * digit for digit in colour[1:]) if len(colour) == 4 else _NAMED.get(colour, colour)


def _rules(html: str) -> Iterator[tuple[str, bool]]:
    """The simple selectors whose rules hide an element (True) or show it again (False), in order."""
    sheets = (sheet[3] for sheet in _SHEET.finditer(html) if sheet[1].lower() == "style" and "print" not in sheet[2])
    found = 0
    for rule in _AT_RULE.sub("", "\n".join(sheets)).split("}"):
        selectors, _, declarations = rule.partition("{")
        hidden = hides(declarations)
        if hidden or (found and _SHOWING.search(_BLANKS.sub("", declarations.lower()))):
            for selector in (" ".join(each.split()) for each in selectors.split(",")):
                if _SIMPLE.fullmatch(selector) and found < MAX_RULES:
                    found += 1
                    yield selector, hidden
