"""Counts the steps of a backtracking regular expression search, so that a test needs no clock.

The tree that Python's own parser makes of a pattern becomes functions that call each other. They try alternatives in
the order in which `re` tries them, and count one step for each character and position that they look at. They have none
of the shortcuts of the C code, so the counts are an upper bound; their growth with the length of the string is what
matters.
"""

import re
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

PARSER: Any = import_module("re._parser")
NAMES: Any = import_module("re._constants")

LARGEST_BOUND = 12
"""A higher bound of a repetition counts as this one: `{0,200}` is bounded work, on a short string too."""

REPEATS = {NAMES.MAX_REPEAT, NAMES.MIN_REPEAT, NAMES.POSSESSIVE_REPEAT}
SINGLE_CHARACTERS = {NAMES.LITERAL, NAMES.NOT_LITERAL, NAMES.ANY, NAMES.IN}

RECURSION_LIMIT = 20_000
"""Each repetition of a group calls the next one."""

Continue = Callable[[int], int | None]
"""Matches the rest of the pattern from a position. Returns the end of the whole match, None: there is none."""
Matcher = Callable[[int, Continue], int | None]
"""Matches a part of the pattern from a position, and the rest of the pattern from each end of that part in turn."""

CATEGORIES: dict[Any, Callable[[str], bool]] = {
    NAMES.CATEGORY_DIGIT: str.isdecimal,
    NAMES.CATEGORY_NOT_DIGIT: lambda character: not character.isdecimal(),
    NAMES.CATEGORY_SPACE: str.isspace,
    NAMES.CATEGORY_NOT_SPACE: lambda character: not character.isspace(),
    NAMES.CATEGORY_WORD: lambda character: character.isalnum() or character == "_",
    NAMES.CATEGORY_NOT_WORD: lambda character: not (character.isalnum() or character == "_"),
}


class TooManyStepsError(Exception):
    """The search took more steps than its limit."""


def parse(pattern: str, flags: int) -> Any:
    """The tree of a pattern, as Python's parser makes it."""
    return PARSER.parse(pattern, flags)


def has_unbounded_repeat(tree: Any) -> bool:
    """Whether something in the pattern may repeat without end. Without that, each position takes bounded work."""
    for operation, argument in tree:
        if operation in REPEATS and argument[1] is NAMES.MAXREPEAT:
            return True
        if any(has_unbounded_repeat(part) for part in inner_sequences(operation, argument)):
            return True
    return False


def inner_sequences(operation: Any, argument: Any) -> list[Any]:
    """The sequences inside a node: alternatives, the content of a group, of a repetition or of an assertion."""
    if operation is NAMES.BRANCH:
        return list(argument[1])
    if operation is NAMES.SUBPATTERN:
        return [argument[3]]
    if operation in REPEATS:
        return [argument[2]]
    if operation in {NAMES.ASSERT, NAMES.ASSERT_NOT}:
        return [argument[1]]
    if operation is NAMES.ATOMIC_GROUP:
        return [argument]
    return []


def literal_words(tree: Any) -> list[str]:
    """The literal texts in a pattern, optional characters included: "</doc" and ">" of ``</?doc[^>]*>``."""
    words = [""]
    for operation, argument in tree:
        if operation is NAMES.LITERAL:
            words[-1] += chr(argument)
            continue
        parts = [word for part in inner_sequences(operation, argument) for word in literal_words(part)]
        if operation in REPEATS and len(parts) == 1:
            words[-1] += parts[0]
        elif operation is not NAMES.AT:
            words += [*parts, ""]
    return [word for word in words if word]


