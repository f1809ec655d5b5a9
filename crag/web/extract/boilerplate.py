"""What of a page is not content: menus, page footers, cookie boxes, link farms. All else that a reader sees stays.

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
_CONTROLS = frozenset(["input", "button", "form"])
_HEADINGS = frozenset(["h1", "h2", "h3", "h4", "h5", "h6"])

_CONTENT_NOUN = r"""    # what a list of links may be about
    (?: albums? | artists? | awards? | bands? | books? | clubs? | dates? | effects? | events? | facts? | films?
      | members? | movies? | names? | notes? | novels? | people | places? | plays? | prices? | records? | singles?
      | songs? | species | tracks? | winners? | works? )
    (?! [a-z] )
"""
_FURNITURE = r"""    # what a box of a page is
    (?: banner | bar | block | box | buttons? | card | container | dialog | form | icons? | items? | layer | links?
      | list | media | menu | message | modules? | mpu | nav | networks? | notice | overlay | panel | popup | sdk
      | section | shar(?:e|ing) | signup | slot | unit | widget | wrap(?:per)? )
    (?! [a-z] )
"""
_CAMEL_CASE = re.compile(r"(?<=[a-z])(?=[A-Z])")
_MENU_NAME = re.compile(
    rf"""
    (?<! [a-z] )       # the start of a word of a class or id: of site-navigation, not of unmenu
    (?: (?: nav (?! -(?:frame|head|content) )    # not the boxes of MediaWiki that unfold
          | navbar | menus? | submenu | toc | sitemap | tags | catlinks | portal
          | side | sidebar | rail | toolbar | topbar | masthead | header | footer | widget | pagination | pager
          | trending | popular )
        (?! [a-z] )
      | (?: promo | social ) (?! [\w-] )
      | (?: promo | social ) [-_]{{1,2}} {_FURNITURE}    # not social-security
      | navigat | breadcrumb | related | recommend (?>(?:ed|ations?)?) | shar(?:e|ing) (?! -?holder )
    )
    (?! [-_]{{1,2}} {_CONTENT_NOUN} )    # not popular-songs, related-works
    """,
    re.VERBOSE,
)
"""In the class or id of parts that are menus if most of their letters are links."""
_NOTICE = (
    r"(?:cookies?|cookie(?:bot|consent|law|yes)|consent|gdpr|onetrust|sponsored|popup|modal|ads?|paywall"
    r"|newsletters?|adverts?|advertisement)"
)
_NOTICE_BOX_NAME = re.compile(rf"(?<![a-z]){_NOTICE}[-_]{{1,2}}{_FURNITURE}", re.VERBOSE)
"""In the class or id of boxes that are no content whatever they say, if they are short; not popup-books."""
_NOTICE_NAME = re.compile(rf"(?<![\w-]){_NOTICE}(?![\w-])")
"""A whole class or id. On a page about baking, boxes named cookies are content, so what they say must fit too."""
_NOTICE_WORDS = re.compile(
    r"""
    \b
    (?: we | us | our                               # the owner of the page speaks
      | your \s (?: browser | choices? | consent | data | device | e-?mail | inbox | preferences | privacy )
      | subscribe | sign (?: \s | - ) up | log \s in | this \s (?: web )?site | third \s part(?: y | ies )
      | personali[sz]ed | advertisements?
    )
    \b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_NOTICE_WITH_FORM = re.compile(rf"(?<![a-z])(?:{_NOTICE}|subscribe|subscription|signup|login)(?![a-z])")
