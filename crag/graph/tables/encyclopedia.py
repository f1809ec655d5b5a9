"""The open domain's table: an article with its info box, filled from the two open endpoints."""

import re

from crag.core.text import clean
from crag.graph.context import LookupContext, TableQuery, quote_names
from crag.graph.results import Cell, NotFoundError, Row
from crag.graph.spelling import search_names
from crag.text.matching import best_match

_TITLE_FLOOR = 0.75
"""Articles whose titles are less similar to the name are about something else."""
_MAX_MARKUP = 20_000
"""Characters of a value that are read."""
_MAX_NESTING = 4
"""Templates nest, but not deeply around useful text."""

_BRACKET = re.compile(r"\s?\([^()]{1,80}\)$")

# The look-ahead keeps a footnote that is never closed from running on to the end of the next one
_REFERENCE = re.compile(r"<ref[^<>]*/>|<ref(?:(?!<ref).)*?</ref>|<!--(?:(?!<!--).)*?-->", re.DOTALL)
"""Footnotes and comments."""
_TAG = re.compile(r"<[^<>]{0,200}>")
_LINK = re.compile(r"\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]")
_WEB_LINK = re.compile(r"\[https?://\S{1,400} ([^\[\]]*)\]")
_TEMPLATE = re.compile(r"\{\{([^{}]*)\}\}")
_TEMPLATES_WITHOUT_TEXT = frozenset({"efn", "refn", "cite", "sfn", "citation", "nobold"})


def get_open(context: LookupContext, query: TableQuery) -> list[Row]:
    """The article with that title: its summary and its info-box entries as plain text."""
    name = query.require_name("a title")
    title = _find_title(context, name)
    article = context.ask("/open/get_entity", query=title)
    if article is None:
        raise NotFoundError(f'the graph has no article "{title}"')

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
    cells["text"] = plain(str(text))
    return [Row(title, cells)]


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
    subjects = [_BRACKET.sub("", text) for text in (name, title)]
    if name in subjects or title in subjects:
        return True
    return best_match(subjects[0], [subjects[1]], floor=_TITLE_FLOOR) is not None


def plain(markup: str) -> str:
    """Wiki markup as plain text: links and templates become their text, references are removed."""
    # Footnotes first: they hold links and templates of their own
    text = _REFERENCE.sub(" ", markup[:_MAX_MARKUP])
    text = _TAG.sub(" ", text)
    text = _WEB_LINK.sub(r"\1", text)

    # Links and templates can be inside each other: each round removes the innermost ones.
    for _ in range(_MAX_NESTING):
        text = _LINK.sub(r"\1", text)
        text = _TEMPLATE.sub(_template_text, text)

    text = re.sub(r"'{2,}", "", text)  # bold and italics
    words = clean(text, references=True).split()

    # What was removed leaves blanks before punctuation, and commas at the ends.
    text = re.sub(r" ([,.;)])", r"\1", " ".join(words))
    return text.strip(" ,")


def _template_text(template: "re.Match[str]") -> str:
    """A template's arguments without name and options: "{{convert|830|m|abbr=on}}" becomes "830 m"."""
    name, _, arguments = template.group(1).replace("|", " ").partition(" ")
    if name.casefold() in _TEMPLATES_WITHOUT_TEXT:
        return " "
    words = re.sub(r"\b\w+=\w+\b", " ", arguments).split()
    return f" {' '.join(words)} "
