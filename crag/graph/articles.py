"""Articles of the graph's encyclopedia as pages, so that their passages are ranked and read like those of the web.

An article is longer than a small model should read, and what a question asks for stands anywhere in it: in the text, or
far down in the info box.
"""

from collections.abc import Iterator, Sequence
from html import escape

from crag.core.contracts import ARTICLE_SCHEME, Page
from crag.graph.results import Result, Row, Status

_NOT_IN_BOX = frozenset({"name", "summary", "text"})
"""Cells of an article that are no entries of its info box."""


def found_articles(results: Sequence[Result]) -> list[Row]:
    """The articles that calls have found, each once, in the order of the calls."""
    article_by_title: dict[str, Row] = {}
    for result in results:
        if result.status is Status.OK:
            article_by_title |= {row.entity: row for row in result.rows if _is_article(row)}
    return list(article_by_title.values())


def article_pages(articles: Sequence[Row]) -> tuple[Page, ...]:
    """A page for each article, in order."""
    return tuple(_as_page(article, rank) for rank, article in enumerate(articles))


def _is_article(row: Row) -> bool:
    """Whether a row is an article: only these have a summary, and their text beside it."""
    return {"summary", "text"} <= row.cells.keys()


def _as_page(article: Row, rank: int) -> Page:
    """The text of an article, and its info box as a table of two columns."""
    title = article.entity
    entries = "".join(_box_rows(article))
    text = escape(str(article.cells["text"]))
    html = f"<h1>{escape(title)}</h1><p>{text}</p><table>{entries}</table>"
    return Page(
        name=title,
        url=ARTICLE_SCHEME + title.replace(" ", "_"),
        snippet="",
        html=html,
        rank=rank,
    )


def _box_rows(article: Row) -> Iterator[str]:
    """An info-box entry per row: "elevation m", "366"."""
    for key, entry in article.cells.items():
        if key not in _NOT_IN_BOX:
            label = key.replace("_", " ")
            yield f"<tr><th>{escape(label)}</th><td>{escape(str(entry))}</td></tr>"
