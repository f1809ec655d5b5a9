"""Values of data that are HTML, such as the text of an article in the reply of a server."""

import re

from crag.settings import ExtractSettings
from crag.web import page_text

_SETTINGS = ExtractSettings(labelled_tables=True)
_MARKUP = re.compile(
    r"</(?:a|b|del|em|h[1-6]|i|ins|li|ol|p|s|small|span|strong|sub|sup|table|td|u|ul)\s{0,9}>|<br\s{0,9}/?>",
    re.IGNORECASE,
)
"""Tags of a formatted text; what has others only may be a program."""


def markup_lines(value: str) -> list[str]:
    """A value as a reader sees it, a block a line; one that is no HTML as it is, and none of a value without text.

    Example:
        markup_lines("<p>It costs <s>9</s> <b>11</b> &euro;.</p><p>Net.</p>")  # ["It costs 11 €.", "Net."]
        markup_lines("5 < 6")  # ["5 < 6"]
    """
    has_markup = "<" in value and _MARKUP.search(value) is not None
    lines = page_text(value, _SETTINGS).split("\n") if has_markup else [value]
    return [line for line in lines if line]
