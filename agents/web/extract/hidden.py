"""Drops what a reader of the page would not see, as far as the HTML itself says so.

Covered: elements that are never text, the `hidden` attribute, and inline styles that remove or hide an element or move
it off the screen. Not covered: style sheets, scripts, colours, sizes and opacity, which need rendering. `aria-hidden`
elements are hidden only from screen readers, so they stay. `<noscript>` goes, because the reader's browser runs
scripts.
"""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag
    from resiliparse.parse.html import ElementNode, HTMLTree

DROPPED_ELEMENTS = ("script", "style", "noscript", "template", "iframe", "svg", "canvas", "object", "select")
"""Never text for the reader. A `select` is a list of choices that nobody wrote as prose."""

UNSEEN_SELECTORS = ["[hidden]", *DROPPED_ELEMENTS]
"""CSS selectors of what is not shown, once `mark_hidden` has been called."""

_MAY_BE_HIDDEN = '[style*="display" i], [style*="visibility" i], [style*="-9"], [hidden="until-found"]'
_HIDING_STYLE = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|(?:left|top|text-indent)\s*:\s*-9{3,}",
    re.IGNORECASE,
)


def is_hidden_style(style: str) -> bool:
    """Whether an inline style keeps the element from being seen."""
    return _HIDING_STYLE.search(style) is not None


def elements(tree: "HTMLTree", selector: str) -> "tuple[ElementNode, ...]":
    """The elements that match. The slice matters: iterating over the collection repeats the search at every step."""
    return tuple(tree.body.query_selector_all(selector)[:]) if tree.body is not None else ()


def mark_hidden(tree: "HTMLTree") -> None:
    """Give hidden elements of a resiliparse tree the attribute `hidden`; clear it from those a page search can find."""
    for node in elements(tree, _MAY_BE_HIDDEN):
        if node.getattr("hidden") == "until-found":
            node.delattr("hidden")
        elif is_hidden_style(node.getattr("style") or ""):
            node.setattr("hidden", "")


def remove_hidden(soup: "BeautifulSoup") -> None:
    """Remove what is not shown from a BeautifulSoup tree."""
    for tag in [*soup.find_all((*DROPPED_ELEMENTS, "head")), *soup.find_all(_is_hidden)]:
        if not tag.decomposed:
            tag.decompose()


def _is_hidden(tag: "Tag") -> bool:
    if "hidden" in tag.attrs and tag.attrs["hidden"] != "until-found":
        return True
    style = tag.attrs.get("style")
    return isinstance(style, str) and is_hidden_style(style)
