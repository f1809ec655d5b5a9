"""Markdown as HTML: GitHub's tables and strikethrough, footnotes, definition lists, YAML before the text."""

import re
from typing import NamedTuple

_TITLE_LINE = re.compile(r"^title:[ \t]*[\"']?(.+?)[\"']?[ \t]*$", re.MULTILINE)
_LINK_TAG = re.compile(r"</?a(?:\s[^<>]*)?>")
"""Links go and their text stays: a page full of links would be taken for a menu."""
_FOOTNOTE_MARK = re.compile(
    r"""
      <sup \s class="footnote-ref"> .{0,200}? </sup>
    | <a \s [^<>]{0,200} class="footnote-backref" [^<>]{0,50}> [^<]{0,20} </a>      # the arrow back to the text
    """,
    re.VERBOSE,
)


class Converted(NamedTuple):
    """A document's title ("" if it has none) and its HTML."""

    title: str
    html: str


def convert_markdown(text: str) -> Converted:
    r"""The HTML of a Markdown text, without links.

    Example:
        convert_markdown("# Kites\nOur **red** kite.")  # Converted("Kites", "<h1>Kites</h1>\n<p>Our ...")
    """
    from markdown_it import MarkdownIt
    from mdit_py_plugins.deflist import deflist_plugin
    from mdit_py_plugins.footnote import footnote_plugin
    from mdit_py_plugins.front_matter import front_matter_plugin

    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    for plugin in (front_matter_plugin, footnote_plugin, deflist_plugin):
        parser.use(plugin)

    title = ""
    tokens = parser.parse(text)
    for token, following in zip(tokens, [*tokens[1:], None], strict=True):
        if token.type == "front_matter":
            named = _TITLE_LINE.search(token.content)
            title = title or (named[1] if named else "")
        is_main_heading = token.type == "heading_open" and token.tag == "h1" and following is not None
        if is_main_heading and following is not None and not title:
            title = without_tags(parser.renderer.render(following.children or [], parser.options, {}))

    markup = parser.renderer.render(tokens, parser.options, {})
    return Converted(title, without_links(_FOOTNOTE_MARK.sub("", markup)))


def without_links(markup: str) -> str:
    """HTML without the tags of its links."""
    return _LINK_TAG.sub("", markup)


def without_tags(markup: str) -> str:
    """The words of a piece of HTML."""
    from bs4 import BeautifulSoup

    return " ".join(BeautifulSoup(markup, "lxml").get_text().split())
