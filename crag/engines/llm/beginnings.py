"""Beginnings that prompts share, such as their rules: their keys and values are kept, so that they are read once.

Gim et al. 2023, Prompt Cache (https://arxiv.org/abs/2311.04934), for beginnings only: there the positions are the same.
"""

from collections import OrderedDict, deque
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FEWEST_TOKENS = 24
"""A shorter beginning is read again: that costs as little as copying it."""
MOST_TOKENS = 256
"""Of one beginning."""
MOST_KEPT_TOKENS = 512
"""Of all beginnings together: 29 MB with Qwen2.5 1.5B."""
_RECENT_PROMPTS = 64
"""Earlier prompts that a new one is compared with."""

KeysAndValues = NDArray[np.float32]
"""Of one row: (layers x 2) x heads x tokens x size of a head."""


class Beginning(NamedTuple):
    """The first tokens of a prompt, as a model with this adapter has read them."""

    adapter: str | None
    tokens: tuple[int, ...]


class KeptBeginnings:
    """Finds what a prompt shares with earlier ones; the beginnings used last are kept.

    Example:
        kept.find(None, prompt)         # None: nothing is known
        kept.shared_tokens(None, next)  # 40: worth keeping, if the model hands out their keys and values
        kept.keep(Beginning(None, next[:40]), keys_and_values)
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[Beginning, KeysAndValues] = OrderedDict()
        self._recent: deque[tuple[str | None, Sequence[int]]] = deque(maxlen=_RECENT_PROMPTS)

    def find(self, adapter: str | None, prompt: Sequence[int]) -> Beginning | None:
        """The longest kept beginning of a prompt; at least the prompt's last token is left to read."""
        longest: Beginning | None = None
        for beginning in self._kept:
            count = len(beginning.tokens)
            is_longer = longest is None or count > len(longest.tokens)
            fits = beginning.adapter == adapter and count < len(prompt)
            if is_longer and fits and tuple(prompt[:count]) == beginning.tokens:
                longest = beginning

        if longest is not None:
            self._kept.move_to_end(longest)
        return longest

    def read(self, beginning: Beginning) -> KeysAndValues:
        """The keys and values of a beginning that `find` returned."""
        return self._kept[beginning]

    def shared_tokens(self, adapter: str | None, prompt: Sequence[int]) -> int:
        """How many tokens at the beginning are those of an earlier prompt, 0 if they are too few or kept already.

        The prompt is an earlier one from then on.
        """
        shared = 0
        for earlier_adapter, earlier in self._recent:
            if earlier_adapter == adapter:
                shared = max(shared, _count_common(earlier, prompt))
        self._recent.append((adapter, prompt))

        shared = min(shared, len(prompt) - 1, MOST_TOKENS)
        known = self.find(adapter, prompt)
        gained = shared - len(known.tokens) if known else shared
        return shared if gained >= FEWEST_TOKENS else 0

    def keep(self, beginning: Beginning, states: KeysAndValues) -> None:
        """Keep the beginning; if it is too much, those unused for longest go."""
        self._kept[beginning] = states
        while sum(len(kept.tokens) for kept in self._kept) > MOST_KEPT_TOKENS:
            self._kept.popitem(last=False)


def _count_common(first: Sequence[int], second: Sequence[int]) -> int:
    """The number of tokens at the beginning that both have."""
    for count, (token, other) in enumerate(zip(first, second, strict=False)):
        if token != other:
            return count
    return min(len(first), len(second))
