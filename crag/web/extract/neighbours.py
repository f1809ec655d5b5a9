"""Elements of a line side by side, with no blank between them, that a page's sheets most likely show apart.

The blank is a margin, of a sheet that is not read: ``<b class=team>Ajax</b><b class=goals>3</b>``.
"""

import re

from crag.web.extract.nodes import Element

STAND_IN_LINE = frozenset(["a", "abbr", "b", "bdi", "cite", "data", "em", "i", "small", "span", "strong", "time"])
"""Elements that may stand apart from another one of these."""
_ENDS_WORD = re.compile(r"(?:[A-Za-z][a-z]|[A-Za-z\d][)\]]|\d)\Z")
_ENDS_LONG_WORD = re.compile(r"(?:[^\W\d_]{3}|[^\W\d_][)\]])\Z")
_ENDS_NUMBER = re.compile(r"\d\Z")
_BEGINS_WORD = re.compile(r"[A-Z][a-z]")
_BEGINS_NUMBER = re.compile(r"\d")
_NUMBER = re.compile(r"\d{1,9}")


def stand_apart(before: Element, element: Element) -> bool:
    """Whether a word or a number ends with the one element, and another one begins with the next.

    Not ``un<b class=x>believ</b>able``, nor the digits of one number in elements of one class.
    """
    if before.name not in STAND_IN_LINE or element.name not in STAND_IN_LINE:
        return False
    classes_before, classes = before.get("class"), element.get("class")
    if not (classes_before or classes or "time" in (before.name, element.name)):
        return False

    end = _last_text(before)
    beginning = _first_text(element)
    if _BEGINS_NUMBER.match(beginning):
        is_of_other_kind = classes_before != "" and classes not in ("", classes_before)
        if _ENDS_NUMBER.search(end):
            return is_of_other_kind and _NUMBER.fullmatch(beginning) is not None and _NUMBER.fullmatch(end) is not None
        return _ENDS_LONG_WORD.search(end) is not None
    if not _BEGINS_WORD.match(beginning):
        return False
    return _ENDS_WORD.search(end) is not None


def _first_text(element: Element) -> str:
    return next(element.texts(), "")


def _last_text(element: Element) -> str:
    for child in reversed(element.children):
        text = child if isinstance(child, str) else _last_text(child)
        if text:
            return text
    return ""
