"""Superscripts in plain text, until it becomes HTML. Without a mark, 10<sup>6</sup> would become 106.

>>> to_html(f"5 km{raised('2')} & more")
'5 km<sup>2</sup> &amp; more'
"""

import html
import re

# Characters that Unicode keeps out of texts, for a program's own use.
RAISED, NOT_RAISED = "\ufdd0\ufdd1"
_SUPERSCRIPT = re.compile(f"{RAISED}([^{RAISED}{NOT_RAISED}]*){NOT_RAISED}")
_MARK = re.compile(f"[{RAISED}{NOT_RAISED}]")


def raised(text: str) -> str:
    """A superscript, between marks."""
    return f"{RAISED}{text}{NOT_RAISED}" if text.strip() else text


def to_html(text: str) -> str:
    """A text with marks as HTML; a mark without its partner goes."""
    # A superscript may come in several runs.
    joined = text.replace(NOT_RAISED + RAISED, "")
    markup = _SUPERSCRIPT.sub(r"<sup>\1</sup>", html.escape(joined))
    return without_marks(markup)


def without_marks(text: str) -> str:
    """A text without the marks of its superscripts."""
    return _MARK.sub("", text)
