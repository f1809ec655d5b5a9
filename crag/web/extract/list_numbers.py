"""The numbers before the items of an ordered list, as a browser shows them (HTML, 4.4.5 and 4.4.8)."""

import re
from collections.abc import Iterator
from itertools import islice

from crag.web.extract.nodes import Element
from crag.web.extract.number_styles import SHOWN

_BY_TYPE = {"a": "lower-alpha", "A": "upper-alpha", "i": "lower-roman", "I": "upper-roman"}
"""What the attribute `type` means in words of CSS."""
_WHOLE_NUMBER = re.compile(r"[-+]?\d{1,9}", re.ASCII)
_OWN_NUMBER = re.compile(r"(?:#|No\.?\s?)?\d{1,4}\s?[.):](?!\d)")
"""At the beginning of an item that was numbered by hand."""
_FIRST_TEXTS = 4
"""Of an item: a number of its own may be in an element, apart from the point behind it."""


def item_numbers(ordered_list: Element) -> Iterator[tuple[Element, str]]:
    """The items that show a number, each with it: ``4.``

    Without one are items without text, those that begin with a number of their own, and those whose style has none.
    """
    items = [child for child in ordered_list.elements() if child.name == "li"]
    is_reversed = "reversed" in ordered_list.attributes
    count = _read_count(ordered_list, "start", len(items) if is_reversed else 1)
    for item in items:
        count = _read_count(item, "value", count)
        show = SHOWN.get(_style_of(item, ordered_list))
        if show is not None and item.letters > 0 and not _has_own_number(item):
            yield item, f"{show(count)}."
        count += -1 if is_reversed else 1


def _read_count(element: Element, attribute: str, default: int) -> int:
    number = _WHOLE_NUMBER.match(element.get(attribute).strip())
    return int(number[0]) if number else default


def _style_of(item: Element, ordered_list: Element) -> str:
    """The style of an item's number, by its own sheet, then the list's, then the attribute `type`."""
    of_sheets = item.style.list_style or ordered_list.style.list_style
    kind = item.get("type") or ordered_list.get("type")
    return of_sheets or _BY_TYPE.get(kind, "decimal")


def _has_own_number(item: Element) -> bool:
    beginning = "".join(islice(item.texts(), _FIRST_TEXTS))
    return _OWN_NUMBER.match(beginning.lstrip()) is not None
