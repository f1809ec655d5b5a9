import random

import numpy as np
from rank_bm25 import BM25Okapi

from crag.mock_api.search import NameSearch, WordIndex


def test_places_and_ties_are_those_of_rank_bm25() -> None:
    choose = random.Random(3)
    vocabulary = [f"word{number}" for number in range(120)]
    documents = [
        ["the"] * choose.randint(0, 2) + choose.choices(vocabulary, k=choose.randint(1, 5)) for _ in range(400)
    ]
    index = WordIndex([" ".join(document) for document in documents])
    official = BM25Okapi(documents)

    for _ in range(60):
        query = ["the", *choose.choices([*vocabulary, "unknown"], k=3)]
        scores = np.round(official.get_scores(query), 9)
        best = sorted((place for place in range(400) if scores[place]), key=lambda place: (-scores[place], -place))[:10]
        assert index.top(" ".join(query)) == best


def test_of_equal_scores_the_later_name_comes_first_but_in_music_the_first_reached() -> None:
    names = ["red car", "blue car", "green car", "grey bus", "white van", "black cab", "pink cart"]
    assert WordIndex(names).top("blue red") == [1, 0]
    assert WordIndex(names[::-1]).top("blue red") == [6, 5]
    assert WordIndex(names, rare_only=True).top("blue red") == [1, 0]
    assert WordIndex(names, rare_only=True).top("red blue") == [0, 1]
    assert WordIndex(names, rare_only=True).top("car") == [0, 1, 2]


def test_music_ignores_common_words_in_a_large_graph() -> None:
    names = [f"The Artist{number}" for number in range(990)] + ["The The", *(f"Rare {number}x" for number in range(11))]
    search = NameSearch(names, rare_only=True)
    assert search("The The") == []
    assert search("the artist7") == ["The Artist7"]
    assert len(search("rare")) == 10
