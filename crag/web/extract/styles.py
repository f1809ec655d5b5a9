"""What the styles of an element mean for the words on a page: inline styles, `<style>` sheets, and HTML's own sheet."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from operator import attrgetter
from typing import Literal

from crag.web.extract.declarations import Block, Declarations, cascade, parse_block
from crag.web.extract.generated import Change, Piece, read_changes, read_content
from crag.web.extract.hidden import WHITE, find_unseen, hides
from crag.web.extract.sheets import Place, Rule, StyleSheets

Attributes = Mapping[str, str | None]


class Flow(Enum):
    """How an element stands to the line of the words before it."""

    BY_NAME = auto()
    """As HTML's own sheet has it."""
    IN_LINE = auto()
    """In the line whatever its name: a paragraph is a box there."""
    APART = auto()
    """Apart from the words beside it, or on its own lines, as its name says."""
    BOX = auto()
    """A box in the line, apart from the words beside it, whatever its name."""
    OWN_LINES = auto()


Boxes = Literal["", "row", "column", "grid"]
"""How the elements inside an element stand to each other, if they are boxes; a word, because it is looked up often."""


class Script(Enum):
    """How high an element stands on its line."""

    LEVEL = auto()
    RAISED = auto()
    LOWERED = auto()


@dataclass(frozen=True, slots=True)
class Style:
    """The style of an element, as far as it changes what is read.

    Attributes:
        is_hidden: Nobody sees it or anything in it, or sees it struck out.
        unseen, seen: The inherited properties that it sets so that texts are not seen, or are
            (`crag.web.extract.hidden.find_unseen`).
        flow: How it stands to the words before it.
        script: How high it stands.
        table_part: The name of the element of a table that it is shown as, or "".
        boxes: How elements inside it stand, if they are boxes; `boxes_are_reversed`: the last one comes first.
        order: Its own place among boxes: lower ones come first.
        keeps_lines: Whether line ends of its text are seen; None if it does not say.
        is_reversed: Its text is written from right to left, letter by letter.
        is_bold: Whether its letters are in bold type; None if it does not say.
        list_style: That of the numbers of a list or an item, such as ``lower-alpha`` or ``none``; "" if none is set.
        before, after: What the sheet writes before and after its text; None if it does not say.
        changes: What it does to counters.
    """

    is_hidden: bool = False
    unseen: frozenset[str] = frozenset()
    seen: frozenset[str] = frozenset()
    flow: Flow = Flow.BY_NAME
    script: Script = Script.LEVEL
    table_part: str = ""
    boxes: Boxes = ""
    boxes_are_reversed: bool = False
    order: int = 0
    keeps_lines: bool | None = None
    is_reversed: bool = False
    is_bold: bool | None = None
    list_style: str = ""
    before: "Generated | None" = None
    after: "Generated | None" = None
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True, slots=True)
class Generated:
    """A text that only a sheet holds, with its own style; there may be no pieces of it."""

    pieces: tuple[Piece, ...]
    style: Style


PLAIN = Style()
_MISSING = "\x00"
"""The value of an attribute that is not there; no page has this character."""

FOR_SCREEN_READERS = re.compile(
    r"(?<![\w-])(?:sr[-_]?only|(?:a-)?off-?screen|element-invisible|screen[-_]?reader[-_]?(?:text|only))(?![\w-])"
    # also is-visually-hidden, ArticleVisuallyHidden and the like
    r"|(?<!not-)(?:visually[-_]?hidden)(?![\w-])",
    re.IGNORECASE,
)
"""Classes of texts that only screen readers read."""
_UNSEEN_CLASS = re.compile(rf"{FOR_SCREEN_READERS.pattern}|(?<![\w-])sort-?key(?![\w-])", re.IGNORECASE)
"""Also the class of what MediaWiki sorts a table by, before what is shown."""
_OF_NAME = {
    "sup": "vertical-align: super; font-size: smaller",
    "sub": "vertical-align: sub; font-size: smaller",
    "del": "text-decoration: line-through",
    "s": "text-decoration: line-through",
    "strike": "text-decoration: line-through",
    "pre": "white-space: pre",
    "listing": "white-space: pre",
    "plaintext": "white-space: pre",
    "xmp": "white-space: pre",
    "textarea": "white-space: pre-wrap",
}
"""What HTML's own sheet says."""
_OTHER_SHEETS = re.compile(r"stylesheet|@import", re.IGNORECASE)
"""A page with one of these may have sheets that are not read."""
_SETS_BACKGROUND = re.compile(r"background|bgcolor", re.IGNORECASE)
"""A page with one of these may be of another colour than white."""


