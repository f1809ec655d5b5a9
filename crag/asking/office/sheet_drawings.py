"""What lies on a sheet of an XLSX: charts, boxes, diagrams (ECMA-376, part 1, 20.5), by the reader of slides."""

from typing import TYPE_CHECKING, NamedTuple

from crag.asking.office.equations import MATH
from crag.asking.office.package_parts import PackagePart
from crag.asking.office.package_xml import DAMAGE
from crag.asking.office.shapes import Place, ShapeReader, choose_alternatives

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_SHEET_DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing}"


class Drawings(NamedTuple):
    """The drawings of a sheet as HTML, what of them is damaged, and how many things are not read by their kind."""

    html: str
    faults: list[str]
    unread: dict[str, int]


def read_drawings(sheet: PackagePart) -> Drawings:
    """The drawings of a sheet, from the top to the bottom. One that is damaged costs no other."""
    pieces: list[str] = []
    faults: list[str] = []
    unread = {"hidden shapes": 0, "equations": 0, "embedded objects": 0}
    try:
        drawings = sheet.related_parts("drawing")
    except DAMAGE:
        return Drawings("", ["its drawings are damaged and not read"], unread)

    for drawing in drawings:
        try:
            root = drawing.root
        except DAMAGE:
            faults.append("its drawings are damaged and not read")
            continue
        choose_alternatives(root)
        reader = ShapeReader(drawing, {})
        for anchor in sorted(root, key=_find_place):
            pieces += reader.read(anchor)
        faults += reader.faults
        unread["hidden shapes"] += reader.hidden
        unread["embedded objects"] += reader.objects
        unread["equations"] += sum(1 for _ in root.iter(f"{MATH}oMath"))
    return Drawings("".join(pieces), faults, unread)


def _find_place(anchor: "Element") -> Place:
    """The row and the column of the cell at which a drawing begins; one at a place of the page comes first."""
    row = anchor.findtext(f"{_SHEET_DRAWING}from/{_SHEET_DRAWING}row") or ""
    column = anchor.findtext(f"{_SHEET_DRAWING}from/{_SHEET_DRAWING}col") or ""
    return (int(row), int(column)) if row.isdecimal() and column.isdecimal() else (0, 0)
