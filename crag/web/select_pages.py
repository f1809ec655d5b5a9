"""Step 1: chooses the pages to read from the search results, by the snippets that the search engine shows."""

import re
from collections.abc import Sequence
from datetime import date, timedelta

import numpy as np

from crag.core.contracts import Page, Query
from crag.core.deadline import Deadline
from crag.engines.encoders import CrossEncoder
from crag.settings import PageSelectionSettings
from crag.text.dates import find_dates
from crag.web.extract.clean import plain
from crag.web.page_search import PageSearch
from crag.web.ranking import Scores, bm25_scores, cross_encoder_logits, remove_duplicates

SNIPPET_CHARACTERS = 2000
"""Maximum characters of a snippet that are compared with the question."""

RECENT_DAYS = 31
"""A question about a day so shortly before it was asked is about recent events."""

_DATE_IN_URL = re.compile(r"/(20\d\d)[/-](\d\d?)[/-](\d\d?)(?!\d)")


def select_pages(
    queries: Sequence[Query],
    settings: PageSelectionSettings,
    cross_encoder: CrossEncoder | None,
    deadline: Deadline,
) -> list[PageSearch]:
    """Start one search per question, with at most `settings.keep` pages to read, best first (db3 3.1).

    Empty pages and duplicates are left out. Pages are ranked only if there are more than `keep`; those that could not
    be ranked in time follow in search order.
    """
    searches = [_start_search(query, settings.max_days_before) for query in queries]

    # All questions with too many pages are ranked together, in one call of the cross-encoder.
    crowded = [search for search in searches if len(search.pages) > settings.keep]
    scores_by_search = _score_pages(crowded, settings, cross_encoder, deadline)
    for search, scores in zip(crowded, scores_by_search, strict=True):
        _keep_best_pages(search, scores, settings.keep)

    return searches


def _keep_best_pages(search: PageSearch, scores: Scores, keep: int) -> None:
    """Keep the `keep` pages with the highest scores, best first."""
    # A stable sort: pages that are equally good, or that have no score, keep their search order.
    best_first = np.argsort(-scores, kind="stable")
    search.pages = [search.pages[index] for index in best_first[:keep]]

    if np.isneginf(scores).any():
        search.events.append("page selection ran out of time: some pages were taken in search order")


def _start_search(query: Query, max_days_before: int | None) -> PageSearch:
    """A search with all pages that are new enough, in search order."""
    earliest = _find_earliest_date(query, max_days_before)
    new_enough = [page for page in query.pages if _parse_date_in_url(page.url) >= earliest]
    new_enough.sort(key=lambda page: page.rank)

    search = PageSearch(
        query,
        pages=remove_duplicates(new_enough, key=lambda page: page.html),
        snippet_pages=remove_duplicates(new_enough, key=lambda page: page.snippet),
    )
    if len(new_enough) < len(query.pages):
        search.events.append(f"pages from before {earliest} were not read: the question is about later days")
    return search


def _find_earliest_date(query: Query, max_days_before: int | None) -> date:
    """The date from which on pages are read; `date.min` unless the question is about days shortly before it."""
    if max_days_before is None or query.asked_at is None:
        return date.min

    asked_on = query.asked_at.date()
    first_recent_day = asked_on - timedelta(days=RECENT_DAYS)
    recent_days = []
    for mention in find_dates(query.text, query.asked_at):
        # "The latest" is a record of any day, so older pages may answer it too.
        if mention.range is None or mention.newest:
            continue
        if first_recent_day <= mention.range.first <= asked_on:
            recent_days.append(mention.range.first)

    if not recent_days:
        return date.min
    return min(recent_days) - timedelta(days=max_days_before)


def _parse_date_in_url(url: str) -> date:
    """The day in a page's address, as news sites write it; `date.max` if there is none."""
    match = _DATE_IN_URL.search(url)
    if match is None:
        return date.max

    year, month, day = map(int, match.groups())
    try:
        return date(year, month, day)
    except ValueError:  # other numbers in the form of a date, such as /2024/99/1
        return date.max


def _score_pages(
    searches: Sequence[PageSearch],
    settings: PageSelectionSettings,
    cross_encoder: CrossEncoder | None,
    deadline: Deadline,
) -> list[Scores]:
    """A score for each page of each search; higher is better, minus infinity if it was not computed in time."""
    if settings.method == "search_order":
        return [np.zeros(len(search.pages)) for search in searches]

    questions = [search.query.text for search in searches]
    texts_by_search = [_describe_pages(search.pages, settings.with_page_name) for search in searches]
    if settings.method == "bm25":
        return list(map(bm25_scores, questions, texts_by_search))

    logits_by_search = cross_encoder_logits(cross_encoder, questions, texts_by_search, deadline)
    return [_logits_to_scores(logits) for logits in logits_by_search]


def _logits_to_scores(logits: Sequence[float | None]) -> Scores:
    """The logits as an array; minus infinity for pages that ran out of time."""
    scores = np.full(len(logits), -np.inf)
    for index, logit in enumerate(logits):
        if logit is not None:
            scores[index] = logit
    return scores


def _describe_pages(pages: Sequence[Page], with_page_name: bool) -> list[str]:
    return [_describe_page(page, with_page_name) for page in pages]


def _describe_page(page: Page, with_page_name: bool) -> str:
    """What is known of a page before it is read: its snippet, after its name if asked for or if it has no snippet."""
    snippet = plain(page.snippet[:SNIPPET_CHARACTERS])
    if snippet and not with_page_name:
        return snippet
    return f"{plain(page.name)}. {snippet}".strip(". ")
