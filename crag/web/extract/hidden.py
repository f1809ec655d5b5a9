"""Marks what a reader of a page would not see, as far as its HTML and its `<style>` sheets show it.

That is: the `hidden` attribute; elements that inline styles or rules of a `<style>` remove, make tiny or transparent,
clip, move off the screen, strike out, or write in the colour of their background; classes made for screen readers. Not
covered: scripts and style sheets of other files. `aria-hidden` elements stay: only screen readers do not see them.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

UNSEEN_CLASSES = (
    ".sr-only, .visually-hidden, .visuallyhidden, .screen-reader-text, .screen-reader-only, .element-invisible"
)
MAX_RULES = 300
"""Hiding rules of a page; each is one search of its tree."""

# The patterns of declarations are for text without blanks and comments, in lower case.
_BLANK_OR_COMMENT = re.compile(r"\s+|!important|/\*.*?(?:\*/|\Z)")
_HIDING = re.compile(
    r"(?:^|;)(?:display:none|visibility:(?:hidden|collapse)|content-visibility:hidden"
    # moved off the screen, by -999 or at least four digits; not top:-99px
    r"|(?:left|right|top|bottom|text-indent|margin-left|margin-top):-(?:9{3}|\d{4})"
    # zero in any unit, or nearly, such as 0.01; not 0.5
    r"|(?:font-size|opacity|scale|zoom):[0.]+(?:[a-z%]*|0\d+)(?:;|$)"
    # one pixel or point; not 10px
    r"|font-size:1(?:\.\d+)?p[xt](?:;|$)"
    # a size of zero in the shorthand, such as 0/0 a; not 10px
    r"|font:[^;]*?(?<![\d.])0(?:px|pt|em)?[/\"'a-z]|transform:[^;]*scale(?:3d|[xy])?\([0.]+[,)]"
    # clipped to nothing or one pixel
    r"|clip:rect\([01a-z,]*\)|clip-path:(?:inset\((?:50|100)%|circle\(0)"
    r"|color:(?:transparent|rgba\([\d,]*,[0.]+\))"
    # struck out: shown, but as no longer true
    r"|text-decoration(?:-line)?:[^;]*line-through)"
)
_SIZE_OF_NOTHING = re.compile(r"(?:^|;)(?:max-)?(?:height|width):[01](?:px)?(?:;|$)")
_SHOWING = re.compile(r"(?:^|;)(?:display:(?!none)|visibility:visible|opacity:(?:1|0?\.[1-9]))")
_COLOUR = re.compile(r"(?:^|;)(color|background(?:-color)?):(#[0-9a-f]{3,8}|rgba?\([\d,.%]+\)|[a-z]+)")
_COLOUR_NAMES = {"white": "#ffffff", "black": "#000000"}

_SETS_BACKGROUND = re.compile(r"background|bgcolor|stylesheet|@import", re.IGNORECASE)
"""Any of these in a page may change the background from white."""

_SHEET = re.compile(
    r"<(style|noscript)\b([^<>]*+)>"  # a sheet inside <noscript> does not apply
    r"(.*?)(?:</\1|\Z)",
    re.IGNORECASE | re.DOTALL,
)
_COMMENT_OR_AT_RULE = re.compile(
    r"/\*.*?(?:\*/|\Z)"
    r"|@[^{};@]*+(?:;|\{(?>(?:[^{}]*+\{[^{}]*+\})*)[^{}]*+\})",  # @import x; or @media print { rules }
    re.DOTALL,
)
_COMPOUND = r"(?:[a-z][\w-]*|[.#]-?[a-z_][\w-]*)(?:[.#]-?[a-z_][\w-]*)*"
_SIMPLE_SELECTOR = re.compile(rf"{_COMPOUND}(?:(?: ?> ?| ){_COMPOUND})*", re.IGNORECASE)
"""Names, classes and ids, such as ``div > .note``; no attributes and pseudo-classes."""


def mark_hidden(find: Callable[[str], Iterable[Any]], html: str) -> None:
    """Set the attribute `hidden` on what is hidden, clear it where a page search can find the element.

    Args:
        find: Gives the elements of a CSS selector. Of an element only its attributes are used, as of a dictionary.
        html: The page.

    Example:
        soup = BeautifulSoup(html, "lxml")
        mark_hidden(soup.body.select, html)
        for element in soup.select("[hidden]"):
            element.decompose()
    """
    for element in find('[hidden="until-found"]'):
        del element["hidden"]

    # Style sheets, in order: a later rule wins.
    _set_hidden(find(UNSEEN_CLASSES))
    for selector, hides_element in _find_rules(html):
        if hides_element:
            _set_hidden(find(selector))
        else:
            for element in find(f"{selector}[hidden]"):
                del element["hidden"]

    # Inline styles win over style sheets.
    page_background = None if _SETS_BACKGROUND.search(html) else _COLOUR_NAMES["white"]
    _set_hidden([element for element in find("[style]") if hides(element["style"], page_background)])


def _set_hidden(hidden_elements: Iterable[Any]) -> None:
    for element in hidden_elements:
        element["hidden"] = ""


def hides(style: str, page_background: str | None = None) -> bool:
    """Whether CSS declarations hide an element's text; `page_background` is ``#rrggbb``, if known.

    Example:
        hides("color: #fff", "#ffffff")  # True: white on white
        hides("font-size: 10px")  # False
    """
    declarations = _compact(style)
    if _HIDING.search(declarations):
        return True
    # A box without size hides its text only if it cuts off what sticks out.
    if "overflow:hidden" in declarations and _SIZE_OF_NOTHING.search(declarations):
        return True

    # Text in the colour of its background; of several declarations the last one counts.
    text_colour = None
    background = page_background
    for name, value in _COLOUR.findall(declarations):
        if name == "color":
            text_colour = _normalise_colour(value)
        else:
            background = _normalise_colour(value)
    return text_colour is not None and text_colour == background


def _compact(style: str) -> str:
    """Declarations in lower case, without blanks and comments."""
    return _BLANK_OR_COMMENT.sub("", style.lower())


def _normalise_colour(colour: str) -> str:
    """A colour as ``#rrggbb`` if it has that form, else as it is."""
    rgb = re.fullmatch(r"rgba?\((\d+),(\d+),(\d+)(?:,1)?\)", colour)
    if rgb:
        return "#" + "".join(f"{int(number):02x}" for number in rgb.groups())
    if len(colour) == 4:  # "#fff"; also names such as "grey", which are compared in the same form
        return "#" + "".join(2 * digit for digit in colour[1:])
    return _COLOUR_NAMES.get(colour, colour)


def _find_rules(html: str) -> Iterator[tuple[str, bool]]:
    """The simple selectors whose rules hide an element (True) or show it again (False), in order."""
    sheets = []
    for element, attributes, content in _SHEET.findall(html):
        # Sheets for printing hide what the screen shows.
        if element.lower() == "style" and "print" not in attributes:
            sheets.append(content)
    # Without at-rules no braces are nested, so each "}" ends a rule.
    rules = _COMMENT_OR_AT_RULE.sub("", "\n".join(sheets)).split("}")

    selector_count = 0
    for rule in rules:
        selectors, _, declarations = rule.partition("{")
        hides_element = hides(declarations)
        # A rule that shows elements matters only after one that hides some.
        if not hides_element and not (selector_count and _SHOWING.search(_compact(declarations))):
            continue

        for selector in selectors.split(","):
            simple = " ".join(selector.split())
            if selector_count < MAX_RULES and _SIMPLE_SELECTOR.fullmatch(simple):
                selector_count += 1
                yield simple, hides_element
