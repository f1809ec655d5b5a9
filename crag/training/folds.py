"""Folds of questions that keep similar questions together."""

import hashlib
import re
from collections.abc import Sequence
from typing import NamedTuple


class Fold(NamedTuple):
    """The part `number` (from 1) of `total`."""

    number: int
    total: int

    def __str__(self) -> str:
        return f"{self.number}/{self.total}"


def parse_fold(text: str) -> Fold:
    """Parse an argument: ``2/5`` is the second of five folds. Raises ValueError: it is no fold of several."""
    match = re.fullmatch(r"([0-9]+)/([0-9]+)", text)
    fold = Fold(int(match[1]), int(match[2])) if match else Fold(0, 0)
    if not 1 <= fold.number <= fold.total or fold.total == 1:
        raise ValueError(f"write a fold as NUMBER/TOTAL, from 1/TOTAL, such as 1/5; found {text!r}")
    return fold


def fold_number(group: str, total: int) -> int:
    """The fold (from 1) of a group, in any spelling."""
    # Not `hash`, which differs from one Python process to the next
    digest = hashlib.sha256(normalise_spelling(group).encode()).digest()
    return int.from_bytes(digest[:8], "big") % total + 1


def normalise_spelling(text: str) -> str:
    """A text without case and extra blanks."""
    return " ".join(text.casefold().split())


def is_tested(groups: Sequence[str], fold: Fold) -> bool:
    """Whether the fold tests a row with these groups; exactly one fold does."""
    # Only the first group, so that no row is tested twice
    return bool(groups) and fold_number(groups[0], fold.total) == fold.number


def may_train(groups: Sequence[str], fold: Fold | None) -> bool:
    """Whether a row may be trained on if that fold is held out; None: nothing is held out."""
    # All groups: training on a question about two films would reveal the one that is tested
    return fold is None or all(fold_number(group, fold.total) != fold.number for group in groups)
