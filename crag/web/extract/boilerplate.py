"""What of a page is no content: menus, page footers, cookie boxes, link farms. All else that a reader sees stays.

Kept on purpose: lists whose items are links, as in filmographies or lists of members, boxes beside an article,
captions, dates and authors. In doubt a part stays: the reranker passes over it, but nothing brings back what is lost.
"""

import re

from crag.web.extract.nodes import Element

_MENU_ROLES = frozenset(["navigation", "menu", "menubar", "contentinfo", "search", "alertdialog"])
_CONTENT_ELEMENTS = frozenset(["main", "article"])
_INSIDE_CONTENT = frozenset(["main", "article", "aside", "blockquote", "figure", "td"])
"""A footer or header of one of these is not the page's: it names the author of a quotation, the date of an article."""
_PARTS = frozenset(
    ["ul", "ol", "menu", "dl", "div", "nav", "p", "section", "aside", "header", "footer", "table", "form"]
)
"""Elements that may be a list of links as a whole."""
_HEADINGS = frozenset(["h1", "h2", "h3", "h4", "h5", "h6"])

_CAMEL_CASE = re.compile(r"(?<=[a-z])(?=[A-Z])")
_MENU_NAME = re.compile(
    r"""
    (?<! [a-z] )       # the start of a word of a class or id: of site-navigation, not of unmenu
    (?: (?: nav | navbar | menus? | submenu | toc | sitemap | links | tags | catlinks | portal
          | side | sidebar | rail | toolbar | topbar | masthead | header | footer | widget | pagination | pager
          | trending | popular | most | promo | social )
        (?! [a-z] )
      | navigat | breadcrumb | related | recommend | shar(?:e|ing)
    )
    """,
    re.VERBOSE,
)
"""In the class or id of parts that are menus if most of their letters are links."""
_NOTICE_NAME = re.compile(
    r"""
    (?<! [a-z] )
    (?: (?: cookies? | consent | gdpr | onetrust | subscribe | subscription | signup | sponsored | popup | modal | ads?
          | paywall | footer )
        (?! [a-z] )
      | newsletter | advert
    )
    """,
    re.VERBOSE,
)
"""In the class or id of boxes that are no content whatever they say, if they are short."""
_WIKI_CLASSES = frozenset(
    ["navbox", "mw-editsection", "mw-jump-link", "printfooter", "catlinks", "noprint", "ambox", "metadata", "stub"]
)
"""Of MediaWiki, for boxes of links, links to its editor, and requests to readers to better the article."""
_LINK_FARM_HEADING = re.compile(
    r"""
    (?: related | recommended | trending | popular | most \s (?: read | popular | viewed )
      | more \s (?: from | on | stories ) | you \s (?: may | might ) | read \s (?: more | next )
      | latest \s (?: news | stories | posts ) | recent \s posts
      | follow \s us | share \s this | categories | tags | archives | navigation \b | quick \s links
    )
    [^.]{0,40}      # a heading, not a sentence
    """,
    re.IGNORECASE | re.VERBOSE,
)

_MAX_NOTICE_LETTERS = 1_500
_MIN_LINKS = 3
_MENU_SHARE = 0.5
"""Of letters in links, where a name also says that it is a menu."""
_LINK_FARM_SHARE = 0.8
"""Of letters in links, where nothing else says so."""
_CONTENT_SHARE = 0.5
"""An element is the page's content if it holds more than this share of its letters outside links."""
_START_LETTERS = 20
"""Of a text outside links with which the content may begin."""


def mark_boilerplate(body: Element) -> int:
    """Set `is_boilerplate` on the outermost elements that are no content; their letters outside links."""
    marker = _Marker(body, _find_content(body))
    marker.mark_below(body, inside_content=False)
    return marker.dropped_letters


