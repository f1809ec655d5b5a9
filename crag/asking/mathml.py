"""Equations of OpenDocument and e-books, which have them in MathML, as a line: ``x^2``, ``1/2``."""

from typing import TYPE_CHECKING

from crag.web.extract.formulas import formula_text
from crag.web.extract.nodes import Element as PageElement

if TYPE_CHECKING:
    from lxml.etree import _Element as Element


def equation_text(equation: "Element") -> str:
    """An equation as it is typed on a line: ``x_1 = (a+b)/2``."""
    return formula_text(_page_element(equation))


def _page_element(element: "Element") -> PageElement:
    """An element of lxml as those of pages are, without comments."""
    name = str(element.tag).rpartition("}")[2]
    copy = PageElement(name, {str(key): value for key, value in element.attrib.items()})
    copy.children.append(element.text or "")
    for child in element:
        if isinstance(child.tag, str):
            copy.children.append(_page_element(child))
        copy.children.append(child.tail or "")
    return copy
