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
    """The text of an article, and each entry of its info box as a sentence."""
    title = article.entity
    paragraphs = [str(article.cells["text"]), *_say_entries(article)]
    body = "".join(f"<p>{escape(paragraph)}</p>" for paragraph in paragraphs)
    return Page(
        name=title,
        url=ARTICLE_SCHEME + title.replace(" ", "_"),
        snippet="",
        html=f"<h1>{escape(title)}</h1>{body}",
        rank=rank,
    )


def _say_entries(article: Row) -> Iterator[str]:
    """The info box in sentences, which rankers know better than a table: "The elevation m of Denver is 1,609."."""
    for key, entry in article.cells.items():
        if key not in _NOT_IN_BOX:
            label = key.replace("_", " ")
            yield f"The {label} of {article.entity} is {entry}."
