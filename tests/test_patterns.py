"""No pattern takes quadratic time: Python holds the interpreter lock while it matches, so a batch would be lost.

Steps are counted, not seconds: a busy machine changes nothing.
"""

import importlib
import itertools
import pkgutil
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from tests.match_steps import TooManyStepsError, count_steps

RUNS = ("", " ", "\n", "a", "A", "1", "-", "(", "A ")
LITERAL = re.compile(r"(?:[\w<>/,' !\"-]|\\[\[.({$])+")
VERBOSE_ONLY = re.compile(r"(?<![\\\[])#[^\n]*|(?<!\\)\s")
"""Comments and blanks of a verbose pattern, which match nothing."""
CHARACTERS = 48
"""Of the shorter string."""
LONGER = 4
MOST = 2 * LONGER
"""Linear work grows with the length, by `LONGER`; quadratic work by its square."""
LIMIT = 200_000
"""Steps after which a search is quadratic or worse: about 1,000 for each character."""


def compiled(value: Any, depth: int = 3) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern):
        yield value
    elif depth and type(value) in {tuple, list, set, frozenset, dict}:
        for part in value.values() if isinstance(value, dict) else value:
            yield from compiled(part, depth - 1)
    elif depth and isinstance(getattr(value, "pattern", None), re.Pattern):
        yield value.pattern


@cache
def patterns() -> dict[str, int]:
    """Every pattern of the package with its flags, but two of the package `regex`, which `re` cannot parse."""
    flags_of: dict[str, int] = {}
    for module in pkgutil.walk_packages(["crag"], "crag."):
        if module.name.endswith("__main__"):
            continue
        try:
            names = vars(importlib.import_module(module.name))
        except ImportError:  # of an engine that is not installed here
            continue
        for pattern in itertools.chain(*map(compiled, names.values())):
            flags_of[pattern.pattern] = pattern.flags & (re.IGNORECASE | re.MULTILINE | re.DOTALL | re.VERBOSE)
    return flags_of


def hostile(pattern: str, flags: int) -> Iterator[tuple[str, str]]:
    """A beginning and what is repeated after it: what the pattern names, runs of one kind, and both in turn."""
    if flags & re.VERBOSE:
        pattern = VERBOSE_ONLY.sub("", pattern)
    words = [re.sub(r"\\(.)", r"\1", word) for word in LITERAL.findall(pattern.replace("?", ""))][:4]
    for word, run in itertools.product(dict.fromkeys(["", *words]), RUNS):
        yield from ((start, repeated) for start, repeated in ((word, run), ("", word + run)) if repeated)


def is_quadratic(pattern: str, flags: int, start: str, repeated: str) -> bool:
    times = max(4, CHARACTERS // len(repeated))
    short, long = (start + repeated * number + "\x01" for number in (times, LONGER * times))
    try:
        return count_steps(pattern, flags, long, LIMIT) > MOST * count_steps(pattern, flags, short, LIMIT)
    except TooManyStepsError:
        return True


def slow_text(pattern: str, flags: int) -> tuple[str, str] | None:
    return next((text for text in dict.fromkeys(hostile(pattern, flags)) if is_quadratic(pattern, flags, *text)), None)


def test_work_grows_with_the_length_of_a_text_and_not_with_its_square() -> None:
    slow = {pattern: slow_text(pattern, flags) for pattern, flags in patterns().items()}
    assert {pattern: text for pattern, text in slow.items() if text is not None} == {}


@pytest.mark.parametrize("quadratic", [r"</?doc\b[^>\n]*>", r"\s+(?:holdings?|group)$", "<ref.*?</ref>"])
def test_the_texts_show_quadratic_work(quadratic: str) -> None:
    assert slow_text(quadratic, 0)
