"""The rules of a page's `<style>` sheets, and which of them are for an element (CSS 2.2, 5 and 6.4).

Which selectors are read, such as ``div > .note`` or ``.loss::before``, is in `crag.web.extract.selectors`. Not read are
sheets of other files, and rules inside `@media` for other screens than a wide one (`crag.web.extract.media`).
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from crag.web.extract.declarations import parse_block
from crag.web.extract.media import is_for_wide_screen, open_at_rules
from crag.web.extract.nesting import read_rules
from crag.web.extract.selectors import (
    AttributeTest,
    GroupTest,
    Keys,
    Selector,
    read_attribute_test,
    read_group_test,
    read_keys,
    read_selectors,
    read_specificity,
)

MAX_RULES = 2_000
"""Of a page."""

_SHEET = re.compile(
    r"<!--.*?(?:-->|\Z)"  # a sheet in a comment is for one mail program
    r"|<(style|noscript|script)\b([^<>]*+)>"  # a sheet inside <noscript> does not apply
    r"([^<]*+(?>(?:<(?!/\1)[^<]*+)*))",  # many times as fast as .*?
    re.IGNORECASE | re.DOTALL,
)
_MEDIA = re.compile(r"""\bmedia\s*=\s*(?:"([^">]*)"|'([^'>]*)'|([^\s>]*))""", re.IGNORECASE)
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)|<!--|-->", re.DOTALL)
_READ_DECLARATION = re.compile(
    r"""
    ; \s*+
    (?: (?: display | (?:content-)? visibility | opacity | vertical-align | text-decoration (?:-line)? | float | top
          | bottom | left | right | text-indent | content | clip (?:-path)? | zoom | scale | animation (?:-name)?
          | flex-(?:direction|flow) | order | unicode-bidi ) \s* :
      | margin-(?:left|top) \s* : \s* -
      | font-size \s* : \s* (?: [0.] | 1(?:\.\d+)? p )
      | font \s* : [^;]{0,99} \b 0
      | (?:max-)? (?:height|width) \s* : \s* [01] (?:px)? \s* (?: [;!}] | \Z )
      | (?:-webkit-)? transform \s* : [^;]{0,200} (?: scale | translate )
      | translate \s* : \s* -
      | filter \s* : [^;]{0,200} opacity
      | (?:-webkit-text-fill-)? color \s* : \s* (?: transparent | (?:rgb|hsl)a | [a-z]{3,9} \( [^();]{0,99} /
                                               | \# [0-9a-f]{3} (?: [0-9a-f]{3} 0 )? 0 (?! [0-9a-f] ) )
      | white-space \s* : \s* (?: pre | break | normal ) )
    """,
    re.VERBOSE,
)
"""A rule in small letters without any of these, and without a colour on a colour, says nothing about what is read."""
_SHOWS = re.compile(
    r";\s*+(?:display\s*:(?!\s*none)|visibility\s*:\s*visible|opacity\s*:\s*0?(?:\.\d{0,3})?[1-9])", re.IGNORECASE
)
"""Guesses count only where they show what other rules hide."""
_COLOUR = re.compile(r";\s*+color\s*:")
_NO_SIZE = re.compile(r"font(?:-size)?\s*:\s*0", re.IGNORECASE)
_SIZE = re.compile(r";\s*+font(?:-size)?\s*:")
"""Read only on pages with letters of no size, to which they may give one inside; colours likewise."""
_NO_COLOUR = re.compile(r"(?<![\w-])color\s*:\s*transparent", re.IGNORECASE)
_COUNTER = re.compile(r"\bcounters?\(")
_COUNTER_CHANGE = re.compile(r";\s*+counter-(?:reset|increment)\s*:")
"""Read only on pages that write a counter."""
_WEIGHT = re.compile(r";\s*+font-weight\s*:")
"""Read on pages with tables none of which has header cells: bold type may tell them."""
_LIST_STYLE = re.compile(r";\s*+list-style(?:-type)?\s*:")
"""Read on pages with ordered lists only: most sheets take the signs from every menu."""


