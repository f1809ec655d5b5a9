"""Equations of Office (ECMA-376, part 1, 22.1) as a line: a fraction is ``1/2``, not 12, a power ``x^2``, not x2."""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from crag.text.formulas import in_brackets, side_by_side

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"


def equation_text(equation: "Element") -> str:
    """An equation as it is typed on a line: ``x_1 = (a+b)/2``."""
    return " ".join(_write_children(equation).split())


def _write_children(parent: "Element") -> str:
    return side_by_side((_write(child), child.tag == f"{MATH}f") for child in parent)


def _write(element: "Element") -> str:
    """An element as its kind demands; one without a form of its own as what is in it."""
    if not isinstance(element.tag, str):  # a comment
        return ""
    write = _WRITERS.get(element.tag)
    if write is not None:
        return write(element)
    # Text is in runs of equations and, between them, of the document.
    name = element.tag.rpartition("}")[2]
    if name in {"br", "tab"}:
        return " "
    return element.text or "" if name == "t" else _write_children(element)


def _argument(element: "Element", name: str) -> str:
    """The text of a part of an element; "" without it."""
    part = element.find(MATH + name)
    return "" if part is None else _write_children(part).strip()


def _term(element: "Element", name: str) -> str:
    """A part of an element, in brackets unless it is one term."""
    return in_brackets(_argument(element, name))


def _property(element: "Element", name: str, default: str) -> str:
    """A sign or a word among the properties of an element; an empty one stands for none."""
    mark = element.find(f"{MATH}{element.tag.rpartition('}')[2]}Pr/{MATH}{name}")
    return default if mark is None else mark.get(f"{MATH}val", "")


def _write_fraction(element: "Element") -> str:
    if _property(element, "type", "bar") == "noBar":
        return f"binom({_argument(element, 'num')}, {_argument(element, 'den')})"
    return f"{_term(element, 'num')}/{_term(element, 'den')}"


def _write_scripts(element: "Element") -> str:
    """A base with what is below and above at its right."""
    return _term(element, "e") + _scripts(element, lower="sub", upper="sup")


def _write_scripts_before(element: "Element") -> str:
    """What is below and above at the left, as of an isotope, then the base."""
    return f"{_scripts(element, lower='sub', upper='sup')} {_argument(element, 'e')}"


def _write_limit(element: "Element") -> str:
    mark = "_" if element.tag == f"{MATH}limLow" else "^"
    return f"{_term(element, 'e')}{mark}{_term(element, 'lim')} "


def _scripts(element: "Element", lower: str, upper: str) -> str:
    below = _term(element, lower)
    above = _term(element, upper)
    return (f"_{below}" if below else "") + (f"^{above}" if above else "")


def _write_root(element: "Element") -> str:
    degree = _argument(element, "deg")
    base = _argument(element, "e")
    return f"{in_brackets(base)}^(1/{degree})" if degree else f"√({base})"


def _write_sum(element: "Element") -> str:
    """A sum, a product or an integral with its limits."""
    return f"{_property(element, 'chr', '∫')}{_scripts(element, lower='sub', upper='sup')} {_argument(element, 'e')}"


def _write_brackets(element: "Element") -> str:
    separator = _property(element, "sepChr", "|")
    texts = separator.join(_arguments(element))
    return f"{_property(element, 'begChr', '(')}{texts}{_property(element, 'endChr', ')')}"


def _write_function(element: "Element") -> str:
    return f"{_argument(element, 'fName')}({_argument(element, 'e').removeprefix('(').removesuffix(')')})"


def _write_matrix(element: "Element") -> str:
    rows = [", ".join(_arguments(row)) for row in element.findall(f"{MATH}mr")]
    return f"[{'; '.join(rows)}]"


def _write_lines(element: "Element") -> str:
    """Equations below each other."""
    return "; ".join(_arguments(element))


def _arguments(element: "Element") -> Iterator[str]:
    for part in element.findall(f"{MATH}e"):
        yield _write_children(part).strip()


_FORMS: Mapping[str, Callable[["Element"], str]] = {
    "f": _write_fraction,
    "sSub": _write_scripts,
    "sSup": _write_scripts,
    "sSubSup": _write_scripts,
    "sPre": _write_scripts_before,
    "limLow": _write_limit,
    "limUpp": _write_limit,
    "rad": _write_root,
    "nary": _write_sum,
    "d": _write_brackets,
    "func": _write_function,
    "m": _write_matrix,
    "eqArr": _write_lines,
}
_WRITERS = {MATH + name: write for name, write in _FORMS.items()}
