"""Superscripts and subscripts in plain text, until it becomes HTML. Without a mark, 10<sup>6</sup> would become 106.

>>> to_html(f"5 km{raised('2')} & H{lowered('2')}O")
'5 km<sup>2</sup> &amp; H<sub>2</sub>O'
"""

import html
import re

# Characters that Unicode keeps out of texts, for a program's own use.
RAISED, NOT_RAISED = "\ufdd0\ufdd1"
_LOWERED, _NOT_LOWERED = "\ufdd2\ufdd3"
_TEXT_BETWEEN = "([^\ufdd0-\ufdd3]*)"
_SUPERSCRIPT = re.compile(f"{RAISED}{_TEXT_BETWEEN}{NOT_RAISED}")
_SUBSCRIPT = re.compile(f"{_LOWERED}{_TEXT_BETWEEN}{_NOT_LOWERED}")
_MARK = re.compile("[\ufdd0-\ufdd3]")


def raised(text: str) -> str:
    """A superscript, between marks."""
    return f"{RAISED}{text}{NOT_RAISED}" if text.strip() else text


def lowered(text: str) -> str:
    """A subscript, between marks."""
    return f"{_LOWERED}{text}{_NOT_LOWERED}" if text.strip() else text


def to_html(text: str) -> str:
    """A text with marks as HTML; a mark without its partner goes."""
    # A superscript may come in several runs.
    joined = text.replace(NOT_RAISED + RAISED, "").replace(_NOT_LOWERED + _LOWERED, "")
    markup = _SUPERSCRIPT.sub(r"<sup>\1</sup>", html.escape(joined))
    markup = _SUBSCRIPT.sub(r"<sub>\1</sub>", markup)
    return without_marks(markup)


def without_marks(text: str) -> str:
    """A text without the marks of its superscripts and subscripts."""
    return _MARK.sub("", text)
