import pytest

from agents.contracts import Page
from agents.deadline import Deadline
from agents.settings import PageSelectionSettings
from agents.web.pages import PageSelector, distinct_pages, distinct_snippets
from tests.agents.web.fakes import HashedWords, SharedWords, page, query

METHODS = ("cross_encoder", "dense", "bm25")


def select(pages: list[Page], keep: int, method: str, cross: SharedWords | None = None) -> list[int]:
    settings = PageSelectionSettings.model_validate({"keep": keep, "method": method})
    selector = PageSelector(settings, HashedWords(), cross or SharedWords())
    (selection,) = selector.select([query("blue moon", *pages)], Deadline(9))
    return [each.rank for each in selection.read]


@pytest.mark.parametrize("method", METHODS)
def test_the_pages_whose_snippets_fit_are_read_best_first(method: str) -> None:
    snippets = ["a dog", "the blue moon", "a cat", "moon"]
    pages = [page(f"<p>{n}</p>", n, snippet=snippet) for n, snippet in enumerate(snippets)]
    assert select(pages, 2, method) == [1, 3]


@pytest.mark.parametrize("method", METHODS)
def test_a_name_speaks_for_a_page_without_a_snippet(method: str) -> None:
    pages = [page("<p>0</p>", 0, snippet="a dog"), page("<p>1</p>", 1, name="Blue moon")]
    assert select(pages, 1, method) == [1]


def test_the_name_is_left_out_where_the_settings_say_so_and_stands_in_for_a_missing_snippet() -> None:
    cross = SharedWords()
    settings = PageSelectionSettings(keep=1, with_page_name=False)
    pages = [page("<p>0</p>", 0, name="Blue moon", snippet="a dog"), page("<p>1</p>", 1, name="Moon")]
    PageSelector(settings, None, cross).select([query("blue moon", *pages)], Deadline(9))
    assert cross.calls == [[("blue moon", "a dog"), ("blue moon", "Moon")]]


def test_search_order() -> None:
    pages = [page(f"<p>{rank}</p>", rank, snippet="blue moon" * rank) for rank in (2, 0, 1)]
    assert select(pages, 2, "search_order") == [0, 1]


def test_duplicates_and_empty_pages_take_no_place() -> None:
    pages = [
        page("", 0),
        page("<p>a</p>", 1),
        page("<p>a</p>", 2, url="https://m.example.org"),
        page(" \n", 3),
        page("b", 4),
    ]
    assert select(pages, 2, "search_order") == [1, 4]


def test_the_first_of_equal_pages_is_kept_in_its_place() -> None:
    pages = [page("a", 0), page("b", 1), page("a", 2), page("c", 3)]
    assert [each.rank for each in distinct_pages(pages)] == [0, 1, 3]


def test_snippets_of_empty_and_unread_pages_remain_of_use_but_only_once() -> None:
    pages = [page("", 0, snippet="x"), page("a", 1, snippet="y"), page("b", 2, snippet="x"), page("c", 3)]
    assert [each.snippet for each in distinct_snippets(pages)] == ["x", "y"]


def test_few_pages_need_no_ranking() -> None:
    cross = SharedWords()
    assert select([page("a", 0), page("b", 1)], 2, "cross_encoder", cross) == [0, 1]
    assert cross.calls in ([], [[]])


def test_pages_that_time_did_not_allow_to_be_scored_follow_in_search_order() -> None:
    settings = PageSelectionSettings(keep=2, method="cross_encoder")
    pages = [page(f"<p>{n}</p>", n, snippet="moon blue" if n == 3 else "dog") for n in range(4)]
    selector = PageSelector(settings, None, SharedWords(at_most=1))
    (selection,) = selector.select([query("blue moon", *pages)], Deadline(9))
    assert [each.rank for each in selection.read] == [0, 1]
    assert selection.events == ["page selection ran out of time: some pages were taken in search order"]


def test_the_snippets_of_the_whole_batch_are_scored_in_one_call() -> None:
    cross = SharedWords()
    selector = PageSelector(PageSelectionSettings(keep=1), None, cross)
    pages = [page("a", 0, snippet="s"), page("b", 1, snippet="t")]
    selector.select([query("q", *pages), query("r", *pages)], Deadline(9))
    assert cross.calls == [[("q", "Page. s"), ("r", "Page. s"), ("q", "Page. t"), ("r", "Page. t")]]


def test_a_question_without_pages() -> None:
    assert select([], 5, "bm25") == []


@pytest.mark.parametrize("method", ["cross_encoder", "dense"])
def test_a_method_without_its_encoder_is_refused_at_once(method: str) -> None:
    with pytest.raises(ValueError, match=r"web\.pages needs a"):
        PageSelector(PageSelectionSettings.model_validate({"method": method}), None, None)