"""In the class or id of boxes with a form or button; a number of subscribers is content."""
_FOOTER_NAME = re.compile(
    r"""
    (?<! [a-z] )
    (?<! article[-_] ) (?<! entry[-_] ) (?<! post[-_] ) (?<! story[-_] )    # not the last lines of an article
    footer
    (?! [a-z] | [-_]{1,2} notes? (?! [a-z] ) )
    """,
    re.VERBOSE,
)
_WIKI_CLASSES = frozenset(
    ["navbox", "vertical-navbox", "mw-editsection", "mw-jump-link", "printfooter", "catlinks", "noprint", "ambox"]
)
"""Of MediaWiki, for boxes of links, links to its editor, and requests to readers to better the article."""
_WIKI_BOX_CLASSES = frozenset(["metadata", "stub"])
"""The same, but elsewhere words for what is content; MediaWiki's boxes are also `plainlinks`."""
_LINK_FARM_HEADING = re.compile(
    r"""
    (?: related | recommended (?: \s for \s you )? | trending (?: \s now )? | popular (?: \s now )?
      | most \s (?: read | popular | viewed | shared ) | more \s (?: from | on ) \s [^.]{1,40} | more \s pages
      | you \s (?: may | might ) \s (?: also \s )? (?: like | enjoy ) | read \s (?: more | next | on )
      | (?: related | recommended | trending | popular | latest | recent | more | other | our ) \s (?: \w{1,20} \s )?
        (?: articles | stories | posts | news | content | topics | links | reading | coverage | videos | pages
          | searches )
      | follow \s us | share (?: \s this (?: \s \w{1,20} )? )? | categories | tags | archives? | navigation
      | quick \s links
    )
    :?                 # the whole heading: "Popular songs" and "Related artists" are content
    """,
    re.IGNORECASE | re.VERBOSE,
)
_SKIP_LINK = re.compile(r"(?:skip|jump) to .{1,30}", re.IGNORECASE)

_MAX_HEADING_LETTERS = 40
_MAX_NOTICE_LETTERS = 1_500
_MIN_LINKS = 3
_MENU_SHARE = 0.5
"""Of letters in links, where a name also says that it is a menu."""
_LINK_FARM_SHARE = 0.8
"""Of letters in links, where nothing else says so."""
_CONTENT_SHARE = 0.5
"""An element is the page's content if it holds more than this share of its letters outside links."""
_MAX_MENU_LETTERS = 60
"""Outside the links of a menu; a column with more holds something beside its menus."""
_END_SHARE = 0.1
"""Of the page's letters that may follow its footer."""
_START_LETTERS = 20
"""Of a text outside links with which the content may begin."""


def mark_boilerplate(body: Element) -> None:
    """Set `is_boilerplate` on the outermost elements that are no content."""
    _Marker(body, _find_content(body)).mark_below(body, inside_content=False)


def _find_content(body: Element) -> Element | None:
    """The element `main`, or else `article`, that holds most of the page's text outside links."""
    content: Element | None = body
    while content is not None:
        content = _largest_part(content, body)
        if content is not None and (content.name in _CONTENT_ELEMENTS or content.get("role") == "main"):
            return content
    return None


def _largest_part(parent: Element, body: Element) -> Element | None:
    """The child that holds most of the page's text outside links, if there is one."""
    for child in parent.elements():
        if child.plain_letters > _CONTENT_SHARE * body.plain_letters:
            return child
    return None


class _Marker:
    """Goes through the page in reading order."""

    def __init__(self, body: Element, content: Element | None) -> None:
        self._body = body
        self._content = content
        self._passed_letters = 0
        self._has_begun = False
        """Whether a heading or a text outside links has been passed."""

    def mark_below(self, parent: Element, *, inside_content: bool) -> None:
        """Mark boilerplate among the descendants of an element."""
        heading: Element | None = None
        for child in parent.children:
            if isinstance(child, str):
                self._passed_letters += len(child.strip())
                self._has_begun = self._has_begun or len(child.strip()) >= _START_LETTERS
                continue
            if child.letters == 0:
                continue

            in_content = inside_content or child is self._content
            child.is_boilerplate = self._is_boilerplate(child, in_content, heading)
            if child.is_boilerplate or child.name == "a":
                self._passed_letters += child.letters
                # The heading of a link farm goes with it.
                if child.is_boilerplate and heading is not None and _is_farm_heading(heading):
                    heading.is_boilerplate = True
                continue

            self._has_begun = self._has_begun or child.name in _HEADINGS
            if child.link_count == 0 and child.letters <= _MAX_HEADING_LETTERS:
                heading = child
            elif child.letters > _START_LETTERS:
                heading = None
            self.mark_below(child, inside_content=in_content or child.name in _INSIDE_CONTENT)

    def _is_boilerplate(self, element: Element, in_content: bool, heading: Element | None) -> bool:
        if _is_certain(element):
            return True
        if element.name in _CONTENT_ELEMENTS or element is self._content or element.holds_content:
            return False
        if not in_content and self._is_page_footer(element):
            return True
        # What holds most of the page is not a menu, whatever its name.
        if element.plain_letters > _CONTENT_SHARE * self._body.plain_letters and element.plain_letters > 0:
            return False
        # No cell or row of a table is left out, whatever its class, and no table with headers, whatever is round it.
        is_part = element.name in _PARTS or "-" in element.name
        if not is_part or element.holds_header_cell:
            return False
        return _is_named_boilerplate(element, in_content) or self._is_link_farm(element, in_content, heading)

    def _is_page_footer(self, element: Element) -> bool:
        """Whether an element is, or is named, a footer; by its name only at the end of the page."""
        if element.name == "footer":
            return True
        if element.name not in _PARTS or not _FOOTER_NAME.search(_names_of(element)):
            return False
        following_letters = self._body.letters - self._passed_letters - element.letters
        return following_letters <= _END_SHARE * self._body.letters

    def _is_link_farm(self, element: Element, in_content: bool, heading: Element | None) -> bool:
        """Whether a part is nothing but links, and stands where menus stand."""
        is_all_links = element.link_letters >= _LINK_FARM_SHARE * element.letters
        if element.link_count < _MIN_LINKS or not is_all_links:
            return False
        if heading is not None and _is_farm_heading(heading):
            return True

        # A box beside the content may hold a list of members.
        is_outside = self._content is not None and not in_content and element.name != "aside"
        is_before = self._content is None and not self._has_begun
        return is_outside or is_before


