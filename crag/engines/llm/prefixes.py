"""Prefixes that prompts share, such as their rules: their keys and values are kept, so that they are read once.

Gim et al. 2023, Prompt Cache (https://arxiv.org/abs/2311.04934). A request says where its prefix ends
(`GenerationRequest.shared_prefix`): found by comparison, it would depend on what was asked before, and with int8
activations so would the text.
"""

from collections import OrderedDict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

FEWEST_SHARED_TOKENS = 16
"""A shorter prefix is read again with each prompt."""
MOST_KEPT_BYTES = 32 * 1024 * 1024
"""Of all prefixes together: 570 tokens of Qwen2.5 1.5B."""

KeysAndValues = Sequence[NDArray[np.float32]]
"""What a model has read of one text: an array for the keys and one for the values of each layer."""
_Read = tuple[str | None, tuple[int, ...]]
"""An adapter, and the tokens that the model has read with it."""


class KeptPrefixes:
    """The prefixes that were used last, each as the model has read it with an adapter or without."""

    def __init__(self) -> None:
        self._kept: OrderedDict[_Read, KeysAndValues] = OrderedDict()

    def find(self, adapter: str | None, tokens: tuple[int, ...]) -> KeysAndValues | None:
        """The keys and values of a prefix, if they are kept."""
        key = (adapter, tokens)
        if key in self._kept:
            self._kept.move_to_end(key)
        return self._kept.get(key)

    def keep(self, adapter: str | None, tokens: tuple[int, ...], state: KeysAndValues) -> None:
        """Keep a prefix; if all are too much, those unused for longest go."""
        self._kept[adapter, tokens] = state
        while sum(map(_count_bytes, self._kept.values())) > MOST_KEPT_BYTES:
            self._kept.popitem(last=False)


def _count_bytes(state: KeysAndValues) -> int:
    return sum(array.nbytes for array in state)