class PageStyles:
    """The styles of a page's elements.

    Example:
        styles = PageStyles(html)
        _, style = styles.look_up(styles.top, "b", {"class": "was"})
        style.is_hidden
    """

    def __init__(self, html: str) -> None:
        self._sheets = StyleSheets(html)
        self.top = self._sheets.top
        """What the root of the page is in."""
        self._has_other_sheets = _OTHER_SHEETS.search(html) is not None
        is_white = not self._has_other_sheets and not _SETS_BACKGROUND.search(html)
        self._background = WHITE if is_white else None
        self._tested_attributes = self._sheets.tested_attributes - {"class", "id", "style", "hidden"}
        """Others that tell elements apart."""
        self._looked_up: dict[tuple[object, ...], tuple[Place, Style]] = {}
        self._read: dict[tuple[str, tuple[Rule, ...], str, Boxes], Style] = {}

    def look_up(self, parent: Place, name: str, attributes: Attributes, *, boxes: Boxes = "") -> tuple[Place, Style]:
        """The place of an element inside of another one, and its style. `boxes`: those that the other one holds."""
        key: tuple[object, ...] = (parent, name, boxes)
        if attributes:
            get = attributes.get
            key = (parent, name, boxes, get("class"), get("id"), get("style"), get("hidden", _MISSING))
            if name == "bdo":
                key += (get("dir"),)
            if not self._tested_attributes.isdisjoint(attributes):
                key += tuple([(at, value) for at, value in attributes.items() if at in self._tested_attributes])
        found = self._looked_up.get(key)
        if found is None:
            place = self._sheets.place_of(parent, name, attributes)
            style = self._find_style(place, _read_own(name, attributes), attributes.get("style") or "", boxes)
            found = self._looked_up[key] = place, style
        return found

    def _find_style(self, place: Place, own: str, inline: str, boxes: Boxes) -> Style:
        if not (own or place.rules or inline or boxes):
            return PLAIN
        key = (own, place.rules, inline, boxes)
        style = self._read.get(key)
        if style is None:
            style = self._read[key] = self._read_style(*key)
        return style

    def _read_style(self, own: str, rules: Iterable[Rule], inline: str, boxes: Boxes) -> Style:
        ranked = sorted(rules, key=attrgetter("rank"))
        declarations = self._declarations(own, ranked, inline)
        generated = {}
        for pseudo_element in ("before", "after"):
            blocks = [rule.block for rule in ranked if rule.pseudo_element == pseudo_element]
            generated[pseudo_element] = self._generate(blocks, declarations) if blocks else None
        unseen = find_unseen(declarations, self._background)
        return Style(
            is_hidden=hides(declarations),
            unseen=frozenset(name for name, is_unseen in unseen.items() if is_unseen),
            seen=frozenset(name for name, is_unseen in unseen.items() if not is_unseen),
            flow=_read_flow(declarations, boxes),
            script=_read_script(declarations),
            table_part=TABLE_PARTS.get(declarations.get("display", ""), ""),
            boxes=_read_boxes(declarations),
            boxes_are_reversed=_read_direction(declarations).endswith("-reverse"),
            order=_read_order(declarations),
            keeps_lines=_read_keeps_lines(declarations),
            is_reversed=_is_reversed(declarations),
            is_bold=_read_bold(declarations),
            list_style=_read_list_style(declarations),
            changes=read_changes(declarations),
            **generated,
        )

    def _declarations(self, own: str, ranked: Iterable[Rule], inline: str) -> Declarations:
        """The declarations for an element.

        What is hidden, and shown only in some places or after a click, such as the panels of tabs, is taken as shown:
        ``.panel {display: none} .panel:first-child {display: block}``.
        """
        rules = [rule for rule in ranked if not rule.pseudo_element]
        of_name, of_element = parse_block(own), parse_block(inline)
        certain = [rule.block for rule in rules if not rule.is_guess]
        declarations = self._cascade(of_name, certain, of_element)
        if len(certain) < len(rules) and _hides_something(declarations):
            with_guesses = self._cascade(of_name, [rule.block for rule in rules], of_element)
            if not _hides_something(with_guesses):
                return with_guesses
        return declarations

    def _cascade(self, own: Block, sheet: Sequence[Block], inline: Block) -> Declarations:
        """The declarations that count (CSS 2.2, 6.4.1).

        A sheet that is not read may give back what one that is read takes away, such as the height of superscripts.
        """
        of_sheets = [block.normal for block in sheet]
        first = [*of_sheets, own.normal] if self._has_other_sheets else [own.normal, *of_sheets]
        important = [block.important for block in sheet]
        return cascade([*first, inline.normal, *important, inline.important])

    def _generate(self, blocks: Sequence[Block], of_element: Declarations) -> Generated | None:
        """The text that rules write before or after an element; None if they write none."""
        declarations = self._cascade(_NOTHING, blocks, _NOTHING)
        if "content" not in declarations:
            return None
        fonts = of_element.get("font-family", "") + declarations.get("font-family", "")
        if hides(declarations) or any(find_unseen(declarations).values()) or _ICON_FONT.search(fonts):
            return Generated((), PLAIN)
        style = Style(
            flow=_read_flow(declarations, ""), script=_read_script(declarations), changes=read_changes(declarations)
        )
        return Generated(read_content(declarations["content"]), style)


