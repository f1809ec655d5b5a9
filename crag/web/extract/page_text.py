"""The text of a page: one block a line, table rows as `a | b | c` (see `crag.web.extract.tree`).

HTML parsers are quadratic in nesting depth, so depth is cut first.
"""

import re
from functools import partial
from typing import TYPE_CHECKING

from crag.core.text import clean
from crag.web.extract.clean import clean_lines, neutralise, tidy
from crag.web.extract.hidden import mark_hidden
from crag.web.extract.tree import UNSEEN_SELECTORS, elements, table_rows_in_soup, table_rows_in_tree

if TYPE_CHECKING:
    from crag.settings import ExtractSettings

MAX_BYTES = 2_000_000
"""Of a page's UTF-8; the longest of CRAG's example pages has 1.6 million."""
MAX_DEPTH = 512
"""Of nested elements; no readable page comes near it."""
MAX_TEXT_CHARACTERS = 300_000
"""Of a page's text: some fifty times the longest article that a context has room for."""
SHORT_CHARACTERS = 300
"""A shorter main text is a sign that the article was not found."""
_LIBXML2_DEPTH = 200
"""libxml2 silently drops content deeper than 256 elements, so pages are flattened below that."""
_BLOCKS = re.findall(
    r"\w+",
    "address article aside blockquote br caption dd div dl dt figcaption figure footer form h1 h2 h3 h4 h5 h6 header "
    "hr li main nav ol option p pre section summary table tbody td th thead tr ul",
)
_LINE_END = "\x00"


def page_text(html: str, settings: "ExtractSettings") -> str:
    """The text of one page, safe for prompts; may be empty. Accepts any string."""
    if not html.strip():
        return ""
    html = cut_bytes(clean(html, most=8 * MAX_BYTES), MAX_BYTES)
    if settings.method == "beautifulsoup":
        text = visible_text(flatten(html, _LIBXML2_DEPTH))
    else:
        text = main_text(flatten(html, MAX_DEPTH), labelled_tables=settings.labelled_tables)
    text = tidy(neutralise(text))[:MAX_TEXT_CHARACTERS].rstrip()
    return clean_lines(text, english_only=settings.english_only, max_word_characters=settings.max_word_characters)


def main_text(html: str, *, labelled_tables: bool = False, shortest: int = SHORT_CHARACTERS) -> str:
    """Main content by resiliparse (Bevendorff et al., ECIR 2018), plus tables that its heuristics lose.

    It drops menus and boilerplate in about 10 ms a page, but also tables beside the article, which often hold CRAG's
    answers: boxes of facts, lists of records. A main text of fewer than `shortest` characters is replaced by all
    visible text.
    """
    from resiliparse.extract.html2text import extract_plain_text
    from resiliparse.parse.html import HTMLTree

    tree = HTMLTree.parse(html)
    if tree.body is None:
        return ""
    mark_hidden(partial(elements, tree), html)
    tables = table_rows_in_tree(tree, labelled=labelled_tables)

    def text_of(*, main_content: bool) -> str:
        return extract_plain_text(
            tree, main_content=main_content, list_bullets=False, alt_texts=False, skip_elements=UNSEEN_SELECTORS
        )

    main = text_of(main_content=True)
    if len(main) < shortest:
        return max(text_of(main_content=False), main, key=len)
    # A single row may be another table's header, so a table counts as kept only with all its rows.
    lost = [rows for rows in tables if not all(row in main for row in rows.split("\n"))]
    return "\n".join([main, *lost])


def visible_text(html: str) -> str:
    """All visible text, with menus and footers, by BeautifulSoup with lxml: the papers' choice (db3 2.2)."""
    from bs4 import BeautifulSoup

    soup = BeautifulSoup(html, "lxml")
    mark_hidden((soup.body or soup).select, html)
    for tag in soup.select(", ".join(["head", *UNSEEN_SELECTORS])):
        tag.decompose()
    table_rows_in_soup(soup)
    for tag in soup.find_all(_BLOCKS):
        tag.insert_before(_LINE_END)
        tag.insert_after(_LINE_END)
    return re.sub(r"\s+", " ", soup.get_text()).replace(_LINE_END, "\n")


