"""The open domain's table: an article with its info box, filled from the two open endpoints."""

import re

from crag.core.text import clean
from crag.graph.context import LookupContext, TableQuery, name_list
from crag.graph.results import Cell, NotFoundError, Row
from crag.text.matching import best_match

_NO_TEXT = re.compile(r"<ref[^<>]*/>|<ref(?:(?!<ref).)*?</ref>|<!--(?:(?!<!--).)*?-->", re.DOTALL)
_TAG = re.compile(r"<[^<>]{0,200}>")
_LINK = re.compile(r"\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]")
_WEB_LINK = re.compile(r"\[https?://\S{1,400} ([^\[\]]*)\]")
_TEMPLATE = re.compile(r"\{\{([^{}]*)\}\}")


def get_open(context: LookupContext, query: TableQuery) -> list[Row]:
    """The article with that title: its summary and its info-box entries as plain text."""
    name = query.name("a title")
    titles = [str(title) for title in context.ask("/open/search_entity_by_name", query=name)]
    match = best_match(name, titles, floor=0.75)
    if match is None:
        raise NotFoundError(f'the graph has no article "{name}"; nearest: {name_list(titles)}')
    title = titles[match.position]
    if not match.exact:
        context.remark(f'"{name}" is read as the article "{title}"')
    article = context.ask("/open/get_entity", query=title)
    if article is None:
        raise NotFoundError(f'the graph has no article "{title}"')
    box = article.get("summary_structured") or {}
    entries = {key: text for key, value in box.items() if (text := plain(str(value)))}
    raw = " ; ".join(f"{key} is {value}" for key, value in box.items() if value)
    summary = " ".join(part for part in (raw, article.get("summary_text") or "") if part)
    cells: dict[str, Cell] = {**entries, "name": title, "summary": summary}
    cells["text"] = plain(str(article.get("summary_text") or ""))
    return [Row(title, cells)]


def plain(markup: str) -> str:
    """Wiki markup as plain text: links and templates become their text, references are removed."""
    text = _WEB_LINK.sub(r"\1", _TAG.sub(" ", _NO_TEXT.sub(" ", markup[:20_000])))
    for _ in range(4):  # templates nest, but not deeply around useful text
        text = _TEMPLATE.sub(_inside, _LINK.sub(r"\1", text))
    words = clean(re.sub(r"'{2,}", "", text), references=True).split()
    return re.sub(r" ([,.;)])", r"\1", " ".join(words)).strip(" ,")


def _inside(template: "re.Match[str]") -> str:
    """A template's arguments without name and options: "{{convert|830|m|abbr=on}}" becomes "830 m"."""
    name, _, arguments = template.group(1).replace("|", " ").partition(" ")
    if name.casefold() in {"efn", "refn", "cite", "sfn", "citation", "nobold"}:
        return " "
    words = re.sub(r"\b\w+=\w+\b", " ", arguments).split()
    return f" {' '.join(words)} "
