"""Cross-validation by what rows are about: a fold is a matter of the group's name alone, so every step agrees on it.

A row may belong to several groups (a question about two films). It is tested in the fold of its first one, and kept out
of the training for every fold that one of its groups falls into: what is tested was never seen.
"""

import hashlib
from collections.abc import Sequence
from typing import NamedTuple


class Fold(NamedTuple):
    """The part `number` (from 0) of `count`."""

    number: int
    total: int

    def __str__(self) -> str:
        return f"{self.number}/{self.total}"


def parse_fold(text: str) -> Fold:
    """``2/5``: the third of five.

    Raises:
        ValueError: not of that form, or out of range.
    """
    number, slash, count = text.partition("/")
    if not (slash and number.isdecimal() and count.isdecimal() and int(number) < int(count) and int(count) > 1):
        raise ValueError(f"a fold is written NUMBER/COUNT with NUMBER from 0 to COUNT - 1, such as 0/5; found {text!r}")
    return Fold(int(number), int(count))


def number_of(group: str, count: int) -> int:
    """Which of `count` parts a group falls into, however it is spelled (`spelling`)."""
    return int.from_bytes(hashlib.sha256(spelling(group).encode()).digest()[:8], "big") % count


def spelling(group: str) -> str:
    """The one spelling of a group: upper and lower case and blanks make no difference."""
    return " ".join(group.casefold().split())


def is_tested(groups: Sequence[str], fold: Fold) -> bool:
    """Whether a row with these groups is tested in that fold; exactly one fold tests it."""
    return bool(groups) and number_of(groups[0], fold.total) == fold.number


def may_train(groups: Sequence[str], fold: Fold | None) -> bool:
    """Whether a row may be learnt from when that fold is tested afterwards; None: nothing is held out."""
    return fold is None or all(number_of(group, fold.total) != fold.number for group in groups)
