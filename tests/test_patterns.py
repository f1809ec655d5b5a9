"""No pattern takes quadratic time: Python holds the interpreter lock while it matches, so a batch would be lost.

Steps are counted, not seconds: a busy machine changes nothing.
"""

import ast
import importlib
import itertools
import pkgutil
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import crag
from tests.match_steps import StepCounter, TooManyStepsError, has_unbounded_repeat, literal_words, parse

PACKAGE = Path(crag.__file__).parent
RUNS = ("", " ", "\n", "a", "A", "1", "-", "(", "A ")
MAX_WORDS = 8
"""Of one pattern; each makes two strings with each of the runs."""
CHARACTERS = 48
"""Of the shorter string."""
LONGER = 4
MOST = 2 * LONGER
"""Linear work grows with the length, by `LONGER`; quadratic work by its square."""
LIMIT = 200_000
"""Steps after which a search is quadratic or worse: about 1,000 for each character."""
FLAGS = re.IGNORECASE | re.MULTILINE | re.DOTALL | re.VERBOSE
OFFLINE = frozenset({"benchmarks", "commands", "evaluation", "submission", "training"})
"""Rooms that answer no batch in time; the patterns inside their functions may work on short texts only."""
ANCHORED = frozenset({"match", "fullmatch"})
"""Functions of `re` that start at one position only."""


def compiled(value: Any, depth: int = 3) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern):
        yield value
    elif depth and isinstance(value, tuple | list | set | frozenset | dict):
        for part in value.values() if isinstance(value, dict) else value:
            yield from compiled(part, depth - 1)
    elif depth and isinstance(getattr(value, "pattern", None), re.Pattern):
        yield value.pattern


def module_patterns() -> Iterator[tuple[str, int]]:
    """The patterns that modules hold, with their flags, but those of the package `regex`, which `re` cannot parse."""
    for module in pkgutil.walk_packages([str(PACKAGE)], "crag."):
        if module.name.endswith("__main__"):
            continue
        try:
            names = vars(importlib.import_module(module.name))
        except ImportError:  # of an engine that is not installed here
            continue
        for pattern in itertools.chain(*map(compiled, names.values())):
            yield pattern.pattern, pattern.flags & FLAGS


def inline_patterns() -> Iterator[tuple[str, int]]:
    """The patterns in calls such as `re.sub("...", ...)`; those of `ANCHORED` functions begin with ``\\A`` here."""
    for path in PACKAGE.rglob("*.py"):
        if path.relative_to(PACKAGE).parts[0] in OFFLINE:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(
                    func=ast.Attribute(value=ast.Name(id="re"), attr=function), args=[ast.Constant(value=str(text)), *_]
                ):
                    if function != "compile":
                        yield (rf"\A(?:{text})" if function in ANCHORED else text), 0


@cache
def trees() -> dict[str, Any]:
    """The trees of all patterns of the package that could take more than linear time."""
    all_patterns = dict(itertools.chain(inline_patterns(), module_patterns()))
    parsed = {pattern: parse(pattern, flags) for pattern, flags in all_patterns.items()}
    assert len(parsed) > 300
    return {pattern: tree for pattern, tree in parsed.items() if has_unbounded_repeat(tree)}


def hostile(tree: Any) -> Iterator[tuple[str, str]]:
    """A beginning and what is repeated after it: what the pattern names, runs of one kind, and both in turn."""
    words = list(dict.fromkeys(literal_words(tree)))[:MAX_WORDS]
    for word, run in itertools.product(dict.fromkeys(["", *words]), RUNS):
        yield from ((start, repeated) for start, repeated in ((word, run), ("", word + run)) if repeated)


def is_quadratic(counter: StepCounter, start: str, repeated: str) -> bool:
    times = max(4, CHARACTERS // len(repeated))
    short, long = (start + repeated * number + "\x01" for number in (times, LONGER * times))
    try:
        return counter.count(long, LIMIT) > MOST * counter.count(short, LIMIT)
    except TooManyStepsError:
        return True


def slow_text(tree: Any) -> tuple[str, str] | None:
    counter = StepCounter(tree)
    return next((text for text in dict.fromkeys(hostile(tree)) if is_quadratic(counter, *text)), None)


def test_work_grows_with_the_length_of_a_text_and_not_with_its_square() -> None:
    slow = {pattern: slow_text(tree) for pattern, tree in trees().items()}
    assert {pattern: text for pattern, text in slow.items() if text is not None} == {}


def test_no_group_is_repeated_possessively() -> None:
    """Before Python 3.11.5, Debian 12 has 3.11.2, ``(?:...)*+`` may pass over text of an alternative that failed
    (https://github.com/python/cpython/issues/106052); ``(?>(?:...)*)`` means the same and never did."""
    repeated_group = re.compile(r"(?<!\\)\)(?:[*+?]|\{[0-9,]+\})\+")
    all_patterns = dict(itertools.chain(inline_patterns(), module_patterns()))
    assert [pattern for pattern in all_patterns if repeated_group.search(pattern)] == []


QUADRATIC = (
    (r"</?doc\b[^>\n]*>", 0),
    (r"\s+(?:holdings?|group)$", 0),
    ("<ref.*?</ref>", 0),
    (r"(?m)^\s*-\s", 0),
    ("<ref  # begins here \n .*? </ref>", re.VERBOSE),
    ("(?:a|aa)+b", 0),
)


@pytest.mark.parametrize(("pattern", "flags"), QUADRATIC)
def test_the_texts_show_quadratic_work(pattern: str, flags: int) -> None:
    assert slow_text(parse(pattern, flags))
