"""What is in frames beside text: equations, charts, files of other programs (OpenDocument 1.3, part 3, 10.4.6)."""

from collections import Counter
from typing import TYPE_CHECKING

from crag.asking.archive_xml import PART_DAMAGE
from crag.asking.opendocument.charts import read_chart
from crag.asking.opendocument.equations import equation_text
from crag.asking.opendocument.names import CHART, DRAW, MATH, OFFICE
from crag.asking.opendocument.package import Package

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_OBJECT = f"{DRAW}object"
_UNSEEN = frozenset({"none", "printer"})
_FOREIGN_OBJECTS = (f"{DRAW}object-ole", f"{DRAW}floating-frame")


def is_unseen(shape: "Element") -> bool:
    """Whether a shape is hidden, or shown on paper alone (`draw:display`, OpenDocument 1.3, part 3, 19)."""
    return shape.get(f"{DRAW}display") in _UNSEEN


class ObjectReader:
    """Reads the objects of a file.

    Attributes:
        unread: How many were not read, by what they are.
    """

    def __init__(self, package: Package) -> None:
        self.unread: Counter[str] = Counter()
        self._package = package

    def read_equation(self, frame: "Element") -> str | None:
        """The equation in a frame; None if something else is in it."""
        root = self._find_root(frame)
        return equation_text(root) if root is not None and root.tag == f"{MATH}math" else None

    def read_chart(self, frame: "Element") -> str:
        """The chart in a frame as HTML; an object that is none is counted."""
        root = self._find_root(frame)
        chart = None if root is None else root.find(f"{OFFICE}body/{OFFICE}chart/{CHART}chart")
        if root is not None and chart is not None:
            reading = read_chart(root, chart)
            self.unread["charts without saved values"] += not reading.has_values
            return reading.html

        has_object = any(frame.find(name) is not None for name in (_OBJECT, *_FOREIGN_OBJECTS))
        self.unread["embedded objects"] += has_object
        return ""

    def _find_root(self, frame: "Element") -> "Element | None":
        """The root of the object in a frame; None without one that can be read."""
        embedded = frame.find(_OBJECT)
        if embedded is None:
            return None
        try:
            return self._package.find_object(embedded)
        except PART_DAMAGE:
            return None