def _is_certain(element: Element) -> bool:
    """Whether an element itself says that it is a menu, or a link past one."""
    if element.name == "nav" or element.get("role") in _MENU_ROLES:
        return True
    if element.name == "a" and element.get("href").startswith("#"):
        return _SKIP_LINK.fullmatch(_text_of(element)) is not None
    written_classes = element.get("class")
    if not written_classes:
        return False
    classes = written_classes.lower().split()
    is_wiki_box = "plainlinks" in classes and not _WIKI_BOX_CLASSES.isdisjoint(classes)
    # MediaWiki also keeps words of a sentence from printers: "(age 54)".
    is_in_sentence = element.name == "span" and element.link_count == 0 and "noprint" in classes
    return is_wiki_box or not (is_in_sentence or _WIKI_CLASSES.isdisjoint(classes))


def _is_named_boilerplate(element: Element, in_content: bool) -> bool:
    """Whether class or id name a menu or a notice, and what the element holds fits that."""
    names = _names_of(element) if in_content else f"{_names_of(element)} {element.name}"
    if _MENU_NAME.search(names):
        share = _MENU_SHARE if element.plain_letters <= _MAX_MENU_LETTERS else _LINK_FARM_SHARE
        # A number beside links says something about them: "Ada Moe 60%".
        if element.link_letters >= share * element.letters and not _has_number_beside_links(element):
            return True

    if element.letters > _MAX_NOTICE_LETTERS:
        return False
    if _NOTICE_BOX_NAME.search(names) or element.get("role") == "dialog" or element.get("aria-modal") == "true":
        return True
    if _NOTICE_NAME.search(names) and _reads_like_notice(element):
        return True
    return _NOTICE_WITH_FORM.search(names) is not None and any(
        child.name in _CONTROLS for child in element.descendants()
    )


def _reads_like_notice(element: Element) -> bool:
    """Whether an element is mostly links or a few words, or speaks as the owner of a page does."""
    is_mostly_links = element.link_letters >= _MENU_SHARE * element.letters
    return is_mostly_links or element.letters < _START_LETTERS or _NOTICE_WORDS.search(_text_of(element)) is not None


def _has_number_beside_links(element: Element) -> bool:
    for child in element.children:
        if isinstance(child, str):
            has_number = any(character.isdigit() for character in child)
        else:
            has_number = child.name != "a" and _has_number_beside_links(child)
        if has_number:
            return True
    return False


def _names_of(element: Element) -> str:
    """The words of class and id, in lower case with signs between them."""
    return _CAMEL_CASE.sub("-", f"{element.get('class')} {element.get('id')}").lower()


def _is_farm_heading(heading: Element) -> bool:
    return _LINK_FARM_HEADING.fullmatch(_text_of(heading)) is not None


def _text_of(element: Element) -> str:
    """The text of an element with single blanks."""
    texts = [child if isinstance(child, str) else _text_of(child) for child in element.children]
    return " ".join(" ".join(texts).split())