# --- limits on what parsers read --------------------------------------------------------------------------------------

_TAG = re.compile(r"<(?:(!--)|(/?)([a-zA-Z][^\s/>]*)(?:[^>=]++|=\s*+(?:\"[^\"]*+\"|'[^']*+')?+)*+>?)")
_VOID = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"]
)
_RAW_TEXT = frozenset(["script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes"])
_END_OF_RAW_TEXT = {name: re.compile(rf"</{name}[^>]*+(?:>|\Z)", re.IGNORECASE) for name in _RAW_TEXT}
_END_OF_COMMENT = re.compile("-->")
_SCRIPT_OR_STYLE = re.compile(r"<(script|style).*?(?:</\1[^>]*+(?:>|\Z)|\Z)", re.IGNORECASE | re.DOTALL)
_CLOSES_ITSELF = frozenset(["p", "li", "dt", "dd", "option"])
"""An opening tag closes an open element of the same name."""
_SCOPES = frozenset(["table", "td", "th", "caption", "button", "object", "template", "svg", "math"])
"""A closing tag closes nothing outside these, unless it closes one of them."""
_ENDS = {"td": ("td", "th"), "th": ("td", "th"), "tr": ("td", "th", "tr")}
_TABLE_PARTS = ["caption", "tbody", "thead", "tfoot", "tr", "td", "th"]
_BARRIERS = {"table": frozenset[str]()} | dict.fromkeys(_TABLE_PARTS, frozenset(["table"]))
"""Closing tags of table parts reach up to the innermost table, a table's to any open table, others to a scope."""


def cut_bytes(html: str, max_bytes: int) -> str:
    """At most `max_bytes` of UTF-8. Removes scripts and styles first, so text is cut only if necessary."""
    if len(html) * 4 <= max_bytes or len(html.encode("utf-8")) <= max_bytes:
        return html
    html = _SCRIPT_OR_STYLE.sub("", html[: max_bytes * 8])
    return html.encode("utf-8")[:max_bytes].decode("utf-8", "ignore")


def _close(opened: list[str], name: str, barriers: frozenset[str]) -> bool:
    """Pop up to the last open element of this name; False if it is behind a barrier, too far up, or not open."""
    for place in range(len(opened) - 1, max(len(opened) - MAX_DEPTH, 0) - 1, -1):
        if opened[place] == name:
            del opened[place:]
            return True
        if opened[place] in barriers:
            break
    return False


def _open(opened: list[str], name: str) -> None:
    """Open an element and close those that it ends: a paragraph ends a paragraph, a row the last row."""
    if name in _CLOSES_ITSELF and opened and opened[-1] == name:
        opened.pop()
    for ended in _ENDS.get(name, ()):
        _close(opened, ended, _SCOPES)
    opened.append(name)


def flatten(html: str, max_depth: int) -> str:
    """Remove tags nested deeper than `max_depth`, but keep their text: one linear scan that is nearly a browser's."""
    if html.count("<") <= max_depth:
        return html
    opened: list[str] = []
    kept, copied, position = [], 0, 0
    while (match := _TAG.search(html, position)) is not None:
        position = match.end()
        if match[1]:
            position = _after(_END_OF_COMMENT, html, match.start() + 2)
            continue
        name = match[3].lower()
        if name in _VOID:
            continue
        if match[2]:
            dropped = _close(opened, name, _BARRIERS.get(name, _SCOPES)) and len(opened) >= max_depth
        elif name in _RAW_TEXT:
            position = _after(_END_OF_RAW_TEXT[name], html, position)
            continue
        else:
            _open(opened, name)
            dropped = len(opened) > max_depth
        if dropped:
            kept.append(html[copied : match.start()])
            copied = match.end()
    return "".join([*kept, html[copied:]]) if copied else html


def _after(end: re.Pattern[str], html: str, position: int) -> int:
    """The position after the next such end, or the end of the page."""
    match = end.search(html, position)
    return match.end() if match else len(html)
