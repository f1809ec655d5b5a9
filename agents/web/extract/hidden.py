"""Removes what a reader of the page would not see, as far as the HTML shows it.

Covered: elements that are never text, the `hidden` attribute, and inline styles that remove or hide an element or move
it off the screen. Not covered: style sheets, scripts, colours, sizes and opacity, which need rendering. `aria-hidden`
elements stay: they are hidden only from screen readers. `<noscript>` is removed, because browsers run scripts.
"""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag
    from resiliparse.parse.html import ElementNode, HTMLTree

DROPPED_ELEMENTS = ("script", "style", "noscript", "template", "iframe", "svg", "canvas", "object", "select")
"""Never readable text. A `select` is a list of options, not prose."""

UNSEEN_SELECTORS = ["[hidden]", *DROPPED_ELEMENTS]
"""CSS selectors of hidden elements, after `mark_hidden`."""

_MAY_BE_HIDDEN = '[style*="display" i], [style*="visibility" i], [style*="-9"], [hidden="until-found"]'
_HIDING_STYLE = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|(?:left|top|text-indent)\s*:\s*-9{3,}",
    re.IGNORECASE,
)


def is_hidden_style(style: str) -> bool:
    """Whether an inline style hides the element."""
    return _HIDING_STYLE.search(style) is not None


def elements(tree: "HTMLTree", selector: str) -> "tuple[ElementNode, ...]":
    """The matching elements. The slice matters: iterating over the collection repeats the search at every step."""
    return tuple(tree.body.query_selector_all(selector)[:]) if tree.body is not None else ()


def mark_hidden(tree: "HTMLTree") -> None:
    """Set `hidden` on hidden elements of a resiliparse tree; clear it from elements that a page search can find."""
    for node in elements(tree, _MAY_BE_HIDDEN):
        if node.getattr("hidden") == "until-found":
            node.delattr("hidden")
        elif is_hidden_style(node.getattr("style") or ""):
            node.setattr("hidden", "")


def remove_hidden(soup: "BeautifulSoup") -> None:
    """Remove hidden elements from a BeautifulSoup tree."""
    for tag in [*soup.find_all((*DROPPED_ELEMENTS, "head")), *soup.find_all(_is_hidden)]:
        if not tag.decomposed:
            tag.decompose()


def _is_hidden(tag: "Tag") -> bool:
    if "hidden" in tag.attrs and tag.attrs["hidden"] != "until-found":
        return True
    style = tag.attrs.get("style")
    return isinstance(style, str) and is_hidden_style(style)
