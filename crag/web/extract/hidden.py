"""What a reader of a page would not see, as far as CSS declarations show it.

That is: elements that are removed, made tiny or transparent, clipped, moved off the screen, struck out, or written in
the colour of their background. Not covered: scripts and style sheets of other files. `aria-hidden` elements stay: only
screen readers do not see them.
"""

import re

from crag.web.extract.declarations import Declarations

# Patterns of declarations that are joined by semicolons.
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
    r"|text-decoration:[^;]*line-through)"
)
_SIZE_OF_NOTHING = re.compile(r"(?:^|;)(?:max-)?(?:height|width):[01](?:px)?(?:;|$)")
_COLOUR = re.compile(r"#[0-9a-f]{3,8}|rgba?\([\d,.%]+\)|[a-z]+")
_NO_COLOUR = frozenset(["inherit", "initial", "unset", "currentcolor"])
_COLOUR_NAMES = {"white": "#ffffff", "black": "#000000"}
WHITE = _COLOUR_NAMES["white"]


def hides(declarations: Declarations, page_background: str | None = None) -> bool:
    """Whether declarations hide an element's text; `page_background` is ``#rrggbb``, if known.

    Example:
        hides({"color": "#fff"}, "#ffffff")  # True: white on white
        hides({"font-size": "10px"})  # False
    """
    joined = ";".join(f"{name}:{value}" for name, value in declarations.items() if name != "content")
    if _HIDING.search(joined):
        return True
    # A box without size hides its text only if it cuts off what sticks out.
    if declarations.get("overflow") == "hidden" and _SIZE_OF_NOTHING.search(joined):
        return True

    text_colour = _read_colour(declarations.get("color"))
    background = _read_colour(declarations.get("background")) or page_background
    return text_colour is not None and text_colour == background


def _read_colour(value: str | None) -> str | None:
    """The colour that a value begins with, as ``#rrggbb`` if it has such a form."""
    colour = _COLOUR.match(value or "")
    return _normalise_colour(colour[0]) if colour and colour[0] not in _NO_COLOUR else None


def _normalise_colour(colour: str) -> str:
    """A colour as ``#rrggbb`` if it has that form, else as it is."""
    rgb = re.fullmatch(r"rgba?\((\d+),(\d+),(\d+)(?:,1)?\)", colour)
    if rgb:
        return "#" + "".join(f"{int(number):02x}" for number in rgb.groups())
    if len(colour) == 4:  # "#fff"; also names such as "grey", which are compared in the same form
        return "#" + "".join(2 * digit for digit in colour[1:])
    return _COLOUR_NAMES.get(colour, colour)
