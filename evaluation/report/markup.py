"""HTML and SVG as a tree. The tree's writer escapes all text, so no page or model text can become markup."""

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


def html(*parts: Element) -> str:
    """The elements as HTML text."""
    return "\n".join(tostring(part, encoding="unicode", method="html") for part in parts)


def _attribute(name: str) -> str:
    return name.rstrip("_").replace("_", "-")


def _written(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:g}"
