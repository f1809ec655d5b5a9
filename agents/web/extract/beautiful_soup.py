"""All visible text of a page by BeautifulSoup with lxml: the papers' choice (db3 2.2, WeKnow-RAG), and ten times
slower.
"""

import re
from typing import TYPE_CHECKING

from agents.web.extract.hidden import DROPPED_ELEMENTS, is_hidden_style
from agents.web.extract.tables import row_text

LIBXML2_DEPTH = 200
"""libxml2 silently drops what lies deeper than 256 elements, so pages are flattened below that for it."""

_BLOCKS = [
    "address",
    "article",
    "aside",
    "blockquote",
    "br",
    "caption",
    "dd",
    "div",
    "dl",
    "dt",
    "figcaption",
    "figure",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "li",
    "main",
    "nav",
    "ol",
    "option",
    "p",
    "pre",
    "section",
    "summary",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
    "ul",
]
if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag

_SPACE = re.compile(r"\s+")
_LINE_END = "\x00"


class BeautifulSoupExtractor:
    """Everything that can be seen, menus and footers included."""

    def extract(self, html: str) -> str:
        """Text of one page."""
        from bs4 import BeautifulSoup

        soup = BeautifulSoup(html, "lxml")
        for tag in soup.find_all((*DROPPED_ELEMENTS, "head")):
            tag.decompose()
        for tag in soup.find_all(_may_be_hidden):
            if not tag.decomposed:
                tag.decompose()
        _write_rows(soup)
        for tag in soup.find_all(_BLOCKS):
            tag.insert_before(_LINE_END)
            tag.insert_after(_LINE_END)
        return _SPACE.sub(" ", soup.get_text()).replace(_LINE_END, "\n")


def _may_be_hidden(tag: "Tag") -> bool:
    if "hidden" in tag.attrs and tag.attrs["hidden"] != "until-found":
        return True
    style = tag.attrs.get("style")
    return isinstance(style, str) and is_hidden_style(style)


def _write_rows(soup: "BeautifulSoup") -> None:
    """Rows of tables that hold no other table become one line each."""
    for table in soup.find_all("table"):
        if table.find("table") is not None:
            continue
        for row in table.find_all("tr"):
            cells = row.find_all(("td", "th"), recursive=False)
            if len(cells) > 1:
                row.string = row_text(_SPACE.sub(" ", cell.get_text(" ", strip=True)) for cell in cells)
