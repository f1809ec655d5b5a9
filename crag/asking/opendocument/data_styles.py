"""Formats of numbers (OpenDocument 1.3, part 3, 16.29) as those of a workbook of Office, which can be read already."""

from typing import TYPE_CHECKING

from crag.asking.opendocument.names import NUMBER

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

GENERAL = "General"

_MOST_DECIMALS = 20


def to_number_format(style: "Element") -> str:
    """The number format of a style, in the form of Office."""
    if style.tag in {f"{NUMBER}date-style", f"{NUMBER}time-style"}:
        return _time_format(style)

    pieces = []
    for part in style:
        name = str(part.tag).removeprefix(NUMBER)
        if name == "number":
            pieces.append(_digits(part))
        elif name == "scientific-number":
            pieces.append(f"{_digits(part)}E+00")
        elif name == "text" and "percentage" in style.tag and (part.text or "").strip() == "%":
            pieces.append("%")
        elif name in {"text", "currency-symbol"} and part.text:
            pieces.append('"{}"'.format(part.text.replace('"', "")))
    has_number = any(style.iterfind(f"{NUMBER}{name}") for name in ("number", "scientific-number"))
    return "".join(pieces) if has_number and pieces else GENERAL


def _digits(part: "Element") -> str:
    """The digits of a number; without a number of decimals it has those that it needs."""
    if f"{NUMBER}decimal-places" not in part.attrib:
        return GENERAL
    count = _read_decimals(part)
    whole = "#,##0" if part.get(f"{NUMBER}grouping") == "true" else "0"
    return f"{whole}.{'0' * count}" if count else whole


def _read_decimals(part: "Element") -> int:
    """The decimals of a number or of seconds; 0 if none are named."""
    decimals = part.get(f"{NUMBER}decimal-places", "0")
    return min(int(decimals), _MOST_DECIMALS) if decimals.isascii() and decimals.isdigit() and len(decimals) < 5 else 0


def _time_format(style: "Element") -> str:
    """The parts of a day and of a clock that a style shows: ``yyyy-mm-dd h:mm``, ``[m]:ss.00``."""
    shown = {str(part.tag).removeprefix(NUMBER): part for part in style}
    letters = {"day-of-week": "dddd", "year": "yyyy", "month": "mm", "day": "dd"}
    day = "-".join(text for name, text in letters.items() if name in shown)

    clock = ""
    if not {"hours", "minutes", "seconds"}.isdisjoint(shown):
        is_duration = style.get(f"{NUMBER}truncate-on-overflow") == "false"
        first = "h" if "hours" in shown or "seconds" not in shown else "m"
        clock = f"[{first}]" if is_duration else first
        clock += ":mm" if first == "h" else ""
        if "seconds" in shown:
            decimals = _read_decimals(shown["seconds"])
            clock += ":ss." + "0" * decimals if decimals else ":ss"
    return f"{day} {clock}".strip()
