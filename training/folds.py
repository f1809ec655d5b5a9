"""Cross-validation by entity: the fold depends on the group's name only, so that all steps agree on it.

A row may have several groups (a question about two films). The fold of its first group tests it. If the fold of any of
its groups is held out, the row is not trained on, so that tested entities are unseen.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple


class Fold(NamedTuple):
    """The part `number` (from 1) of `total`."""

    number: int
    total: int

    def __str__(self) -> str:
        return f"{self.number}/{self.total}"


def parse_fold(text: str) -> Fold:
    """Parse an argument: ``2/5`` is the second of five folds."""
    number, slash, total = text.partition("/")
    if not (slash and number.isdecimal() and total.isdecimal() and 1 <= int(number) <= int(total) and int(total) > 1):
        raise ValueError(f"write a fold as NUMBER/TOTAL, from 1/TOTAL, such as 1/5; found {text!r}")
    return Fold(int(number), int(total))


def held_out_fold(settings: Mapping[str, Any]) -> Fold | None:
    """The held-out fold in a run card's settings."""
    return parse_fold(found) if (found := settings.get("hold_out")) else None


def number_of(group: str, total: int) -> int:
    """The fold (from 1) of a group, in any spelling (see `spelling`)."""
    return int.from_bytes(hashlib.sha256(spelling(group).encode()).digest()[:8], "big") % total + 1


def spelling(group: str) -> str:
    """The normal spelling of a group, without case and extra blanks."""
    return " ".join(group.casefold().split())


def is_tested(groups: Sequence[str], fold: Fold) -> bool:
    """Whether the fold tests a row with these groups; exactly one fold does."""
    return bool(groups) and number_of(groups[0], fold.total) == fold.number


def may_train(groups: Sequence[str], fold: Fold | None) -> bool:
    """Whether a row may be trained on if that fold is held out; None: nothing is held out."""
    return fold is None or all(number_of(group, fold.total) != fold.number for group in groups)
