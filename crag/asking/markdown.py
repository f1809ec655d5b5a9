"""Markdown as HTML: GitHub's tables and strikethrough, footnotes, definition lists, fields before the text."""

import html
import re
from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from crag.asking.front_matter import split_front_matter
from crag.asking.grid_tables import draw_grids_as_bars

if TYPE_CHECKING:
    from markdown_it.rules_inline import StateInline

_LINK_TAG = re.compile(r"</?a(?:\s[^<>]*)?>")
"""Links go and their text stays: a page full of links would be taken for a menu."""
_SOURCE = re.compile(r"""(?:(?<=[\w.,;:!?)%”"])(?<!\b[A-Z])|(?<=\d</a>))<a\s[^<>]*>(\d{1,3})</a>""")
"""A link whose words are a number, directly behind what it is the source of."""
_FOOTNOTE_MARK = re.compile(
    r"""
      <sup \s class="footnote-ref"> .{0,200}? </sup>
    | <a \s [^<>]{0,200} class="footnote-backref" [^<>]{0,50}> [^<]{0,20} </a>      # the arrow back to the text
    """,
    re.VERBOSE,
)


_WIKI_LINK = re.compile(r"!?\[\[([^\[\]|#^\n]{1,200}+)([#^][^\[\]|\n]{0,200}+)?(?:\|([^\[\]\n]{1,200}+))?\]\](?![(\[])")
"""A link to another file as programs for notes write it: ``[[Ida Lund|Ida]]``; with ``!`` a picture of it."""
_ALERT = re.compile(r"^([ \t]*>[ \t]*)\[!(\w{1,20})\][-+]?[ \t]*(.*)$", re.MULTILINE)
"""The first line of a box: ``> [!NOTE]``, perhaps with a title."""


class Converted(NamedTuple):
    """A document's title ("" if it has none) and its HTML."""

    title: str
    html: str


def convert_markdown(text: str) -> Converted:
    r"""The HTML of a Markdown text, without links. The fields before the text are its first lines.

    Example:
        convert_markdown("# Kites\nOur **red** kite.")  # Converted("Kites", "<h1>Kites</h1>\n<p>Our ...")
    """
    from markdown_it import MarkdownIt
    from mdit_py_plugins.deflist import deflist_plugin
    from mdit_py_plugins.dollarmath import dollarmath_plugin
    from mdit_py_plugins.footnote import footnote_plugin

    from crag.asking.markdown_tables import table_rows_plugin

    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    for plugin in (footnote_plugin, deflist_plugin, table_rows_plugin):
        parser.use(plugin)
    parser.use(dollarmath_plugin, allow_space=False, allow_digits=False, renderer=_write_formula)
    parser.inline.ruler.before("link", "wiki_link", _read_wiki_link)

    fields, body = split_front_matter("\n".join(text.splitlines()))
    body = draw_grids_as_bars(_ALERT.sub(_write_alert, body))
    title = fields.pop("title", "")
    tokens = parser.parse(body)
    for token, following in pairwise(tokens):
        is_main_heading = token.type == "heading_open" and token.tag == "h1"
        if is_main_heading and not title:
            title = without_tags(parser.renderer.render(following.children or [], parser.options, {}))

    lines = [f"<p>{html.escape(f'{name}: {value}')}</p>\n" for name, value in fields.items()]
    markup = parser.renderer.render(tokens, parser.options, {})
    return Converted(title, "".join(lines) + without_links(_FOOTNOTE_MARK.sub("", markup)))


def _read_wiki_link(state: "StateInline", silent: bool) -> bool:
    """Read a link to another file as the words that are shown for it; a picture has none."""
    link = _WIKI_LINK.match(state.src, state.pos)
    # "[[1]]" is no link.
    if link is None or not any(map(str.isalpha, link[1])):
        return False
    if not silent:
        target, place, words = link.groups()
        text = state.push("text", "", 0)
        text.content = "" if link[0].startswith("!") else words or f"{target}{place or ''}"
    state.pos = link.end()
    return True


def _write_alert(alert: re.Match[str]) -> str:
    """The first line of a box as the words that are shown there: its title, or else its kind."""
    quote, kind, title = alert.groups()
    return f"{quote}{title or kind.capitalize()}  "


def _write_formula(formula: str, _: Mapping[str, Any]) -> str:
    """A formula as it is written: its signs mark nothing, as in ``$2*3*4$``."""
    return html.escape(f"${formula}$")


def without_links(markup: str) -> str:
    """HTML without the tags of its links. The number of a source stays apart: ``5,000 [1]``."""
    return _LINK_TAG.sub("", _SOURCE.sub(r" [\1]", markup))


def without_tags(markup: str) -> str:
    """The words of a piece of HTML on a line, without what is struck out; a power is ``10^6``."""
    from bs4 import BeautifulSoup

    piece = BeautifulSoup(markup, "lxml")
    for gone in piece.find_all(["s", "del", "strike"]):
        gone.replace_with("")
    for line_end in piece.find_all("br"):
        line_end.replace_with(" ")
    for raised in piece.find_all("sup"):
        if raised.get_text().strip().isdigit():
            raised.insert_before("^")
    return " ".join(piece.get_text().split())
