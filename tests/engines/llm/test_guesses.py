"""Guesses of the next tokens: what followed the same words before."""

from collections.abc import Sequence

import pytest

from crag.engines.llm.guesses import TokenIndex, guess_tokens

END = 99
LIKELY = TokenIndex([[1, 2, 3, 4, 9, END], [7, 2, 3, 5, END], [8, 2, 3, 5, 4, 9, END]])


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ([5, 6, 7, 8, 5, 6], 2, [7, 8]),
        ([8, 2, 3, 6, 6, 2, 3], 2, [6, 6]),
        ([0, 1, 2, 3], 2, [4, 9]),
        ([0, 2, 3], 1, [5]),
        ([0, 6, 8, 6, 12], 3, []),
        ([6, 7, 6, 8, 6], 1, [8]),
        ([6, 7, 6, 7, 6, 8, 6], 1, [7]),
        ([0, 2, 3], 9, [5, 4, 9, END]),
        ([0, 1, 2, 3], 0, []),
        ([6, 4], 3, [9, END]),
        ([0, 6], 3, []),
    ],
    ids=[
        "earlier in the text",
        "the text comes before likely texts",
        "three equal tokens come before two",
        "of likely texts what most of them have",
        "nothing follows a token that was only at the end",
        "of two that came equally often the newer one",
        "what came more often before what came last",
        "each token is guessed from those guessed before it, up to the end of a text",
        "no token is wanted",
        "a single token is enough if no longer ending is known",
        "nothing is guessed after a token that is new",
    ],
)
def test_a_guess_is_what_followed_the_same_tokens(text: Sequence[int], limit: int, expected: list[int]) -> None:
    assert guess_tokens(text, limit, [TokenIndex([text]), LIKELY], {END}) == expected


def test_a_text_that_grows_is_counted_once() -> None:
    text = [5, 6, 7, 5, 6, 8, 5, 6, 8]
    grown = TokenIndex()
    for end in range(1, len(text) + 1):
        grown.add(text[:end], start=end - 1)
    assert guess_tokens(text[:2], 4, [grown]) == guess_tokens(text[:2], 4, [TokenIndex([text])]) == [8, 5, 6, 8]