def _read_own(name: str, attributes: Attributes) -> str:
    """What an element's name, its classes for screen readers and its attribute `hidden` say."""
    own = _OF_NAME.get(name, "")
    if name == "bdo" and (attributes.get("dir") or "").lower() == "rtl":
        own += "; unicode-bidi: bidi-override; direction: rtl"
    if _UNSEEN_CLASS.search(attributes.get("class") or ""):
        own += "; clip: rect(0,0,0,0)"
    # Browsers unfold what is hidden "until-found" where it is looked for.
    if "hidden" in attributes and (attributes["hidden"] or "").lower() != "until-found":
        own += "; display: none"
    return own


def _hides_something(declarations: Declarations) -> bool:
    return hides(declarations) or any(find_unseen(declarations).values())


# --- values -----------------------------------------------------------------------------------------------------------

_NOTHING = Block({}, {})
_OWN_LINES = re.compile(r"block|flex|grid|list-item|table|flow-root")
_WRAPS = re.compile(r"(?:nowrap|wrap-reverse|wrap)\Z")
_HOLDS_BOXES = re.compile(r"(?:inline-)?(?:flex|(grid))")
_ORDER = re.compile(r"[-+]?\d{1,5}", re.ASCII)
_KEEPS_LINES = re.compile(r"pre|break-spaces")
TABLE_PARTS = {
    "table": "table",
    "inline-table": "table",
    "table-row-group": "tbody",
    "table-header-group": "thead",
    "table-footer-group": "tfoot",
    "table-row": "tr",
    "table-cell": "td",
    "table-caption": "caption",
}
_BOLD = re.compile(r"bold|bolder|[6-9]\d\d")
_LIST_STYLE = re.compile(r"none|disc|circle|square|decimal(?:-leading-zero)?|(?:lower|upper)-(?:alpha|latin|roman)")
_LENGTH = re.compile(r"([-+]?(?:\d{1,6}(?:\.\d{1,6})?|\.\d{1,6}))(r?em|ex|%|px|pt)")
_PER_EM = {"em": 1.0, "rem": 1.0, "ex": 2.0, "%": 100.0, "px": 16.0, "pt": 12.0}
_RAISED_EMS = 0.2
"""Letters that stand this much higher look raised. Badges and icons are moved by less."""
_SMALL_SIZE = re.compile(
    r"smaller|(?:xx?-)?small|0?\.\d{1,6}r?em|\d{2}(?:\.\d{1,6})?%|(?:\d|1[0-2])(?:\.\d{1,6})?px|\d(?:\.\d{1,6})?pt"
)
_ICON_FONT = re.compile(r"icon|glyph|awesome|symbol")


