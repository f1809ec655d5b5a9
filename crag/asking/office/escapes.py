"""Characters that files of Office write as ``_xHHHH_``: those that XML forbids, and underscores before such forms."""

import re

_ESCAPE = re.compile(r"_x([0-9A-Fa-f]{4})_")
_CONTROL_ESCAPE = re.compile(r"_x(00[01][0-9A-Fa-f])_")
_CONTROL = re.compile(r"[\x00-\x1f]")


def unescape(text: str) -> str:
    r"""A text of a workbook or a chart (type ST_Xstring, ECMA-376, part 1, 22.9.2.19). Control characters are blanks.

    >>> unescape("two_x000D_\nlines, file_x005F_x0041_")
    'two  lines, file_x0041_'
    """
    if "_x" in text:
        text = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)
        # Two escapes may be the halves of one character.
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return _CONTROL.sub(" ", text)


def blank_controls(text: str) -> str:
    """A text of a slide, in which only control characters are escaped, with blanks for them."""
    return _CONTROL.sub(" ", _CONTROL_ESCAPE.sub(" ", text))
