"""Equations of OpenDocument, which has them in MathML, as a line: ``x^2``, ``1/2``."""

from typing import TYPE_CHECKING

from crag.text.formulas import FormulaElement, formula_text

if TYPE_CHECKING:
    from lxml.etree import _Element as Element


def equation_text(equation: "Element") -> str:
    """An equation as it is typed on a line: ``x_1 = (a+b)/2``."""
    return formula_text(_formula_element(equation))


def _formula_element(element: "Element") -> FormulaElement:
    """An element of lxml with what is in it, without comments."""
    children: list[FormulaElement | str] = [element.text or ""]
    for child in element:
        if isinstance(child.tag, str):
            children.append(_formula_element(child))
        children.append(child.tail or "")

    name = str(element.tag).rpartition("}")[2]
    attributes: dict[str, str | None] = {str(key): str(value) for key, value in element.attrib.items()}
    return FormulaElement(name, attributes, children)
