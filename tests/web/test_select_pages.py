from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from crag.core.contracts import Page
from crag.core.deadline import Deadline
from crag.settings import PageSelectionSettings
from crag.web.page_search import PageSearch
from crag.web.select_pages import select_pages
from tests.web.fakes import SharedWords, page, query


def selection(pages: list[Page], cross: SharedWords | None = None, **settings: Any) -> PageSearch:
    chosen = PageSelectionSettings.model_validate(settings)
    (found,) = select_pages([query("blue moon", *pages)], chosen, cross or SharedWords(), Deadline(600))
    return found


def select(pages: list[Page], keep: int, method: str, cross: SharedWords | None = None) -> list[int]:
    return [each.rank for each in selection(pages, cross, keep=keep, method=method).pages]


def test_duplicates_and_empty_pages_take_no_place() -> None:
    pages = [
        page("", 0),
        page("<p>a</p>", 1),
        page("<p>a</p>", 2, url="https://m.example.org"),
        page(" \n", 3),
        page("b", 4),
    ][::-1]
    assert select(pages, 2, "search_order") == [1, 4]


def test_snippets_of_empty_and_unread_pages_remain_of_use_but_only_once() -> None:
    pages = [page("", 0, snippet="x"), page("a", 1, snippet="y"), page("b", 2, snippet="x"), page("c", 3)]
    assert [each.snippet for each in selection(pages).snippet_pages] == ["x", "y"]


def test_pages_that_time_did_not_allow_to_be_scored_follow_in_search_order() -> None:
    pages = [page(f"<p>{n}</p>", n, snippet="moon blue" if n == 3 else "dog") for n in range(4)]
    found = selection(pages, SharedWords(at_most=1), keep=2)
    assert [each.rank for each in found.pages] == [0, 1]
    assert found.events == ["page selection ran out of time: some pages were taken in search order"]


@pytest.mark.parametrize(
    ("question", "read"),
    [
        ("which airline was hit by turbulence this week?", [1, 2, 3]),
        ("who won the final on Sunday?", [1, 2, 3]),
        ("who won the final in 2022?", [0, 1, 2, 3]),
        ("who wrote both sides now?", [0, 1, 2, 3]),
        ("who directed friday night lights?", [0, 1, 2, 3]),
        ("who played the drums on february stars?", [0, 1, 2, 3]),
    ],
)
def test_a_question_about_these_days_is_not_answered_from_older_pages(question: str, read: list[int]) -> None:
    days = ("2023/08/30/", "2024/02/27/", "2024/99/99/", "air-2023/")
    pages = [page(f"<p>{n}</p>", n, url=f"https://example.org/story/{day}hit") for n, day in enumerate(days)]
    asked = replace(query(question, *pages), asked_at=datetime(2024, 3, 5, 23))
    (found,) = select_pages([asked], PageSelectionSettings(max_days_before=60), SharedWords(), Deadline(600))
    assert [each.rank for each in found.pages] == read
    assert len(found.events) == 4 - len(read)
    (every,) = select_pages([asked], PageSelectionSettings(), SharedWords(), Deadline(600))
    assert len(every.pages) == 4
