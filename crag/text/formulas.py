"""Formulas in MathML 3, of pages and documents, as they are typed on a line: ``x^2``, ``(a+b)/2``, ``√(2)``."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

_UNREAD = frozenset({"annotation", "annotation-xml", "mphantom", "mprescripts", "none"})
"""A second notation, what only takes room, and marks without text."""
_SIGNS = frozenset({"mi", "mn", "mo", "ms", "mtext"})
_ACCENTS = frozenset("¯‾^ˆ~˜→⃗˙¨_")
"""Signs above a variable: they are typed nowhere."""
_ONE_TERM = re.compile(r"[-−]?(?:\w+(?:[.,]\d+)*|.)|\([^()]*\)|\[[^\[\]]*\]")
"""A number, a variable, a sign, or what is in brackets: it needs none."""


class Element(Protocol):
    """An element of MathML: its name without a prefix, and what is in it."""

    @property
    def name(self) -> str:
        """Such as ``mfrac``."""

    @property
    def attributes(self) -> Mapping[str, str | None]:
        """Their values by name; None for one without a value."""

    @property
    def children(self) -> Sequence["Element | str"]:
        """Elements and texts in order."""


@dataclass(frozen=True)
class FormulaElement:
    """An `Element` of a document, read by another parser than that of pages."""

    name: str
    attributes: Mapping[str, str | None] = field(default_factory=dict)
    children: Sequence["FormulaElement | str"] = ()


def formula_text(formula: Element) -> str:
    """A formula as it is typed on a line.

    >>> two = FormulaElement("mn", children=("2",))
    >>> square = FormulaElement("msup", children=(FormulaElement("mi", children=("x",)), two))
    >>> formula_text(FormulaElement("mfrac", children=(square, two)))
    '(x^2)/2'
    """
    return " ".join(_write(formula).split())


def in_brackets(text: str) -> str:
    """A part of a formula, in brackets unless it is one term.

    >>> in_brackets("a+b"), in_brackets("2.5")
    ('(a+b)', '2.5')
    """
    return text if not text or _ONE_TERM.fullmatch(text) else f"({text})"


def side_by_side(parts: Iterable[tuple[str, bool]]) -> str:
    """Parts of a formula in order, each with whether it is a fraction, which stays apart from what is beside it.

    >>> side_by_side([("2", False), ("1/2", True), ("x", False)])
    '2 1/2 x'
    """
    text = ""
    follows_fraction = False
    for part, is_fraction in parts:
        is_apart = is_fraction or follows_fraction
        if is_apart and text[-1:].isalnum() and part[:1].isalnum():
            text += " "
        text += part
        follows_fraction = is_fraction
    return text


def _write(element: Element) -> str:
    """An element as its kind demands; one without a form of its own as what is in it."""
    if element.name in _UNREAD:
        return ""
    write = _FORMS.get(element.name)
    if write is not None:
        return write(element)
    if element.name in _SIGNS:
        return _write_sign(element)
    return " " if element.name == "mspace" else _write_in_line(element)


def _write_in_line(element: Element) -> str:
    return side_by_side((_write(part), _is_fraction(part)) for part in _elements(element))


def _is_fraction(element: Element) -> bool:
    """Whether an element is a fraction, or a box round nothing but one."""
    while element.name != "mfrac":
        inner = list(_elements(element))
        if len(inner) != 1:
            return False
        element = inner[0]
    return True


def _write_sign(element: Element) -> str:
    """A number, a name or an operator; a word such as sin is apart from its neighbours."""
    text = "".join(_texts(element)).strip()
    is_word = element.name != "mn" and len(text) > 1 and text.isalpha()
    return f" {text} " if is_word else text


def _texts(element: Element) -> Iterator[str]:
    for child in element.children:
        if isinstance(child, str):
            yield child
        else:
            yield from _texts(child)


def _elements(element: Element) -> Iterator[Element]:
    for child in element.children:
        if not isinstance(child, str):
            yield child


def _parts(element: Element) -> Iterator[str]:
    for child in _elements(element):
        yield _write(child)


def _terms(element: Element, count: int) -> list[str]:
    """The first parts of an element, in brackets unless they are one term; "" for those that it lacks."""
    terms = [in_brackets(part.strip()) for part in _parts(element)]
    return [*terms, *[""] * count][:count]


def _write_fraction(element: Element) -> str:
    upper, lower = _terms(element, 2)
    return f"{upper}/{lower}"


def _write_power(element: Element) -> str:
    base, exponent = _terms(element, 2)
    return f"{base}^{exponent}" if exponent else base


def _write_index(element: Element) -> str:
    base, index = _terms(element, 2)
    return _with_index(element, base, index)


def _write_both(element: Element) -> str:
    """A base with what is below and above it: of a sum the limits."""
    base, lower, upper = _terms(element, 3)
    written = _with_index(element, base, lower)
    if upper:
        written += f"^{upper}"
    return written + " " * element.name.startswith("munder")


def _with_index(element: Element, base: str, index: str) -> str:
    """``x_1``, but ``CO2``: letters that stand upright are no variable."""
    if not index:
        return base
    is_upright = next(_are_upright(element), False)
    return f"{base}{index}" if is_upright and index.isdigit() else f"{base}_{index}"


def _are_upright(element: Element) -> Iterator[bool]:
    """Whether the names inside an element stand upright, in order (MathML 3, 3.2.2 and 3.2.3)."""
    for child in _elements(element):
        if child.name in {"mi", "mtext"}:
            is_long = len("".join(_texts(child)).strip()) > 1
            yield is_long or child.name == "mtext" or child.attributes.get("mathvariant") == "normal"
        yield from _are_upright(child)


def _write_above(element: Element) -> str:
    base, above = _terms(element, 2)
    return base if above.strip("()") in _ACCENTS else f"{base}^{above} "


def _write_below(element: Element) -> str:
    base, below = _terms(element, 2)
    return base if below.strip("()") in _ACCENTS else f"{base}_{below} "


def _write_root(element: Element) -> str:
    return f"√({_write_in_line(element).strip()})"


def _write_root_of_degree(element: Element) -> str:
    base, degree = [*_parts(element), "", ""][:2]
    return f"{in_brackets(base.strip())}^(1/{degree.strip()})"


def _write_fence(element: Element) -> str:
    texts = ", ".join(part.strip() for part in _parts(element))
    opening = element.attributes.get("open", "(")
    closing = element.attributes.get("close", ")")
    return f"{opening or ''}{texts}{closing or ''}"


def _write_table(element: Element) -> str:
    """A matrix, or formulas below each other."""
    return "; ".join(part.strip() for part in _parts(element))


def _write_row(element: Element) -> str:
    return ", ".join(part.strip() for part in _parts(element))


def _write_scripts(element: Element) -> str:
    """Scripts on both sides of a base, such as the mass of an isotope: ``^238_92 U``."""
    parts = list(_elements(element))
    names = [part.name for part in parts]
    divide = names.index("mprescripts") if "mprescripts" in names else len(parts)

    base = in_brackets(_write(parts[0]).strip()) if parts else ""
    before = _pairs_of_scripts(parts[divide + 1 :])
    after = _pairs_of_scripts(parts[1:divide])
    return f"{before} {base}{after}" if before else f"{base}{after}"


def _pairs_of_scripts(scripts: "list[Element]") -> str:
    """Each lower script with the upper one that follows it."""
    written = ""
    for lower, upper in zip(scripts[::2], scripts[1::2], strict=False):
        below = in_brackets(_write(lower).strip())
        above = in_brackets(_write(upper).strip())
        written += f"^{above}" * bool(above) + f"_{below}" * bool(below)
    return written


_FORMS: Mapping[str, Callable[[Element], str]] = {
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
    "mmultiscripts": _write_scripts,
}
