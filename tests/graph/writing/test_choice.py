"""The nearest examples ask the same thing, come best last, and choose the domain."""

import pytest

from crag.graph.schema import Domain
from crag.graph.writing.bank import load_bank
from crag.graph.writing.choice import MARK, ExampleIndex, SkeletonMaker

BANK = load_bank()


@pytest.fixture(scope="module")
def words() -> ExampleIndex:
    """Without a dense encoder: by words."""
    return ExampleIndex(BANK, None)


@pytest.mark.parametrize(
    ("question", "domain", "table", "key"),
    [
        ("what was wxyz's closing price yesterday?", Domain.FINANCE, "get_stock_price", "close"),
        ("how many grammy awards has max mustermann won?", Domain.MUSIC, "get_grammy_person", "award_count"),
        ("who captained fc nirgendwo in their last game?", Domain.SPORTS, "get_soccer_last_game", "Captain"),
        ("how long is xanadu in minutes?", Domain.MOVIE, "get_movie", "length"),
    ],
)
def test_the_nearest_example_asks_for_the_same_key_even_by_words_alone(
    words: ExampleIndex, question: str, domain: Domain, table: str, key: str
) -> None:
    (found,) = words.nearest([question], [None], 4)
    assert found.domain is domain
    assert len(found.examples) == 4
    assert found.examples[-1].calls.startswith(table)
    assert key in found.examples[-1].calls


@pytest.fixture(scope="module")
def maker() -> SkeletonMaker:
    return SkeletonMaker(load_bank())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("who directed rear window?", "who directed gremlins?"),
        ("what was zyxq's closing price yesterday?", "What was Palantir's closing price yesterday?"),
        ("who won best actor in 1971?", "who won best actor in 2019?"),
        ("how many grammy awards has björk won?", "how many grammy awards has wolfmother won?"),
    ],
)
def test_names_and_numbers_make_no_difference(maker: SkeletonMaker, one: str, other: str) -> None:
    assert maker.skeleton(one) == maker.skeleton(other)
    assert MARK in maker.skeleton(one)
