"""Which search results are read: duplicates and empty pages never, and of the rest those whose snippets fit the
question.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from agents.contracts import Page, Query
from agents.deadline import Deadline
from agents.encoders.base import CrossEncoder, DenseEncoder
from agents.settings import PageSelectionSettings
from agents.web.dense import cosines
from agents.web.needs import needed
from agents.web.ranking import best, in_turns
from agents.web.snippet import plain
from agents.web.sparse import score_texts


@dataclass(slots=True)
class Selection:
    """The pages of one question to read, most promising first, and those whose snippets remain of use."""

    read: list[Page]
    snippets: list[Page]
    events: list[str] = field(default_factory=list)


def distinct_pages(pages: Sequence[Page]) -> list[Page]:
    """The pages without later ones of the same content, or of the same address where both are empty.

    Real result lists hold the same page up to three times; a duplicate must not take the place of another page.
    """
    found: dict[str, Page] = {}
    for page in pages:
        found.setdefault(page.html if page.html.strip() else page.url, page)
    return list(found.values())


def distinct_snippets(pages: Sequence[Page]) -> list[Page]:
    """The first page of each snippet text; pages without a snippet are left out."""
    found: dict[str, Page] = {}
    for page in pages:
        if page.snippet.strip():
            found.setdefault(page.snippet, page)
    return list(found.values())


class PageSelector:
    """Ranks a question's pages by their snippets where there are more than `keep` (db3 3.1, NEC 2.1)."""

    def __init__(self, settings: PageSelectionSettings, dense: DenseEncoder | None, cross: CrossEncoder | None) -> None:
        self._settings = settings
        self._dense = dense
        self._cross = cross
        if settings.method == "cross_encoder":
            needed(cross, "cross-encoder", "web.pages")
        if settings.method == "dense":
            needed(dense, "dense encoder", "web.pages")

    def select(self, queries: Sequence[Query], deadline: Deadline) -> list[Selection]:
        """One selection per question, in order."""
        selections, to_rank = [], {}
        for owner, query in enumerate(queries):
            whole = sorted(query.pages, key=lambda page: page.rank)
            readable = [page for page in distinct_pages(whole) if page.html.strip()]
            selections.append(Selection(readable, distinct_snippets(whole)))
            if len(readable) > self._settings.keep:
                to_rank[owner] = readable
        scores = self._scores(queries, to_rank, deadline)
        for owner, pages in to_rank.items():
            selection = selections[owner]
            selection.read = [pages[place] for place in best(scores[owner], self._settings.keep)]
            if np.isneginf(scores[owner]).any():
                selection.events.append("page selection ran out of time: some pages were taken in search order")
        return selections

    def _scores(
        self, queries: Sequence[Query], pages: Mapping[int, list[Page]], deadline: Deadline
    ) -> Mapping[int, NDArray[np.floating]]:
        """Higher is better; minus infinity for pages that the deadline did not allow to be scored."""
        texts = {owner: [self._text(page) for page in own] for owner, own in pages.items()}
        if self._settings.method == "search_order":
            return {owner: np.zeros(len(own)) for owner, own in texts.items()}
        if self._settings.method == "bm25":
            return {owner: score_texts(queries[owner].text, own) for owner, own in texts.items()}
        if self._settings.method == "dense":
            asked = {owner: queries[owner].text for owner in texts}
            found = cosines(needed(self._dense, "dense encoder", "web.pages"), asked, texts, deadline)
            return {owner: np.nan_to_num(own, nan=-np.inf) for owner, own in found.items()}
        return self._cross_encoder_scores(queries, texts, deadline)

    def _cross_encoder_scores(
        self, queries: Sequence[Query], texts: Mapping[int, list[str]], deadline: Deadline
    ) -> Mapping[int, NDArray[np.floating]]:
        cross = needed(self._cross, "cross-encoder", "web.pages")
        turns = in_turns({owner: range(len(own)) for owner, own in texts.items()})
        pairs = [(queries[owner].text, texts[owner][place]) for owner, place in turns]
        scores = {owner: np.full(len(own), -np.inf) for owner, own in texts.items()}
        for (owner, place), logit in zip(turns, cross.score(pairs, deadline), strict=True):
            if logit is not None:
                scores[owner][place] = logit
        return scores

    def _text(self, page: Page) -> str:
        """What is compared with the question of a page that nobody has read yet."""
        snippet = plain(page.snippet[: self._settings.max_snippet_characters])
        if snippet and not self._settings.with_page_name:
            return snippet
        return f"{plain(page.name)}. {snippet}".strip(". ")