class StepCounter:
    """Counts the steps of searches with one pattern.

    >>> StepCounter(parse("<ref.*?</ref>", 0)).count("<ref" * 10, 1_000)
    506
    """

    def __init__(self, tree: Any) -> None:
        self._flags = tree.state.flags
        self._text = ""
        self._limit = 0
        self._steps = 0
        self._groups: dict[int, tuple[int, int]] = {}
        self._match = self._sequence(tree)

    def count(self, text: str, limit: int) -> int:
        """The steps of finding all matches in the text. Raises TooManyStepsError: more than `limit`."""
        self._text = text
        self._limit = limit
        self._steps = 0
        recursion_limit = sys.getrecursionlimit()
        sys.setrecursionlimit(RECURSION_LIMIT)
        try:
            self._find_all()
        finally:
            sys.setrecursionlimit(recursion_limit)
        return self._steps

    def _find_all(self) -> None:
        position = 0
        while position <= len(self._text):
            self._groups.clear()
            end = self._match(position, _stop)
            position = position + 1 if end is None or end == position else end

    def _add(self, steps: int) -> None:
        self._steps += steps
        if self._steps > self._limit:
            raise TooManyStepsError

    # --- a matcher for each kind of node ---

    def _sequence(self, nodes: Any) -> Matcher:
        """All nodes, one after the other."""
        matchers = [self._node(operation, argument) for operation, argument in nodes]
        if not matchers:
            return lambda position, rest: rest(position)

        sequence = matchers[-1]
        for matcher in reversed(matchers[:-1]):
            sequence = _then(matcher, sequence)
        return sequence

    def _node(self, operation: Any, argument: Any) -> Matcher:
        """One node. Each kind but a single character counts its step here."""
        if operation in SINGLE_CHARACTERS:
            return self._character(Accepts(operation, argument, self._flags))

        inner = self._without_step(operation, argument)

        def match(position: int, rest: Continue) -> int | None:
            self._add(1)
            return inner(position, rest)

        return match

    def _without_step(self, operation: Any, argument: Any) -> Matcher:  # noqa: PLR0911 - one for each kind of node
        if operation is NAMES.BRANCH:
            return _alternatives([self._sequence(branch) for branch in argument[1]])
        if operation is NAMES.SUBPATTERN:
            return self._group(argument[0], self._sequence(argument[3]))
        if operation is NAMES.POSSESSIVE_REPEAT:
            return _first_only(self._repeat(operation, *argument))
        if operation in REPEATS:
            return self._repeat(operation, *argument)
        if operation is NAMES.ATOMIC_GROUP:
            return _first_only(self._sequence(argument))
        if operation in {NAMES.ASSERT, NAMES.ASSERT_NOT}:
            return self._assertion(*argument, wanted=operation is NAMES.ASSERT)
        if operation is NAMES.AT:
            return self._anchor(argument)
        if operation is NAMES.GROUPREF:
            return self._reference(argument)
        raise NotImplementedError(f"{operation} in a pattern")

    def _character(self, accepts: "Accepts") -> Matcher:
        def match(position: int, rest: Continue) -> int | None:
            self._steps += 1
            if self._steps > self._limit:
                raise TooManyStepsError
            if position < len(self._text) and accepts[self._text[position]]:
                return rest(position + 1)
            return None

        return match

    def _group(self, number: int | None, inner: Matcher) -> Matcher:
        if number is None:
            return inner

        def match(position: int, rest: Continue) -> int | None:
            def store(end: int) -> int | None:
                self._groups[number] = (position, end)
                return rest(end)

            return inner(position, store)

        return match

    def _reference(self, number: int) -> Matcher:
        def match(position: int, rest: Continue) -> int | None:
            start, end = self._groups.get(number, (0, 0))
            if not self._text.startswith(self._text[start:end], position):
                return None
            return rest(position + end - start)

        return match

    def _repeat(self, operation: Any, least: Any, most: Any, inner: Any) -> Matcher:
        lazy = operation is NAMES.MIN_REPEAT
        if most is not NAMES.MAXREPEAT:
            most = min(most, LARGEST_BOUND)
        least = min(int(least), int(most))

        if len(inner) == 1 and inner[0][0] in SINGLE_CHARACTERS:
            kind, content = inner[0]
            accepts = Accepts(kind, content, self._flags)
            return self._lazy_run(accepts, least, int(most)) if lazy else self._greedy_run(accepts, least, int(most))
        return self._repeat_group(self._sequence(inner), lazy, least, int(most))

    def _greedy_run(self, accepts: "Accepts", least: int, most: int) -> Matcher:
        """Repeats a single character: as often as possible, then one less each time."""

        def match(position: int, rest: Continue) -> int | None:
            text = self._text
            stop = min(len(text), position + most)
            end = position
            while end < stop and accepts[text[end]]:
                end += 1

            # Each accepted character is a step, and so is the one that ends the run.
            enough = end - position >= least
            self._add(end - position + (1 if enough or least else 0))
            if not enough:
                return None
            for longest_first in range(end, position + least - 1, -1):
                self._add(1)
                result = rest(longest_first)
                if result is not None:
                    return result
            return None

        return match

    def _lazy_run(self, accepts: "Accepts", least: int, most: int) -> Matcher:
        """Repeats a single character: as seldom as possible, then once more each time."""

        def match(position: int, rest: Continue) -> int | None:
            text = self._text
            stop = min(len(text), position + most)
            end = position
            while True:
                if end - position >= least:
                    result = rest(end)
                    if result is not None:
                        return result
                self._add(1)
                if end >= stop or not accepts[text[end]]:
                    return None
                end += 1

        return match

    def _repeat_group(self, inner: Matcher, lazy: bool, least: int, most: int) -> Matcher:
        def repeat(position: int, rest: Continue, done: int) -> int | None:
            if lazy and done >= least:
                result = rest(position)
                if result is not None:
                    return result

            def again(end: int) -> int | None:
                return repeat(end, rest, done + 1) if end > position or done < least else None

            if done < most:
                result = inner(position, again)
                if result is not None:
                    return result
            return rest(position) if not lazy and done >= least else None

        return lambda position, rest: repeat(position, rest, 0)

    def _assertion(self, direction: int, content: Any, *, wanted: bool) -> Matcher:
        """Looks ahead or behind."""
        inner = self._sequence(content)
        width = content.getwidth()[0]

        def matches(position: int) -> bool:
            if direction > 0:
                return inner(position, _stop) is not None
            start = position - width
            return start >= 0 and inner(start, lambda end: end if end == position else None) is not None

        return lambda position, rest: rest(position) if matches(position) is wanted else None

    def _anchor(self, kind: Any) -> Matcher:
        return lambda position, rest: rest(position) if self._is_at(kind, position) else None

    def _is_at(self, kind: Any, position: int) -> bool:
        text = self._text
        before = position > 0 and CATEGORIES[NAMES.CATEGORY_WORD](text[position - 1])
        after = position < len(text) and CATEGORIES[NAMES.CATEGORY_WORD](text[position])
        at_line_start = position == 0 or text[position - 1] == "\n"
        at_line_end = position == len(text) or text[position] == "\n"
        multiline = bool(self._flags & re.MULTILINE)

        if kind is NAMES.AT_BEGINNING:
            return at_line_start if multiline else position == 0
        if kind is NAMES.AT_END:
            in_last_line = position >= len(text) - 1
            return at_line_end and (multiline or in_last_line)
        if kind is NAMES.AT_BEGINNING_STRING:
            return position == 0
        if kind is NAMES.AT_END_STRING:
            return position == len(text)
        if kind is NAMES.AT_BOUNDARY:
            return before != after
        if kind is NAMES.AT_NON_BOUNDARY:
            return before == after
        raise NotImplementedError(f"{kind} in a pattern")


