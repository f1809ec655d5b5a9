"""The texts of a diagram (SmartArt) of a presentation (ECMA-376, part 1, 21.4)."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from crag.asking.office.drawing_text import body_markup

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

DIAGRAM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}"


def diagram_markup(model: "Element") -> str:
    """The texts of a data model, each below the one that it hangs from; texts on arrows come last."""
    points = {point.get("modelId", ""): point for point in model.iter(f"{DIAGRAM}pt")}
    pieces: list[str] = []
    for name in dict.fromkeys([*_names_in_order(model, points), *points]):
        text = points[name].find(f"{DIAGRAM}t") if name in points else None
        if text is not None:
            pieces += body_markup(text)
    return "".join(pieces)


def _names_in_order(model: "Element", points: dict[str, "Element"]) -> Iterator[str]:
    """The names of the points that hang from the document, depth first."""
    children: dict[str, list[tuple[int, str]]] = {}
    for connection in model.iter(f"{DIAGRAM}cxn"):
        if connection.get("type", "parOf") == "parOf":
            place = (int(connection.get("srcOrd", "0")), connection.get("destId", ""))
            children.setdefault(connection.get("srcId", ""), []).append(place)

    waiting = [name for name, point in points.items() if point.get("type") == "doc"]
    seen = set()
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            yield name
            waiting += [child for _, child in sorted(children.get(name, ()), reverse=True)]
