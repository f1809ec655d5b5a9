"""Guesses of the tokens that come next: what followed the same words before, in the prompt or in likely texts.

Saxena 2023, prompt lookup decoding (https://github.com/apoorvumang/prompt-lookup-decoding); with other texts beside the
prompt: He et al. 2024, REST: Retrieval-Based Speculative Decoding (https://arxiv.org/abs/2311.08252).
"""

from collections.abc import Collection, Iterable, Sequence

ENDING_SIZES = (3, 2, 1)
"""Tokens that must be the same before one is guessed; the longer ending first. Without the single one calls take a
sixth more steps, answers a fifth."""
LONGEST_ENDING = max(ENDING_SIZES)


class TokenIndex:
    """Which token followed which ending of 1 to 3 tokens, in texts.

    Example:
        >>> TokenIndex([[5, 6, 7], [5, 6, 8], [5, 6, 8]]).most_frequent_after((5, 6))
        8
    """

    def __init__(self, texts: Iterable[Sequence[int]] = ()) -> None:
        self._counts: dict[tuple[int, ...], dict[int, int]] = {}
        """Ending -> each token that followed it, and how often; the newest token last."""
        for text in texts:
            self.add(text)

    def add(self, text: Sequence[int], start: int = 1) -> None:
        """Count the tokens of a text from position `start` on; those before it are only endings."""
        for position in range(start, len(text)):
            token = text[position]
            for size in ENDING_SIZES:
                if size <= position:
                    followers = self._counts.setdefault(tuple(text[position - size : position]), {})
                    followers[token] = followers.pop(token, 0) + 1

    def most_frequent_after(self, ending: tuple[int, ...]) -> int | None:
        """The token that followed the ending most often, of several the newest; None if the ending is new."""
        followers = self._counts.get(ending)
        if followers is None:
            return None
        return max(reversed(followers), key=followers.__getitem__)


def guess_tokens(
    text: Sequence[int],
    limit: int,
    indexes: Sequence[TokenIndex],
    end_tokens: Collection[int] = (),
) -> list[int]:
    """The tokens, at most `limit`, that most often followed the text's ending and the guesses before them.

    A longer ending says more than a shorter one; for one of the same size the first of the `indexes` that knows it
    decides. Nothing is guessed behind a token that ends texts.

    Example:
        >>> text = [5, 6, 7, 8, 5, 6]
        >>> guess_tokens(text, limit=2, indexes=[TokenIndex([text])])
        [7, 8]
    """
    ending = list(text[-LONGEST_ENDING:])
    guess: list[int] = []
    while len(guess) < limit:
        token = _guess_token(ending, indexes)
        if token is None:
            break
        guess.append(token)
        if token in end_tokens:
            break
        ending = [*ending, token][-LONGEST_ENDING:]
    return guess


def _guess_token(ending: Sequence[int], indexes: Sequence[TokenIndex]) -> int | None:
    for size in ENDING_SIZES:
        if size > len(ending):
            continue
        for index in indexes:
            token = index.most_frequent_after(tuple(ending[-size:]))
            if token is not None:
                return token
    return None