def _read_flow(declarations: Declarations, boxes: Boxes) -> Flow:
    """How an element stands in the line, in an element that holds `boxes`."""
    display = declarations.get("display", "")
    if _OWN_LINES.match(display):
        return Flow.OWN_LINES
    if boxes == "column":
        return Flow.OWN_LINES
    if boxes or declarations.get("float") in ("left", "right"):
        return Flow.APART
    if display.startswith("inline-"):
        return Flow.BOX
    return Flow.IN_LINE if display in ("inline", "contents") else Flow.BY_NAME


def _read_boxes(declarations: Declarations) -> Boxes:
    holds = _HOLDS_BOXES.fullmatch(declarations.get("display", ""))
    if holds is None:
        return ""
    if holds[1]:
        return "grid"
    return "column" if _read_direction(declarations).startswith("column") else "row"


def _read_direction(declarations: Declarations) -> str:
    """The direction of boxes, such as ``row-reverse``; "" if none is set."""
    written = declarations.get("flex-direction") or declarations.get("flex-flow", "")
    return _WRAPS.sub("", written)  # no blank is between the two


def _read_order(declarations: Declarations) -> int:
    written = declarations.get("order", "")
    return int(written) if _ORDER.fullmatch(written) else 0


def _read_keeps_lines(declarations: Declarations) -> bool | None:
    white_space = declarations.get("white-space")
    return _KEEPS_LINES.match(white_space) is not None if white_space else None


def _is_reversed(declarations: Declarations) -> bool:
    is_override = declarations.get("unicode-bidi") in ("bidi-override", "isolate-override")
    return is_override and declarations.get("direction") == "rtl"


def _read_bold(declarations: Declarations) -> bool | None:
    weight = declarations.get("font-weight", "inherit")
    return None if weight in ("inherit", "unset") else _BOLD.fullmatch(weight) is not None


def _read_list_style(declarations: Declarations) -> str:
    """The style of numbers; what is no longer an item of a list for its `display` shows none."""
    if declarations.get("display", "list-item") not in ("list-item", "block"):
        return "none"
    written = declarations.get("list-style-type") or declarations.get("list-style", "")
    style = _LIST_STYLE.search(written)
    return style[0] if style else ""


def _read_script(declarations: Declarations) -> Script:
    """Raised and lowered by `vertical-align`, or small and moved, as normalize.css has it for ``sup``."""
    is_small = _SMALL_SIZE.fullmatch(declarations.get("font-size", "")) is not None
    align = declarations.get("vertical-align", "")
    if align in ("super", "text-top") or (align == "top" and is_small):
        return Script.RAISED
    if align in ("sub", "text-bottom"):
        return Script.LOWERED

    ems = _read_ems(align)
    if is_small and declarations.get("position") == "relative":
        ems += _read_ems(declarations.get("bottom", "")) - _read_ems(declarations.get("top", ""))
    if abs(ems) < _RAISED_EMS:
        return Script.LEVEL
    return Script.RAISED if ems > 0 else Script.LOWERED


def _read_ems(value: str) -> float:
    """A length in heights of a line of common size; 0 for any other value."""
    length = _LENGTH.fullmatch(value)
    return float(length[1]) / _PER_EM[length[2]] if length else 0.0
