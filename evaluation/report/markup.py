"""HTML and SVG as a tree. The tree's writer escapes all text, so no page or model text can become markup."""

from collections.abc import Iterable, Mapping, Sequence
from xml.etree.ElementTree import Element, tostring

Child = Element | str | None


def element(tag: str, *children: Child, **attributes: str | float | None) -> Element:
    """One element. ``class_`` becomes class, other underscores hyphens; None as a value or child is left out."""
    made = Element(tag, {_attribute(name): _written(value) for name, value in attributes.items() if value is not None})
    for child in children:
        if isinstance(child, Element):
            made.append(child)
        elif child and len(made):
            made[-1].tail = (made[-1].tail or "") + child
        elif child:
            made.text = (made.text or "") + child
    return made


def table(columns: Mapping[str, str], rows: Iterable[Sequence[Child]], kind: str, caption: str) -> Element:
    """A table; `columns` are style classes and titles; the first cell of a row is its heading."""
    head = element("tr", *(element("th", name, scope="col", class_=column) for column, name in columns.items()))
    body = [
        element(
            "tr",
            element("th", first, scope="row"),
            *(element("td", cell, class_=column) for cell, column in zip(cells, list(columns)[1:], strict=True)),
        )
        for first, *cells in rows
    ]
    table = element("table", element("caption", caption), element("thead", head), element("tbody", *body), class_=kind)
    return element("div", table, class_="scroll")


def html(*parts: Element) -> str:
    """The elements as HTML text."""
    return "\n".join(tostring(part, encoding="unicode", method="html") for part in parts)


def _attribute(name: str) -> str:
    return name.rstrip("_").replace("_", "-")


def _written(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:g}"
