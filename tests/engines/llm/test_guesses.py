"""Guesses of the next tokens: what followed the same words before."""

from collections.abc import Sequence

import pytest

from crag.engines.llm.guesses import TokenIndex, find_continuation

LIKELY = TokenIndex([[1, 2, 3, 4, 9], [7, 2, 3, 5]])


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ([5, 6, 7, 8, 5, 6], 2, [7, 8]),
        ([8, 2, 3, 6, 6, 2, 3], 2, [6, 6]),
        ([0, 1, 2, 3], 2, [4, 9]),
        ([0, 2, 3], 4, [5]),
        ([4, 9], 3, []),
        ([0, 1, 2, 3], 0, []),
        ([3], 3, [5]),
        ([0, 6], 3, []),
    ],
    ids=[
        "earlier in the text",
        "the text comes before likely texts",
        "three equal tokens come before two",
        "of several places the last, up to the end of its text",
        "nothing follows the end of a text, nor the text after it",
        "no token is wanted",
        "a single token is enough if no longer ending is known",
        "nothing is guessed after a token that is new",
    ],
)
def test_a_guess_is_what_followed_the_same_tokens(text: Sequence[int], limit: int, expected: list[int]) -> None:
    assert find_continuation(text, limit, LIKELY) == expected
