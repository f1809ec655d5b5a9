"""The selectors of CSS rules, as sets of the keys that elements must have (Selectors 4).

Read are names, classes, ids, attributes, `:not`, `:is` and `:where`, such as ``div > .note:not(.old)``. What else a
selector asks for, such as `:first-child` or ``:checked ~``, is left out, and the selector is then a guess.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

Keys = frozenset[str]
"""The name, the ``.class`` and the ``#id`` of an element, and the tests that it passes, such as ``[open]``; or those
that a selector asks for."""

_NAME = r"-?(?:[a-z_]|\\[^\n])(?>(?:[\w-]|\\[^\n])*)"
_ATTRIBUTE = r"""\[[a-z][\w-]*+(?:[~|^$*]?=(?:"[^"\s,>\[\]]*+"|'[^'\s,>\[\]]*+'|[\w-]++))?\]"""
_PLAIN_KEY = rf"[.#]{_NAME}|{_ATTRIBUTE}"
_INNER_COMPOUND = rf"(?:[a-z][\w-]*+|{_PLAIN_KEY})(?>(?:{_PLAIN_KEY})*)"
_GROUP = rf":(?:not|is|where|matches|-webkit-any|-moz-any)\({_INNER_COMPOUND}(?>(?:,{_INNER_COMPOUND})*)\)"
_KEY = rf"{_PLAIN_KEY}|{_GROUP}|\*"
_COMPOUND = rf"(?:[a-z][\w-]*+|{_KEY})(?>(?:{_KEY})*)"
_SELECTOR = re.compile(
    rf"(?P<outer>(?:{_COMPOUND}(?: ?> ?| ))*)(?P<subject>{_COMPOUND})(?:::?(?P<pseudo>before|after))?", re.IGNORECASE
)
_KEYS = re.compile(rf"{_KEY}|[a-z_][\w-]*+", re.IGNORECASE)

_COMMA = re.compile(r",(?![^()]{0,500}\))")
"""Between selectors, not those inside of ``:is(a, b)``."""
_BLANKS_INSIDE = re.compile(r"(?<=[(,]) | (?=[,)])")
_PLACE = re.compile(
    r":(?:(?:first|last|only)-(?:child|of-type)|checked|target|root|enabled|open"
    r"|(?:nth(?:-last)?-(?:child|of-type)|has)\([^()]{0,200}\)"
    r"|not\(:[\w-]{1,40}(?:\([^()]{0,200}\))?\))",
    re.IGNORECASE,
)
"""Asks where among its siblings an element stands, or what a reader has clicked."""


class Selector(NamedTuple):
    """A selector: `subject` is the compound of the element that it is for, `outer` those round it with their signs.

    `is_guess`: it also asks for something that is not read. `written` is all of it.
    """

    outer: str
    subject: str
    pseudo_element: str
    written: str
    is_guess: bool = False


def read_selectors(selectors: str) -> Iterator[Selector]:
    """The selectors before the braces of a rule; those that cannot be read are left out.

    Example:
        list(read_selectors("p, a:hover"))  # [Selector(outer="", subject="p", pseudo_element="", ...)]
    """
    has_groups = "(" in selectors
    for written in _COMMA.split(selectors) if has_groups else selectors.split(","):
        selector = " ".join(written.split())
        if has_groups:
            selector = _BLANKS_INSIDE.sub("", selector)
        read = _SELECTOR.fullmatch(selector)
        is_guess = read is None
        if is_guess:
            *_, behind_siblings = re.split("[+~]", _PLACE.sub("", selector))
            read = _SELECTOR.fullmatch(behind_siblings.strip())
        if read is not None:
            pseudo_element = (read["pseudo"] or "").lower()
            yield Selector(read["outer"], read["subject"], pseudo_element, selector, is_guess)


@lru_cache(maxsize=4096)
def read_keys(compound: str) -> Sequence[str]:
    """The keys that a compound, or all compounds of a selector, ask for.

    Example:
        read_keys("DIV.note[open]")  # ["div", ".note", "[open]"]
    """
    keys = []
    for key in _KEYS.findall(compound):
        is_name = key[0] not in ".#[:"
        keys.append(key.lower() if is_name else key.replace("\\", ""))
    return keys


def read_specificity(selector: str) -> tuple[int, int, int]:
    """How many ids, classes and names a selector asks for, also where it is not read (Selectors 4, 17)."""
    read, places = _PLACE.subn("", selector)
    ids, classes, names = _specificity(read)
    return ids, classes + places, names


def _specificity(selector: str) -> tuple[int, int, int]:
    ids = classes = names = 0
    for key in read_keys(selector):
        if key.startswith(":"):
            of_inner = _specificity_of_group(key)
            ids, classes, names = ids + of_inner[0], classes + of_inner[1], names + of_inner[2]
        elif key != "*":
            ids += key[0] == "#"
            classes += key[0] in ".["
            names += key[0] not in ".#["
    return ids, classes, names


def _specificity_of_group(group: str) -> tuple[int, int, int]:
    kind, inner = _read_group(group)
    if kind == "where":
        return 0, 0, 0
    return max(_specificity(compound) for compound in inner)


def _read_group(group: str) -> tuple[str, list[str]]:
    """The kind of a group and the compounds in it: ``not`` and ``[".a", ".b"]`` for ``:not(.a,.b)``."""
    kind, _, inner = group.removeprefix(":").partition("(")
    return kind.lower(), inner.removesuffix(")").split(",")


# --- tests that an element passes or not ------------------------------------------------------------------------------


_COMPARE: Mapping[str, Callable[[str, str], bool]] = {
    "": lambda written, value: written == value,
    "~": lambda written, value: value in written.split(),
    "|": lambda written, value: written == value or written.startswith(f"{value}-"),
    "^": lambda written, value: value != "" and written.startswith(value),
    "$": lambda written, value: value != "" and written.endswith(value),
    "*": lambda written, value: value != "" and value in written,
}
"""By the sign before ``=``."""


class AttributeTest(NamedTuple):
    """What ``[data-state^="open"]`` asks of an element; without a value, that it has the attribute."""

    key: str
    name: str
    sign: str
    value: str | None

    def holds(self, attributes: Mapping[str, str | None]) -> bool:
        """Whether an element with these attributes passes."""
        if self.name not in attributes or self.value is None:
            return self.name in attributes
        return _COMPARE[self.sign](attributes[self.name] or "", self.value)


class GroupTest(NamedTuple):
    """What ``:not(.old, [hidden])`` or ``:is(...)`` asks of the other keys of an element."""

    key: str
    is_negated: bool
    compounds: Sequence[Keys]

    def holds(self, keys: set[str]) -> bool:
        """Whether an element with these keys passes."""
        return any(compound <= keys for compound in self.compounds) is not self.is_negated


def read_attribute_test(key: str) -> AttributeTest:
    """The test of an attribute's key, such as ``[open]``."""
    written_name, sign_of_value, value = key[1:-1].partition("=")
    name = written_name.rstrip("~|^$*")
    sign = written_name.removeprefix(name)
    return AttributeTest(key, name.lower(), sign, value.strip("\"'") if sign_of_value else None)


def read_group_test(key: str) -> GroupTest:
    """The test of a group's key, such as ``:not(.old)``."""
    kind, inner = _read_group(key)
    return GroupTest(key, kind == "not", [frozenset(read_keys(compound)) for compound in inner])
