"""The open domain's table: an article with its info box, filled from the two open endpoints."""

import re

from crag.graph.context import LookupContext, TableQuery, quote_names
from crag.graph.results import Cell, NotFoundError, Row
from crag.graph.spelling import search_names
from crag.graph.titles import is_word_in_passing, named_titles, telling_words, without_bracket
from crag.graph.wiki_markup import plain
from crag.text.matching import best_match

_TITLE_FLOOR = 0.75
"""Articles whose titles are less similar to the name are about something else."""
_MOST_NAMED = 2
"""Articles that are read because a question has their titles: two for a comparison."""
_MOST_READ = 4
"""Articles that are asked for to find those two: each is a request."""
_GLUED_SENTENCES = re.compile(r"(?<=[a-z\d)\]][.!?])(?=[A-Z][a-z])")
"""Between two sentences without a blank: the encyclopedia's texts lost the ends of their paragraphs."""


def get_open(context: LookupContext, query: TableQuery) -> list[Row]:
    """The article with that title: its summary and its info-box entries as plain text."""
    name = query.require_name("a title")
    title = _find_title(context, name)
    article = _read_article(context, title)
    if article is None:
        raise NotFoundError(f'the graph has no article "{title}"')
    return [article]


def find_named_articles(context: LookupContext, question: str) -> list[Row]:
    """The articles whose titles stand in the question (`named_titles`), at most two, best match first.

    Not those of common nouns that the question only uses (`is_word_in_passing`).
    """
    words = telling_words(question)
    if not words:
        return []
    titles = [str(title) for title in context.ask("/open/search_entity_by_name", query=" ".join(words))]
    articles: list[Row] = []
    for title in named_titles(question, titles)[:_MOST_READ]:
        article = _read_article(context, title)
        if article is not None and not is_word_in_passing(title, str(article.cells["text"]), question):
            articles.append(article)
        if len(articles) == _MOST_NAMED:
            break
    return articles


def _read_article(context: LookupContext, title: str) -> Row | None:
    """The article with exactly this title; None if the graph has only its name."""
    article = context.ask("/open/get_entity", query=title)
    if article is None:
        return None

    box = article.get("summary_structured") or {}
    text = article.get("summary_text") or ""
    cells: dict[str, Cell] = {}
    for key, value in box.items():
        entry = plain(str(value))
        # Nothing is left of an entry that was only markup
        if entry:
            cells[key] = entry

    raw_box = " ; ".join(f"{key} is {value}" for key, value in box.items() if value)
    cells["name"] = title
    cells["summary"] = " ".join(part for part in (raw_box, text) if part)
    cells["text"] = _GLUED_SENTENCES.sub(" ", plain(str(text)))
    return Row(title, cells)


def _find_title(context: LookupContext, name: str) -> str:
    titles = [str(title) for title in search_names(context, "/open/search_entity_by_name", name)]
    match = best_match(name, titles, floor=_TITLE_FLOOR)
    if match is None or not _has_same_subject(name, titles[match.position]):
        raise NotFoundError(f'the graph has no article "{name}"; nearest: {quote_names(titles)}')

    title = titles[match.position]
    if not match.exact:
        context.remark(f'"{name}" is read as the article "{title}"')
    return title


def _has_same_subject(name: str, title: str) -> bool:
    """Whether two titles are alike without what is in brackets: a long "(programming language)" makes any alike."""
    subjects = [without_bracket(text) for text in (name, title)]
    if name in subjects or title in subjects:
        return True
    return best_match(subjects[0], [subjects[1]], floor=_TITLE_FLOOR) is not None
