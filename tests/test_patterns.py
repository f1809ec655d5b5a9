"""No pattern takes quadratic time: Python holds the interpreter lock while it matches, so a batch would be lost."""

import importlib
import itertools
import pkgutil
import re
import time
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
import regex

PACKAGES = ("crag",)
RUNS = ("", " ", "\n", "a", "A", "1", "-", "(", "A ")
LITERAL = re.compile(r"(?:[\w<>/,' !\"-]|\\[\[.({$])+")
SIZE, LONGER = 300, 8
MOST = 3 * LONGER
"""Linear work grows with the length, by `LONGER`; quadratic work by its square."""
NEXT_TO_NONE = 0.002
"""Seconds of this thread that no clock compares well; quadratic work of the longer text takes ten times as many."""


def compiled(value: Any, depth: int = 3) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern | regex.Pattern):
        yield value
    elif depth and type(value) in {tuple, list, set, frozenset, dict}:
        for part in value.values() if isinstance(value, dict) else value:
            yield from compiled(part, depth - 1)
    elif depth and isinstance(getattr(value, "pattern", None), re.Pattern):
        yield value.pattern


@cache
def patterns() -> dict[str, re.Pattern[str]]:
    found: dict[str, re.Pattern[str]] = {}
    for module in itertools.chain(*(pkgutil.walk_packages([name], f"{name}.") for name in PACKAGES)):
        if not module.name.endswith("__main__"):
            try:
                names = vars(importlib.import_module(module.name))
            except ImportError:  # of an engine that is not installed here
                continue
            found |= {one.pattern: one for value in names.values() for one in compiled(value)}
    return found


def hostile(pattern: str) -> Iterator[tuple[str, str]]:
    """A beginning and what is repeated after it: what the pattern names, runs of one kind, and both in turn."""
    words = [re.sub(r"\\(.)", r"\1", word) for word in LITERAL.findall(pattern.replace("?", ""))][:12]
    for word, run in itertools.product(dict.fromkeys(["", *words]), RUNS):
        yield from ((start, repeated) for start, repeated in ((word, run), ("", word + run)) if repeated)


def seconds(pattern: re.Pattern[str], text: str, attempts: int) -> float:
    def once() -> float:
        started = time.thread_time()
        for _ in pattern.finditer(text):
            pass
        return time.thread_time() - started

    return min(once() for _ in range(attempts))


def is_quadratic(pattern: re.Pattern[str], short: str, long: str) -> bool:
    return seconds(pattern, long, 1) > NEXT_TO_NONE and seconds(pattern, long, 3) > MOST * seconds(pattern, short, 9)


def slow_text(pattern: re.Pattern[str]) -> tuple[str, str] | None:
    for start, repeated in hostile(pattern.pattern):
        short, long = (start + repeated * (size // len(repeated)) + "\x01" for size in (SIZE, SIZE * LONGER))
        if all(is_quadratic(pattern, short, long) for _ in range(5)):  # a busy machine disturbs one measurement
            return start, repeated
    return None


def test_work_grows_with_the_length_of_a_text_and_not_with_its_square() -> None:
    assert {name: found for name, pattern in patterns().items() if (found := slow_text(pattern))} == {}


@pytest.mark.parametrize("quadratic", [r"</?doc\b[^>\n]*>", r"\s+(?:holdings?|group)$", "<ref.*?</ref>"])
def test_the_texts_show_quadratic_work(quadratic: str) -> None:
    assert slow_text(re.compile(quadratic))
