"""The styles of an XLSX's cells: number formats and struck out text (ECMA-376, part 1, 18.8).

openpyxl reads all of a style, colours and borders too, and gives up at one that Excel forgives.
"""

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_SHEET = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_GENERAL = "General"
_OFF = frozenset({"0", "false"})


class CellStyle(NamedTuple):
    """What the style of a cell says of its value."""

    number_format: str = _GENERAL
    is_struck_out: bool = False


def read_cell_styles(root: "Element") -> list[CellStyle]:
    """The styles by the numbers that cells have, from the part ``xl/styles.xml``."""
    formats = _number_formats(root)
    struck_out = [_is_struck_out(font) for font in root.iterfind(f"{_SHEET}fonts/{_SHEET}font")]

    styles = []
    for style in root.iterfind(f"{_SHEET}cellXfs/{_SHEET}xf"):
        font = _number(style, "fontId")
        number_format = formats.get(_number(style, "numFmtId"), _GENERAL)
        styles.append(CellStyle(number_format, 0 <= font < len(struck_out) and struck_out[font]))
    return styles


def _number_formats(root: "Element") -> dict[int, str]:
    """The formats of the file beside those that every program knows by their number."""
    from openpyxl.styles.numbers import BUILTIN_FORMATS

    formats: dict[int, str] = dict(BUILTIN_FORMATS)
    for entry in root.iterfind(f"{_SHEET}numFmts/{_SHEET}numFmt"):
        formats[_number(entry, "numFmtId")] = entry.get("formatCode") or _GENERAL
    return formats


def _is_struck_out(font: "Element") -> bool:
    mark = font.find(f"{_SHEET}strike")
    return mark is not None and mark.get("val") not in _OFF


def _number(element: "Element", name: str) -> int:
    """A number of an element; 0, the plain one, if it has none."""
    written = element.get(name, "")
    return int(written) if written.isascii() and written.isdigit() and len(written) < 10 else 0
