"""What a reader of a page would not see, as far as CSS declarations show it.

That is: elements that are removed, made tiny or transparent, clipped, moved off the screen, struck out, or written in
the colour of their background. Not covered: scripts and style sheets of other files. `aria-hidden` elements stay: only
screen readers do not see them.
"""

import re

from crag.web.extract.declarations import Declarations

# Patterns of declarations that are joined by semicolons.
_FAR = r"(?:9{3}|\d{5}|\d000)"
"""How far those move a text who hide it. The slides of a carousel are moved by their width, such as 1,185 pixels."""
_HIDING = re.compile(
    r"(?:^|;)(?:display:none|content-visibility:hidden"
    # moved off the screen: by nines, by thousands, or by its width; not top:-99px
    rf"|(?:left|right|top|bottom|inset|margin-left|margin-top):[^;]*-(?:{_FAR}|\d{{3}}v[wh])"
    rf"|translate:-{_FAR}|transform:[^;]*translate(?:3d|[xy])?\((?:0(?:px)?,)?-{_FAR}"
    # zero in any unit, or nearly, such as 0.01; not 0.5
    r"|(?:opacity|scale|zoom):[0.]+(?:[a-z%]*|0\d+)(?:;|$)"
    r"|transform:[^;]*scale(?:3d|[xy])?\([0.]+[,)]"
    # clipped to nothing or one pixel
    r"|clip:rect\([01a-z,]*\)|clip-path:(?:inset\((?:50|100)%|circle\(0|polygon\((?:0(?:px|%)?,?)+\))"
    # made clear
    r"|filter:[^;]*opacity\([0.]+%?\)"
    # struck out: shown, but as no longer true
    r"|text-decoration:[^;]*line-through)"
)
_CUTS_OFF = re.compile(r"(?:^|;)overflow(?:-[xy])?:(?:hidden|clip)")
_SIZE_OF_NOTHING = re.compile(r"(?:^|;)(?:max-)?(?:height|width):[01](?:px)?(?:;|$)")
_ANIMATED = frozenset(["opacity", "visibility", "transform", "scale", "translate", "filter", "clip-path"])
"""Where an element begins with no opacity and an animation, it fades in."""

_INHERITED = frozenset(["inherit", "unset"])
_HIDDEN_VISIBILITY = re.compile(r"hidden|collapse")
_OFF_SCREEN_INDENT = re.compile(r"-(?:9{3}|\d{4})")
_RELATIVE_SIZE = re.compile(r"\d{0,6}\.?\d{1,6}(?:em|ex|ch|%)|smaller|larger")
"""Of letters: a share of nothing is nothing."""
_SIZE_OF_NO_LETTERS = re.compile(
    r"[0.]+(?:[a-z%]*|0\d+)"  # zero in any unit, or nearly, such as 0.01; not 0.5
    r"|[01]?(?:\.\d+)?p[xt]"  # one pixel or point, or a part of one; not 10px
)
_FONT_OF_NO_LETTERS = re.compile(r"(?:^|[^\d.])0(?:px|pt|em)?[/\"'a-z]")
"""A size of zero in the shorthand, such as 0/0 a; not 10px."""
_NO_COLOUR_AT_ALL = re.compile(
    r"transparent|#(?:[0-9a-f]{3}0|[0-9a-f]{6}00)(?![0-9a-f])"
    r"|(?:rgb|hsl)a\((?:[^(),]*,){3}[0.]+%?\)|[a-z]{3,9}\([^()/]*/[0.]+%?\)"  # rgba(0,0,0,0), rgb(0 0 0 / 0)
)
_COLOUR = re.compile(r"#[0-9a-f]{3,8}|rgba?\([\d,.%]+\)|[a-z]+(?![\w(-])")
"""Not one that a function other than `rgb` computes, such as ``var(--paper)``."""
_PICTURE = re.compile(r"url\(|gradient\(|image-set\(")
_RED_GREEN_BLUE = re.compile(r"#[0-9a-f]{6}")
_SAME_CHANNEL = 8
"""Of 255; the lightest grey that pages write in, #ddd, is 34 from white."""
_NO_COLOUR = frozenset(["inherit", "initial", "unset", "currentcolor"])
_COLOUR_NAMES = {"white": "#ffffff", "black": "#000000"}
WHITE = _COLOUR_NAMES["white"]


