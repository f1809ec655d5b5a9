"""Selects the search results to read: no duplicates, no empty pages, and snippets that match the question."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from agents.common.contracts import Page, Query
from agents.common.deadline import Deadline
from agents.encoders import CrossEncoder
from agents.settings import PageSelectionSettings
from agents.web.extract.clean import plain
from agents.web.ranking import bm25_of_texts, cross_encoder_logits, distinct

SNIPPET_CHARACTERS = 2000
"""Maximum characters of a snippet that are compared with the question."""


@dataclass(slots=True)
class Selection:
    """The pages of one question to read, best first, and those whose snippets can be passages."""

    read: list[Page]
    snippets: list[Page]
    events: list[str] = field(default_factory=list)


def select_pages(
    queries: Sequence[Query], settings: PageSelectionSettings, cross: CrossEncoder | None, deadline: Deadline
) -> list[Selection]:
    """One selection per question, in order. More than `keep` pages are ranked by their snippets (db3 3.1, NEC 2.1)."""
    selections, to_rank = [], {}
    for owner, query in enumerate(queries):
        pages = sorted(query.pages, key=lambda page: page.rank)
        readable = distinct(pages, lambda page: page.html)
        selections.append(Selection(readable, distinct(pages, lambda page: page.snippet)))
        if len(readable) > settings.keep:
            to_rank[owner] = readable
    scores = _scores([query.text for query in queries], to_rank, settings, cross, deadline)
    for owner, readable in to_rank.items():
        selection = selections[owner]
        order = np.argsort(-scores[owner], kind="stable")  # pages that are equally good keep their order
        selection.read = [readable[place] for place in order[: settings.keep]]
        if np.isneginf(scores[owner]).any():
            selection.events.append("page selection ran out of time: some pages were taken in search order")
    return selections


def _scores(
    queries: Sequence[str],
    pages: Mapping[int, list[Page]],
    settings: PageSelectionSettings,
    cross: CrossEncoder | None,
    deadline: Deadline,
) -> dict[int, NDArray[np.float64]]:
    """Higher is better; minus infinity for pages that ran out of time."""
    if settings.method == "search_order":
        return {owner: np.zeros(len(own)) for owner, own in pages.items()}
    texts = {owner: [_searched_text(page, settings) for page in own] for owner, own in pages.items()}
    if settings.method == "bm25":
        return {owner: bm25_of_texts(queries[owner], own) for owner, own in texts.items()}
    logits = cross_encoder_logits(cross, queries, texts, deadline)
    return {owner: np.array([-np.inf if one is None else one for one in own]) for owner, own in logits.items()}


def _searched_text(page: Page, settings: PageSelectionSettings) -> str:
    """The text that represents an unread page."""
    snippet = plain(page.snippet[:SNIPPET_CHARACTERS])
    if snippet and not settings.with_page_name:
        return snippet
    return f"{plain(page.name)}. {snippet}".strip(". ")
