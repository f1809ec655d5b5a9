"""Equations in MathML 3, as OpenDocument and e-books have them, as a line: ``x^2``, ``1/2``."""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from crag.asking.office.equations import in_brackets

if TYPE_CHECKING:
    from lxml.etree import _Element as Element

_UNREAD = frozenset({"annotation", "annotation-xml", "mphantom", "mprescripts", "none"})
_ACCENTS = frozenset("¯‾^ˆ~˜→⃗˙¨_")
"""Signs above a variable: they are typed nowhere."""


def equation_text(equation: "Element") -> str:
    """An equation as it is typed on a line: ``x_1 = (a+b)/2``."""
    return " ".join(_write(equation).split())


def _write(element: "Element") -> str:
    """An element as its kind demands; one without a form of its own as what is in it."""
    name = _name(element)
    if name in _UNREAD:
        return ""
    write = _FORMS.get(name)
    if write is not None:
        return write(element)
    if name in {"mi", "mn", "mo", "ms", "mtext"}:
        return _write_sign(name, "".join(element.itertext()).strip())
    return " " if name == "mspace" else "".join(_parts(element))


def _write_sign(name: str, text: str) -> str:
    """A sign; a word such as sin is apart from its neighbours."""
    is_word = name in {"mi", "mo", "mtext"} and len(text) > 1 and text.isalpha()
    return f" {text} " if is_word else text


def _parts(element: "Element") -> Iterator[str]:
    for child in element:
        if isinstance(child.tag, str):
            yield _write(child)


def _terms(element: "Element", count: int) -> list[str]:
    """The first parts of an element, in brackets unless they are one term; "" for those that it lacks."""
    terms = [in_brackets(part.strip()) for part in _parts(element)]
    return [*terms, *[""] * count][:count]


def _name(element: "Element") -> str:
    return str(element.tag).rpartition("}")[2]


def _write_fraction(element: "Element") -> str:
    upper, lower = _terms(element, 2)
    return f"{upper}/{lower}"


def _write_power(element: "Element") -> str:
    base, exponent = _terms(element, 2)
    return f"{base}^{exponent}"


def _write_index(element: "Element") -> str:
    base, index = _terms(element, 2)
    return f"{base}_{index}"


def _write_both(element: "Element") -> str:
    """A base with what is below and above it: of a sum the limits."""
    base, lower, upper = _terms(element, 3)
    scripts = f"_{lower}" * bool(lower) + f"^{upper}" * bool(upper)
    return f"{base}{scripts}" + " " * _name(element).startswith("munder")


def _write_above(element: "Element") -> str:
    base, above = _terms(element, 2)
    return base if above in _ACCENTS else f"{base}^{above} "


def _write_below(element: "Element") -> str:
    base, below = _terms(element, 2)
    return base if below in _ACCENTS else f"{base}_{below} "


def _write_root(element: "Element") -> str:
    return f"√({''.join(_parts(element)).strip()})"


def _write_root_of_degree(element: "Element") -> str:
    base, degree = [*_parts(element), "", ""][:2]
    return f"({base.strip()})^(1/{degree.strip()})"


def _write_fence(element: "Element") -> str:
    texts = ", ".join(part.strip() for part in _parts(element))
    return f"{element.get('open', '(')}{texts}{element.get('close', ')')}"


def _write_table(element: "Element") -> str:
    """A matrix, or equations below each other."""
    return "; ".join(part.strip() for part in _parts(element))


def _write_row(element: "Element") -> str:
    return ", ".join(part.strip() for part in _parts(element))


_FORMS: Mapping[str, Callable[["Element"], str]] = {
    "mfrac": _write_fraction,
    "msup": _write_power,
    "msub": _write_index,
    "msubsup": _write_both,
    "munderover": _write_both,
    "mover": _write_above,
    "munder": _write_below,
    "msqrt": _write_root,
    "mroot": _write_root_of_degree,
    "mfenced": _write_fence,
    "mtable": _write_table,
    "mtr": _write_row,
}
