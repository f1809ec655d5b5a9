"""The open domain's table: an article with its info box, filled from the two open endpoints."""

import re
from collections.abc import Sequence

from crag.core.text import clean
from crag.graph.context import LookupContext, TableQuery, quote_names
from crag.graph.results import Cell, NotFoundError, Row
from crag.graph.spelling import search_names
from crag.text.matching import best_match, contains_words, content, normalise_name, plain_name, without_possessive

_TITLE_FLOOR = 0.75
"""Articles whose titles are less similar to the name are about something else."""
_MAX_MARKUP = 20_000
"""Characters of a value that are read."""
_MAX_NESTING = 4
"""Templates nest, but not deeply around useful text."""
_MOST_MENTIONED = 2
"""Articles that are read because the question has their titles: two for a comparison."""
_SHORTEST_TITLE = 4
"""Letters of the longest word of a title that is looked for in a question."""

_BRACKET = re.compile(r"\s?\([^()]{1,80}\)$")

# The look-ahead keeps a footnote that is never closed from running on to the end of the next one
_REFERENCE = re.compile(r"<ref[^<>]*/>|<ref(?:(?!<ref).)*?</ref>|<!--(?:(?!<!--).)*?-->", re.DOTALL)
"""Footnotes and comments."""
_TAG = re.compile(r"<[^<>]{0,200}>")
_LINK = re.compile(r"\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]")
_WEB_LINK = re.compile(r"\[https?://\S{1,400} ([^\[\]]*)\]")
_TEMPLATE = re.compile(r"\{\{([^{}]*)\}\}")
_TEMPLATES_WITHOUT_TEXT = frozenset({"efn", "refn", "notetag", "cite", "sfn", "citation", "nobold"})
_UNCLOSED_NOTE = re.compile(r"\{\{(?:efn|refn|notetag|cite|sfn|citation)\b[^{}]*\Z", re.IGNORECASE)
"""A note that the graph cut off."""
_MEASURE_TEMPLATES = frozenset({"convert", "cvt"})
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


def find_mentioned_articles(context: LookupContext, question: str) -> list[Row]:
    """The articles whose titles stand in the question word for word, at most `_MOST_MENTIONED`, best match first.

    A title inside a longer one does not count, and the words in brackets behind a title only choose between equal ones.
    """
    words = content(plain_name(question).split())
    titles = [str(title) for title in context.ask("/open/search_entity_by_name", query=" ".join(words))]
    mentioned = _mentioned_titles(question, titles)
    articles = [_read_article(context, title) for title in mentioned[:_MOST_MENTIONED]]
    return [article for article in articles if article is not None]


def _mentioned_titles(question: str, titles: Sequence[str]) -> list[str]:
    """Those of the titles that the question names, without those that are a part of another one."""
    plain_question = without_possessive(question)
    title_by_subject: dict[str, str] = {}
    for title in titles:
        subject = normalise_name(_BRACKET.sub("", title))
        if not _is_telling(subject) or not contains_words(plain_question, subject):
            continue
        # "Python (programming language)" only for a question about programming languages
        other = title_by_subject.get(subject)
        if other is None or _bracket_fit(title, question) > _bracket_fit(other, question):
            title_by_subject[subject] = title

    subjects = title_by_subject.keys()
    return [
        title
        for subject, title in title_by_subject.items()
        if not any(subject != other and contains_words(other, subject) for other in subjects)
    ]


def _is_telling(subject: str) -> bool:
    """Whether a title is more than a number or a word that any question may have."""
    words = content(subject.split())
    return any(len(word) >= _SHORTEST_TITLE and not word.isdecimal() for word in words)


def _bracket_fit(title: str, question: str) -> int:
    """1 for a title whose words in brackets the question has, 0 for one without brackets, -1 for other brackets."""
    bracket = _BRACKET.search(title)
    if bracket is None:
        return 0
    return 1 if contains_words(question, bracket.group()) else -1


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

    text = _UNCLOSED_NOTE.sub("", text)
    text = re.sub(r"'{2,}", "", text)  # bold and italics
    words = clean(text, references=True).split()

    # What was removed leaves blanks before punctuation, and commas at the ends.
    text = re.sub(r" ([,.;)])", r"\1", " ".join(words))
    return text.strip(" ,")


def _template_text(template: "re.Match[str]") -> str:
    """A template's arguments without name and options: "{{nowrap|Lake Titicaca|id=x}}" becomes "Lake Titicaca".

    Of a measure only the number and its unit, not what it is converted to: "{{convert|830|m|ft|0}}" becomes "830 m".
    """
    name, _, arguments = template.group(1).replace("|", " ").partition(" ")
    if name.casefold() in _TEMPLATES_WITHOUT_TEXT:
        return " "
    words = re.sub(r"\b\w+=\w+\b", " ", arguments).split()
    if name.casefold() in _MEASURE_TEMPLATES:
        words = words[:2]
    return f" {' '.join(words)} "