def hides(declarations: Declarations) -> bool:
    """Whether declarations hide an element with all that is in it.

    Example:
        hides({"display": "none"})  # True
        hides({"opacity": "0", "animation": "fade-in1s"})  # False
    """
    ignored = _ANIMATED if _is_animated(declarations) else frozenset[str]()
    joined = ";".join(
        f"{name}:{value}" for name, value in declarations.items() if name != "content" and name not in ignored
    )
    if _HIDING.search(joined):
        return True
    # A box without size hides its text only if it cuts off what sticks out.
    return _CUTS_OFF.search(joined) is not None and _SIZE_OF_NOTHING.search(joined) is not None


def find_unseen(declarations: Declarations, page_background: str | None = None) -> dict[str, bool]:
    """The inherited properties that declarations set so that text is not seen (True) or is seen (False).

    An element inside may set each of them anew, and is seen then. `page_background` is ``#rrggbb``, if known.

    Example:
        find_unseen({"color": "#fff", "font-size": "10px"}, "#ffffff")  # {"color": True, "font-size": False}
    """
    unseen: dict[str, bool] = {}
    visibility = declarations.get("visibility", "inherit")
    if visibility not in _INHERITED:
        unseen["visibility"] = _HIDDEN_VISIBILITY.fullmatch(visibility) is not None and not _is_animated(declarations)

    indent = declarations.get("text-indent", "inherit")
    if indent not in _INHERITED:
        unseen["text-indent"] = _OFF_SCREEN_INDENT.match(indent) is not None

    size = declarations.get("font-size", "inherit")
    if "font" in declarations:
        unseen["font-size"] = _FONT_OF_NO_LETTERS.search(declarations["font"]) is not None
    elif _SIZE_OF_NO_LETTERS.fullmatch(size):
        unseen["font-size"] = True
    elif size not in _INHERITED and not _RELATIVE_SIZE.fullmatch(size):
        unseen["font-size"] = False

    # The letters of headings may be filled with another colour.
    written = declarations.get("-webkit-text-fill-color") or declarations.get("color", "")
    if written and written not in _NO_COLOUR:
        colour = _read_colour(written)
        background = _read_background(declarations) or page_background
        is_clear = _NO_COLOUR_AT_ALL.match(written) is not None and not _shows_background(declarations)
        has_shadow = declarations.get("text-shadow", "none") != "none"
        is_of_background = colour is not None and background is not None and _look_alike(colour, background)
        unseen["color"] = is_clear or (is_of_background and not has_shadow)
    return unseen


def _look_alike(colour: str, other: str) -> bool:
    """Whether nobody can tell two colours apart, such as ``#fefefe`` and ``#ffffff``."""
    if colour == other:
        return True
    if not (_RED_GREEN_BLUE.fullmatch(colour) and _RED_GREEN_BLUE.fullmatch(other)):
        return False
    channels = (1, 3, 5)
    return all(abs(int(colour[at : at + 2], 16) - int(other[at : at + 2], 16)) <= _SAME_CHANNEL for at in channels)


def _shows_background(declarations: Declarations) -> bool:
    """Whether letters are cut out of the background, as in headings with a gradient."""
    return "text" in (declarations.get("background-clip"), declarations.get("-webkit-background-clip"))


def _is_animated(declarations: Declarations) -> bool:
    return any(declarations.get(name, "none") != "none" for name in ("animation", "animation-name"))


def _read_colour(value: str | None) -> str | None:
    """The colour that a value begins with, as ``#rrggbb`` if it has such a form."""
    colour = _COLOUR.match(value or "")
    return _normalise_colour(colour[0]) if colour and colour[0] not in _NO_COLOUR else None


def _read_background(declarations: Declarations) -> str | None:
    """The colour behind letters; None if none is set, or a picture may cover it."""
    written = declarations.get("background", "")
    has_picture = _PICTURE.search(written + declarations.get("background-image", "")) is not None
    return None if has_picture else _read_colour(written)


def _normalise_colour(colour: str) -> str:
    """A colour as ``#rrggbb`` if it has that form, else as it is."""
    rgb = re.fullmatch(r"rgba?\((\d+),(\d+),(\d+)(?:,1)?\)", colour)
    if rgb:
        return "#" + "".join(f"{int(number):02x}" for number in rgb.groups())
    if len(colour) == 4:  # "#fff"; also names such as "grey", which are compared in the same form
        return "#" + "".join(2 * digit for digit in colour[1:])
    return _COLOUR_NAMES.get(colour, colour)
