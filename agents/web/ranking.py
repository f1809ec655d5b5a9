"""Ranked lists: what is compared, the best places of a score array, fusion of rankings, fair turns of questions."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")


def with_heading(heading: str, text: str) -> str:
    """A chunk as every step of ranking compares it with the question; see `agents.settings.Chunks.searched_with`."""
    return f"{heading}\n{text}" if heading else text


def best(scores: NDArray[np.floating], count: int | None = None) -> list[int]:
    """Places of the highest scores, best first; equal scores keep their order, so that a run can be repeated."""
    order = np.argsort(-np.asarray(scores, dtype=np.float64), kind="stable")
    return [int(place) for place in order[:count]]


def reciprocal_rank_fusion(rankings: Sequence[Sequence[int]], constant: int) -> dict[int, float]:
    """Sum over the rankings of 1 / (constant + rank), rank from 1; an item that a ranking lacks gets nothing from it.

    Cormack, Clarke and Büttcher (SIGIR 2009).
    """
    fused: dict[int, float] = {}
    for ranking in rankings:
        for rank, item in enumerate(ranking, start=1):
            fused[item] = fused.get(item, 0.0) + 1.0 / (constant + rank)
    return fused


def in_turns(lists: Mapping[int, Sequence[T]]) -> list[tuple[int, T]]:
    """All items with their owner: every owner's first, then every owner's second, and so on.

    When time ends in the middle of a batch, every question has had its most promising items looked at.
    """
    longest = max((len(items) for items in lists.values()), default=0)
    return [(owner, items[turn]) for turn in range(longest) for owner, items in lists.items() if turn < len(items)]
