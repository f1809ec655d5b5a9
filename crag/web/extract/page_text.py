"""The text of a page: one block a line, table rows as `a | b | c` (see `crag.web.extract.writer`)."""

from typing import TYPE_CHECKING

from crag.core.text import encodable
from crag.web.extract.boilerplate import mark_boilerplate
from crag.web.extract.clean import clean_lines, neutralise, tidy
from crag.web.extract.limits import MAX_BYTES, MAX_DEPTH, cut_bytes, flatten
from crag.web.extract.noscript import drop_noscript_of_head
from crag.web.extract.parse import parse_with_beautifulsoup, parse_with_lexbor
from crag.web.extract.shadow import open_shadow_trees
from crag.web.extract.writer import MAX_TEXT_CHARACTERS, write_text
from crag.web.extract.xhtml import xhtml_as_html

if TYPE_CHECKING:  # a worker starts in half the time without pydantic
    from crag.settings import ExtractSettings

SHORT_CHARACTERS = 300
SENTENCE_CHARACTERS = 40
"""A main text that is short and has no line of a sentence's length is a sign that the content was not found."""
_LIBXML2_DEPTH = 200
"""libxml2 silently drops content deeper than 256 elements, so pages are flattened below that."""


def page_text(html: str, settings: "ExtractSettings") -> str:
    """The text of one page, safe for prompts; may be empty. Accepts any string.

    Example:
        page_text("<p>The comet was seen in <b>1910</b>.</p>", settings.web.extract)  # "The comet was seen in 1910."
    """
    if not html.strip():
        return ""

    # 1. Bound what the parsers read. Cleaning the text later takes a hundredth of the time of cleaning the markup.
    html = encodable(html[: 8 * MAX_BYTES]).replace("\x00", "")
    html = xhtml_as_html(cut_bytes(html, MAX_BYTES))
    html = open_shadow_trees(drop_noscript_of_head(html))

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


def main_text(html: str, *, labelled_tables: bool = False) -> str:
    """What a reader sees of a page beside boilerplate (`crag.web.extract.boilerplate`); all if that is little."""
    text = _read_main(html, html, labelled_tables=labelled_tables)
    if len(text) >= SENTENCE_CHARACTERS or "<style" not in html:
        return text
    # Some pages hide all that they have until a script has run.
    without_sheets = _read_main(html, "", labelled_tables=labelled_tables)
    return without_sheets if _has_content(without_sheets) else text


def _read_main(html: str, sheets: str, *, labelled_tables: bool) -> str:
    body = parse_with_lexbor(html, sheets)
    mark_boilerplate(body)
    text = tidy(write_text(body, labelled_tables=labelled_tables, with_boilerplate=False))
    if _has_content(text):
        return text
    return write_text(body, labelled_tables=labelled_tables, with_boilerplate=True)


def _has_content(text: str) -> bool:
    return len(text) >= SHORT_CHARACTERS or max(map(len, text.split("\n"))) >= SENTENCE_CHARACTERS


def visible_text(html: str) -> str:
    """All visible text, with menus and footers, by BeautifulSoup with lxml: the papers' choice (db3 2.2)."""
    body = parse_with_beautifulsoup(html)
    return write_text(body, labelled_tables=False, with_boilerplate=True)
