"""Counts the steps of a backtracking regular expression search, so that a test needs no clock.

A plain interpreter of the tree that Python's own parser makes of a pattern. It tries alternatives in the order in which
`re` tries them, and counts one step for each character and position that it looks at. It has none of the shortcuts of
the C code, so its counts are an upper bound; their growth with the length of the string is what matters.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

PARSER: Any = import_module("re._parser")
NAMES: Any = import_module("re._constants")

LARGEST_BOUND = 12
"""A higher bound of a repetition counts as this one: `{0,200}` is bounded work, on a short string too."""

REPEATS = {NAMES.MAX_REPEAT, NAMES.MIN_REPEAT, NAMES.POSSESSIVE_REPEAT}

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


def count_steps(tree: Any, text: str, limit: int) -> int:
    """The steps of finding all matches in the text. Raises TooManyStepsError: more than `limit`."""
    return _Search(tree, tree.state.flags, text, limit).run()


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


@dataclass
class _Search:
    tree: Any
    flags: int
    text: str
    limit: int
    steps: int = 0
    groups: dict[int, tuple[int, int]] = field(default_factory=dict)

    def run(self) -> int:
        nodes = list(self.tree)
        position = 0
        while position <= len(self.text):
            self.groups.clear()
            end = next(self._sequence(nodes, 0, position), None)
            position = position + 1 if end is None or end == position else end
        return self.steps

    def _step(self) -> None:
        self.steps += 1
        if self.steps > self.limit:
            raise TooManyStepsError

    def _sequence(self, nodes: list[Any], index: int, position: int) -> Iterator[int]:
        """The ends of all matches of nodes[index:] from the position, in the order in which they are tried."""
        if index == len(nodes):
            yield position
            return
        for end in self._node(nodes[index], position):
            yield from self._sequence(nodes, index + 1, end)

    def _node(self, node: Any, position: int) -> Iterator[int]:  # noqa: C901, PLR0912 - a branch a kind of node
        operation, argument = node
        self._step()

        if operation in {NAMES.LITERAL, NAMES.NOT_LITERAL, NAMES.ANY, NAMES.IN}:
            if position < len(self.text) and self._accepts(node, self.text[position]):
                yield position + 1

        elif operation is NAMES.BRANCH:
            for branch in argument[1]:
                yield from self._sequence(list(branch), 0, position)

        elif operation is NAMES.SUBPATTERN:
            group, _, _, inner = argument
            for end in self._sequence(list(inner), 0, position):
                if group is not None:
                    self.groups[group] = (position, end)
                yield end

        elif operation in REPEATS:
            least, most, inner = argument
            if most is not NAMES.MAXREPEAT:
                most = min(most, LARGEST_BOUND)
            ends = self._repeat(operation, min(int(least), int(most)), int(most), list(inner), position)
            yield from _first(ends) if operation is NAMES.POSSESSIVE_REPEAT else ends

        elif operation is NAMES.ATOMIC_GROUP:
            yield from _first(self._sequence(list(argument), 0, position))

        elif operation in {NAMES.ASSERT, NAMES.ASSERT_NOT}:
            if self._looks_around(argument, position) is (operation is NAMES.ASSERT):
                yield position

        elif operation is NAMES.AT:
            if self._is_at(argument, position):
                yield position

        elif operation is NAMES.GROUPREF:
            start, end = self.groups.get(argument, (0, 0))
            if self.text.startswith(self.text[start:end], position):
                yield position + end - start

        else:
            raise NotImplementedError(f"{operation} in a pattern")

    def _repeat(self, operation: Any, least: int, most: int, inner: list[Any], position: int) -> Iterator[int]:
        """The ends of the repetitions: the longest first, or the shortest first if they are lazy."""
        lazy = operation is NAMES.MIN_REPEAT
        single = len(inner) == 1 and inner[0][0] in {NAMES.LITERAL, NAMES.NOT_LITERAL, NAMES.ANY, NAMES.IN}
        if not single:
            yield from self._repeat_group(lazy, least, most, inner, position, 0)
            return

        def accepts(end: int) -> bool:
            self._step()
            return end < len(self.text) and end - position < most and self._accepts(inner[0], self.text[end])

        end = position
        while end - position < least:
            if not accepts(end):
                return
            end += 1
        if lazy:
            yield end
            while accepts(end):
                end += 1
                yield end
        else:
            shortest = end
            while accepts(end):
                end += 1
            for longest_first in range(end, shortest - 1, -1):
                self._step()
                yield longest_first

    def _repeat_group(
        self, lazy: bool, least: int, most: int, inner: list[Any], position: int, done: int
    ) -> Iterator[int]:
        if lazy and done >= least:
            yield position
        if done < most:
            for end in self._sequence(inner, 0, position):
                if end > position or done < least:
                    yield from self._repeat_group(lazy, least, most, inner, end, done + 1)
        if not lazy and done >= least:
            yield position

    def _looks_around(self, argument: Any, position: int) -> bool:
        direction, inner = argument
        if direction > 0:
            return next(self._sequence(list(inner), 0, position), None) is not None
        width = inner.getwidth()[0]
        start = position - width
        return start >= 0 and position in self._sequence(list(inner), 0, start)

    def _is_at(self, place: Any, position: int) -> bool:
        before = position > 0 and CATEGORIES[NAMES.CATEGORY_WORD](self.text[position - 1])
        after = position < len(self.text) and CATEGORIES[NAMES.CATEGORY_WORD](self.text[position])
        at_line_start = position == 0 or self.text[position - 1] == "\n"
        at_line_end = position == len(self.text) or self.text[position] == "\n"
        multiline = bool(self.flags & re.MULTILINE)
        if place is NAMES.AT_BEGINNING:
            return at_line_start if multiline else position == 0
        if place is NAMES.AT_END:
            last_line = position >= len(self.text) - 1
            return at_line_end and (multiline or last_line)
        if place is NAMES.AT_BEGINNING_STRING:
            return position == 0
        if place is NAMES.AT_END_STRING:
            return position == len(self.text)
        if place is NAMES.AT_BOUNDARY:
            return before != after
        if place is NAMES.AT_NON_BOUNDARY:
            return before == after
        raise NotImplementedError(f"{place} in a pattern")

    def _accepts(self, node: Any, character: str) -> bool:
        """Whether a node of one character matches it, in either case if the pattern ignores case."""
        if not self.flags & re.IGNORECASE:
            return self._accepts_exactly(node, character)
        return any(self._accepts_exactly(node, cased) for cased in {character.lower(), character.upper()})

    def _accepts_exactly(self, node: Any, character: str) -> bool:
        operation, argument = node
        if operation is NAMES.ANY:
            return character != "\n" or bool(self.flags & re.DOTALL)
        if operation is NAMES.LITERAL:
            return ord(character[0]) == int(argument)
        if operation is NAMES.NOT_LITERAL:
            return ord(character[0]) != int(argument)
        negated = bool(argument) and argument[0][0] is NAMES.NEGATE
        return any(_in_set(item, character) for item in argument) is not negated


def _in_set(item: Any, character: str) -> bool:
    operation, argument = item
    if operation is NAMES.LITERAL:
        return ord(character[0]) == int(argument)
    if operation is NAMES.RANGE:
        return int(argument[0]) <= ord(character[0]) <= int(argument[1])
    if operation is NAMES.CATEGORY:
        return CATEGORIES[argument](character)
    return False  # the mark of a negated set


def _first(ends: Iterator[int]) -> Iterator[int]:
    end = next(ends, None)
    if end is not None:
        yield end
