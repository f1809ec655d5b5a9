"""The text of a page: one block a line, table rows as `a | b | c` (see `crag.web.extract.tree`)."""

import re
from functools import partial
from typing import TYPE_CHECKING

from crag.core.text import clean
from crag.web.extract.clean import clean_lines, neutralise, tidy
from crag.web.extract.hidden import mark_hidden
from crag.web.extract.limits import MAX_BYTES, MAX_DEPTH, cut_bytes, flatten
from crag.web.extract.tree import UNSEEN_SELECTORS, elements, table_rows_in_soup, table_rows_in_tree

if TYPE_CHECKING:  # a worker starts in half the time without pydantic
    from resiliparse.parse.html import HTMLTree

    from crag.settings import ExtractSettings

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
    """The text of one page, safe for prompts; may be empty. Accepts any string.

    Example:
        page_text("<p>The comet was seen in <b>1910</b>.</p>", settings.web.extract)  # "The comet was seen in 1910."
    """
    if not html.strip():
        return ""

    # 1. Bound what the parsers read.
    html = clean(html, most=8 * MAX_BYTES)
    html = cut_bytes(html, MAX_BYTES)

    # 2. Read the text.
    if settings.method == "beautifulsoup":
        html = flatten(html, _LIBXML2_DEPTH)
        text = visible_text(html)
    else:
        html = flatten(html, MAX_DEPTH)
        text = main_text(html, labelled_tables=settings.labelled_tables)

    # 3. Make it safe, and bound what the later steps read.
    text = tidy(neutralise(text))[:MAX_TEXT_CHARACTERS].rstrip()
    return clean_lines(text, english_only=settings.english_only, max_word_characters=settings.max_word_characters)


def main_text(html: str, *, labelled_tables: bool = False, shortest: int = SHORT_CHARACTERS) -> str:
    """Main content by resiliparse (Bevendorff et al., ECIR 2018), plus tables that its heuristics lose.

    It drops menus and boilerplate in about 10 ms a page, but also tables beside the article, which often hold CRAG's
    answers: boxes of facts, lists of records. A main text of fewer than `shortest` characters is replaced by all
    visible text.
    """
    from resiliparse.parse.html import HTMLTree

    tree = HTMLTree.parse(html)
    if tree.body is None:
        return ""

    mark_hidden(partial(elements, tree), html)
    tables = table_rows_in_tree(tree, labelled=labelled_tables)

    main = _extract_visible(tree, main_content=True)
    if len(main) < shortest:
        everything = _extract_visible(tree, main_content=False)
        return max(everything, main, key=len)

    # A single row may be another table's header, so a table counts as present only with all its rows.
    lost_tables = []
    for table in tables:
        rows = table.split("\n")
        if not all(row in main for row in rows):
            lost_tables.append(table)
    return "\n".join([main, *lost_tables])


def _extract_visible(tree: "HTMLTree", *, main_content: bool) -> str:
    """The text of a tree without hidden elements: all of it, or only the article."""
    from resiliparse.extract.html2text import extract_plain_text

    text: str = extract_plain_text(
        tree,
        main_content=main_content,
        list_bullets=False,
        alt_texts=False,
        skip_elements=UNSEEN_SELECTORS,
    )
    return text


def visible_text(html: str) -> str:
    """All visible text, with menus and footers, by BeautifulSoup with lxml: the papers' choice (db3 2.2)."""
    from bs4 import BeautifulSoup

    soup = BeautifulSoup(html, "lxml")
    body = soup.body or soup
    mark_hidden(body.select, html)

    unseen = ", ".join(["head", *UNSEEN_SELECTORS])
    for tag in soup.select(unseen):
        tag.decompose()
    table_rows_in_soup(soup)

    # Line ends of the HTML are blanks; only blocks begin new lines.
    for tag in soup.find_all(_BLOCKS):
        tag.insert_before(_LINE_END)
        tag.insert_after(_LINE_END)
    text = re.sub(r"\s+", " ", soup.get_text())
    return text.replace(_LINE_END, "\n")