class Place:
    """Elements that no selector tells apart: they and those that they are inside of have the same keys.

    Attributes:
        keys: Theirs; those that no rule names are left out.
        parent: The place of the elements that they are in.
        keys_above: The keys of all elements that they are inside of.
        inner: The places inside this one, by their keys.
        rules: The rules for them.
    """

    __slots__ = ("inner", "keys", "keys_above", "parent", "rules")

    def __init__(self, keys: Keys, parent: "Place | None") -> None:
        self.keys = keys
        self.parent = parent
        self.keys_above: Keys = parent.keys_above | parent.keys if parent else frozenset()
        self.inner: dict[Keys, Place] = {}
        self.rules: tuple[Rule, ...] = ()


class _Run(NamedTuple):
    """Compounds joined by ``>``, from the inside out. `is_attached`: a ``>`` joins them to what is inside."""

    compounds: Sequence[Keys]
    is_attached: bool = False


class WrittenRule(NamedTuple):
    """A rule as it is written, with one of its selectors."""

    selector: Selector
    declarations: str
    position: int


class Rule:
    """A rule with one selector.

    Attributes:
        pseudo_element: ``before`` or ``after`` the elements that it is for, or "" for them.
        rank: Its specificity (ids, classes, names), then its position. The highest rank wins.
        is_guess: Whether it is for these elements also depends on what is not read.
        block: Its declarations.
    """

    __slots__ = ("_keys_above", "_runs", "_subject", "block", "is_guess", "pseudo_element", "rank")

    def __init__(self, written: WrittenRule) -> None:
        selector = re.sub(" ?> ?", ">", written.selector.outer + written.selector.subject)
        (self._subject, *attached), *runs = [_read_compounds(part) for part in reversed(selector.split(" "))]
        self._runs = [_Run(compounds) for compounds in runs]
        if attached:
            self._runs.insert(0, _Run(attached, is_attached=True))
        self._keys_above = frozenset[str]().union(*(keys for run in self._runs for keys in run.compounds))
        self.pseudo_element = written.selector.pseudo_element
        self.is_guess = written.selector.is_guess
        self.rank = (*read_specificity(written.selector.written), written.position)
        self.block = parse_block(written.declarations)

    def matches(self, place: Place) -> bool:
        """Whether the rule is for an element."""
        if not (self._subject <= place.keys and self._keys_above <= place.keys_above):
            return False
        inner: Place | None = place
        for run in self._runs:
            if inner is None:
                break
            inner = _find_run(inner.parent, run)
        return inner is not None


def _read_compounds(part: str) -> list[Keys]:
    """``[{.note}, {div, .box}]`` for ``div.box>.note``."""
    return [frozenset(read_keys(compound)) for compound in reversed(part.split(">"))]


def _find_run(start: Place | None, run: _Run) -> Place | None:
    """The outermost element of the nearest match, which leaves most room for the runs around it."""
    while start is not None:
        outermost = _match_run(start, run.compounds)
        if outermost is not None or run.is_attached:
            return outermost
        start = start.parent
    return None


def _match_run(innermost: Place, compounds: Iterable[Keys]) -> Place | None:
    outermost = None
    current: Place | None = innermost
    for keys in compounds:
        if current is None or not keys <= current.keys:
            return None
        outermost, current = current, current.parent
    return outermost


