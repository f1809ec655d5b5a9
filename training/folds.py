"""Cross-validation by what rows are about: the fold depends on the group's name alone, so all steps agree on it.

A row may have several groups (a question about two films). The fold of its first group tests it, and no fold of any of
its groups may train on it: what is tested was never seen.
"""

import argparse
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
    """Read ``2/5``, the second of five, as the type of an argument."""
    number, slash, total = text.partition("/")
    if not (slash and number.isdecimal() and total.isdecimal() and 1 <= int(number) <= int(total) and int(total) > 1):
        raise argparse.ArgumentTypeError(f"write a fold as NUMBER/TOTAL, from 1/TOTAL, such as 1/5; found {text!r}")
    return Fold(int(number), int(total))


def held_out_fold(settings: Mapping[str, Any]) -> Fold | None:
    """The fold that a run card's settings say was held out. Old cards have it as `held_out_fold`, counted from 0."""
    if found := settings.get("hold_out"):
        return parse_fold(found)
    if found := settings.get("held_out_fold"):
        number, _, total = found.partition("/")
        return Fold(int(number) + 1, int(total))
    return None


def number_of(group: str, total: int) -> int:
    """The fold (from 1) of a group, however it is spelled (`spelling`)."""
    return int.from_bytes(hashlib.sha256(spelling(group).encode()).digest()[:8], "big") % total + 1


def spelling(group: str) -> str:
    """The one spelling of a group: case and blanks make no difference."""
    return " ".join(group.casefold().split())


def is_tested(groups: Sequence[str], fold: Fold) -> bool:
    """Whether the fold tests a row with these groups; exactly one fold does."""
    return bool(groups) and number_of(groups[0], fold.total) == fold.number


def may_train(groups: Sequence[str], fold: Fold | None) -> bool:
    """Whether a row may be learnt from when that fold is tested afterwards; None: nothing is held out."""
    return fold is None or all(number_of(group, fold.total) != fold.number for group in groups)