def _find_content(body: Element) -> Element | None:
    """The element `main`, or else `article`, that holds most of the page's text outside links."""
    for element in body.descendants():
        is_content = element.name in _CONTENT_ELEMENTS or element.get("role") == "main"
        if is_content and element.plain_letters > _CONTENT_SHARE * body.plain_letters:
            return element
    return None


class _Marker:
    """Goes through the page in reading order."""

    def __init__(self, body: Element, content: Element | None) -> None:
        self._body = body
        self._content = content
        self.dropped_letters = 0
        self._has_begun = False
        """Whether a heading or a text outside links has been passed."""

    def mark_below(self, parent: Element, *, inside_content: bool) -> None:
        """Mark boilerplate among the descendants of an element."""
        heading: Element | None = None
        for child in parent.children:
            if isinstance(child, str):
                self._has_begun = self._has_begun or len(child.strip()) >= _START_LETTERS
                continue
            if child.letters == 0:
                continue

            in_content = inside_content or child is self._content
            child.is_boilerplate = self._is_boilerplate(child, in_content, heading)
            if child.is_boilerplate:
                self.dropped_letters += child.plain_letters
                # The heading of a link farm goes with it.
                if heading is not None and _is_farm_heading(heading):
                    heading.is_boilerplate = True
                continue
            if child.name in _HEADINGS:
                heading = child
                self._has_begun = True
            elif child.letters > _START_LETTERS:
                heading = None
            # A link list inside a menu-like paragraph is the paragraph.
            if child.name != "a":
                self.mark_below(child, inside_content=in_content or child.name in _INSIDE_CONTENT)

    def _is_boilerplate(self, element: Element, in_content: bool, heading: Element | None) -> bool:
        role = element.get("role")
        classes = element.get("class").lower().split()
        if element.name == "nav" or role in _MENU_ROLES or not _WIKI_CLASSES.isdisjoint(classes):
            return True
        if element.name in _CONTENT_ELEMENTS or element is self._content:
            return False
        if element.name == "footer" and not in_content:
            return True
        # What holds most of the page is no menu, whatever its name.
        if element.plain_letters > _CONTENT_SHARE * self._body.plain_letters and element.plain_letters > 0:
            return False
        # No cell or row of a table is left out, whatever its class.
        if element.name not in _PARTS and "-" not in element.name:
            return False
        return self._is_named_boilerplate(element, in_content) or self._is_link_farm(element, in_content, heading)

    def _is_named_boilerplate(self, element: Element, in_content: bool) -> bool:
        """Whether class or id name a menu or a notice, and what it holds fits that."""
        if element.holds_content:
            return False
        names = f"{element.get('class')} {element.get('id')}"
        if not in_content:
            names += f" {element.name}"
        names = _CAMEL_CASE.sub("-", names).lower()
        is_mostly_links = element.link_letters >= _MENU_SHARE * element.letters
        if is_mostly_links and _MENU_NAME.search(names):
            return True
        return element.letters <= _MAX_NOTICE_LETTERS and _NOTICE_NAME.search(names) is not None

    def _is_link_farm(self, element: Element, in_content: bool, heading: Element | None) -> bool:
        """Whether a part is nothing but links, and stands where menus stand."""
        is_all_links = element.link_letters >= _LINK_FARM_SHARE * element.letters
        if element.link_count < _MIN_LINKS or not is_all_links or element.holds_content:
            return False
        if heading is not None and _is_farm_heading(heading):
            return True

        # A box beside the content may hold a list of members.
        is_outside = self._content is not None and not in_content and element.name != "aside"
        is_before = self._content is None and not self._has_begun
        return is_outside or is_before


def _is_farm_heading(heading: Element) -> bool:
    return _LINK_FARM_HEADING.fullmatch(_text_of(heading)) is not None


def _text_of(element: Element) -> str:
    """The text of a heading with single blanks."""
    texts = [child if isinstance(child, str) else _text_of(child) for child in element.children]
    return " ".join(" ".join(texts).split())