class StyleSheets:
    """All rules of a page.

    Example:
        sheets = StyleSheets("<style>.was { display: none }</style>")
        sheets.place_of(sheets.top, "b", {"class": "was"}).rules  # one rule
    """

    def __init__(self, html: str) -> None:
        self.top = Place(frozenset(), None)
        self._named_keys: set[str] = set()
        # By the rarest key of the subject. Most rules are for elements that the page does not have.
        self._written: dict[str, list[WrittenRule]] = {}
        self._rules: dict[str, list[Rule]] = {}
        for written in _read_rules(html):
            subject_keys = read_keys(written.selector.subject)
            self._named_keys.update(subject_keys)
            if written.selector.outer:
                self._named_keys.update(read_keys(written.selector.outer))
            self._written.setdefault(min(subject_keys, key=_how_common), []).append(written)

        self._group_tests: list[GroupTest] = []
        self._attribute_tests: dict[str, list[AttributeTest]] = {}
        self._read_tests()

    def _read_tests(self) -> None:
        """Read the tests among the keys that rules name, and the keys that these name."""
        for key in sorted(self._named_keys):
            if key[0] == ":":
                test = read_group_test(key)
                self._group_tests.append(test)
                self._named_keys.update(*test.compounds)
        for key in sorted(self._named_keys):
            if key[0] == "[":
                test_of_attribute = read_attribute_test(key)
                self._attribute_tests.setdefault(test_of_attribute.name, []).append(test_of_attribute)
        self.tested_attributes = frozenset(self._attribute_tests)

    def place_of(self, parent: Place, name: str, attributes: Mapping[str, str | None]) -> Place:
        """The place of an element inside of another place."""
        if not self._named_keys:
            return self.top
        keys = self._keys_of(name, attributes)
        place = parent.inner.get(keys)
        if place is None:
            place = parent.inner[keys] = Place(keys, parent)
            place.rules = tuple(self._find_rules(place))
        return place

    def _keys_of(self, name: str, attributes: Mapping[str, str | None]) -> Keys:
        """The keys of an element that rules name."""
        keys = {name, "*", f"#{attributes.get('id')}"}
        keys.update(f".{word}" for word in (attributes.get("class") or "").split())
        for attribute in self.tested_attributes.intersection(attributes):
            keys.update([test.key for test in self._attribute_tests[attribute] if test.holds(attributes)])
        keys &= self._named_keys
        if self._group_tests:
            keys.update([test.key for test in self._group_tests if test.holds(keys)])
        return frozenset(keys)

    def _find_rules(self, place: Place) -> Iterator[Rule]:
        for key in place.keys:
            rules = self._rules.get(key)
            if rules is None:
                rules = self._rules[key] = [Rule(written) for written in self._written.get(key, ())]
            for rule in rules:
                if rule.matches(place):
                    yield rule


def _how_common(key: str) -> int:
    """The order of an id, a class, an attribute, a group, a name, any name."""
    return 5 if key == "*" else "#.[:".find(key[0]) % 5


def _read_rules(html: str) -> Iterator[WrittenRule]:
    """The rules of a page that say something about what is read, in order."""
    sheets = []
    for element, attributes, content in _SHEET.findall(html):
        media = _MEDIA.search(attributes)
        if element.lower() == "style" and is_for_wide_screen((media[1] or media[2] or media[3] or "") if media else ""):
            sheets.append(content)
    text = open_at_rules(_COMMENT.sub("", "\n".join(sheets)))

    patterns = _patterns_for(html, text)
    count = 0
    for selectors, declarations in read_rules(text):
        if not _is_read(declarations, patterns):
            continue
        for selector in read_selectors(selectors):
            if selector.is_guess and (selector.pseudo_element or not _SHOWS.search(f";{declarations}")):
                continue
            if count < MAX_RULES:
                count += 1
                yield WrittenRule(selector, declarations, count)


def _patterns_for(html: str, sheet: str) -> list[re.Pattern[str]]:
    """The patterns of the declarations that count on a page: some do only where there is what they are about."""
    patterns = [_READ_DECLARATION]
    if "<ol" in html or "<OL" in html:
        patterns.append(_LIST_STYLE)
    if "<table" in html and "<th" not in html:
        patterns.append(_WEIGHT)
    if _COUNTER.search(sheet):
        patterns.append(_COUNTER_CHANGE)
    if _NO_SIZE.search(sheet):
        patterns.append(_SIZE)
    if _NO_COLOUR.search(sheet):
        patterns.append(_COLOUR)
    return patterns


def _is_read(declarations: str, patterns: Iterable[re.Pattern[str]]) -> bool:
    lowered = f";{declarations.lower()}"
    if any(pattern.search(lowered) for pattern in patterns):
        return True
    return "background" in lowered and _COLOUR.search(lowered) is not None