class Accepts(dict[str, bool]):
    """Character -> whether a node of one character matches it, in either case if the pattern ignores case."""

    def __init__(self, operation: Any, argument: Any, flags: int) -> None:
        self._operation = operation
        self._argument = argument
        self._flags = flags

    def __missing__(self, character: str) -> bool:
        cases = {character.lower(), character.upper()} if self._flags & re.IGNORECASE else {character}
        accepted = any(self._accepts_exactly(cased) for cased in cases)
        self[character] = accepted
        return accepted

    def _accepts_exactly(self, character: str) -> bool:
        if self._operation is NAMES.ANY:
            return character != "\n" or bool(self._flags & re.DOTALL)
        if self._operation is NAMES.LITERAL:
            return ord(character[0]) == int(self._argument)
        if self._operation is NAMES.NOT_LITERAL:
            return ord(character[0]) != int(self._argument)
        items = self._argument
        negated = bool(items) and items[0][0] is NAMES.NEGATE
        return any(_in_set(item, character) for item in items) is not negated


def _in_set(item: Any, character: str) -> bool:
    operation, argument = item
    if operation is NAMES.LITERAL:
        return ord(character[0]) == int(argument)
    if operation is NAMES.RANGE:
        return int(argument[0]) <= ord(character[0]) <= int(argument[1])
    if operation is NAMES.CATEGORY:
        return CATEGORIES[argument](character)
    return False  # the mark of a negated set


def _stop(position: int) -> int:
    """The end of the pattern."""
    return position


def _then(first: Matcher, second: Matcher) -> Matcher:
    return lambda position, rest: first(position, lambda end: second(end, rest))


def _alternatives(branches: list[Matcher]) -> Matcher:
    def match(position: int, rest: Continue) -> int | None:
        for branch in branches:
            result = branch(position, rest)
            if result is not None:
                return result
        return None

    return match


def _first_only(inner: Matcher) -> Matcher:
    """Never comes back for another end of the part."""

    def match(position: int, rest: Continue) -> int | None:
        end = inner(position, _stop)
        return None if end is None else rest(end)

    return match
